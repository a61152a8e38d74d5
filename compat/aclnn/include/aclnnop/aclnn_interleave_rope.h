// RotaryPositionEmbedding in mode 3 for BNSD tensors of width 64.

#ifndef ROPEWALK_ACLNNOP_ACLNN_INTERLEAVE_ROPE_H_
#define ROPEWALK_ACLNNOP_ACLNN_INTERLEAVE_ROPE_H_

#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

ACLNN_API aclnnStatus aclnnInterleaveRopeGetWorkspaceSize(
    const aclTensor* x, const aclTensor* cos, const aclTensor* sin,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInterleaveRope(void* workspace,
                                          uint64_t workspaceSize,
                                          aclOpExecutor* executor,
                                          aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // ROPEWALK_ACLNNOP_ACLNN_INTERLEAVE_ROPE_H_
