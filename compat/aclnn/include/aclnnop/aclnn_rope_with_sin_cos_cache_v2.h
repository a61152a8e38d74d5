// As RopeWithSinCosCache; cacheMode 1 interleaves the axes of mropeSection.

#ifndef ROPEWALK_ACLNNOP_ACLNN_ROPE_WITH_SIN_COS_CACHE_V2_H_
#define ROPEWALK_ACLNNOP_ACLNN_ROPE_WITH_SIN_COS_CACHE_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

ACLNN_API aclnnStatus aclnnRopeWithSinCosCacheV2GetWorkspaceSize(
    const aclTensor* positions, const aclTensor* queryIn,
    const aclTensor* keyIn, const aclTensor* cosSinCache,
    const aclIntArray* mropeSection, int64_t headSize, bool isNeoxStyle,
    int64_t cacheMode, aclTensor* queryOut, aclTensor* keyOut,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRopeWithSinCosCacheV2(void* workspace,
                                                 uint64_t workspaceSize,
                                                 aclOpExecutor* executor,
                                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // ROPEWALK_ACLNNOP_ACLNN_ROPE_WITH_SIN_COS_CACHE_V2_H_
