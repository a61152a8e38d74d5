// As RotaryPositionEmbedding; with `rotate` (D x D, may be null) x @ rotate
// takes the place of rot(x).

#ifndef ROPEWALK_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_V2_H_
#define ROPEWALK_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

ACLNN_API aclnnStatus aclnnRotaryPositionEmbeddingV2GetWorkspaceSize(
    const aclTensor* x, const aclTensor* cos, const aclTensor* sin,
    int64_t mode, const aclTensor* rotate, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRotaryPositionEmbeddingV2(void* workspace,
                                                     uint64_t workspaceSize,
                                                     aclOpExecutor* executor,
                                                     aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // ROPEWALK_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_V2_H_
