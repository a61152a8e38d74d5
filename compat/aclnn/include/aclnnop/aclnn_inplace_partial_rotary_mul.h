// Rotates the columns [start, end) of xRef in place.

#ifndef ROPEWALK_ACLNNOP_ACLNN_INPLACE_PARTIAL_ROTARY_MUL_H_
#define ROPEWALK_ACLNNOP_ACLNN_INPLACE_PARTIAL_ROTARY_MUL_H_

#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

ACLNN_API aclnnStatus aclnnInplacePartialRotaryMulGetWorkspaceSize(
    const aclTensor* xRef, const aclTensor* cos, const aclTensor* sin,
    int64_t rotary_mode, const aclIntArray* partialSlice,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplacePartialRotaryMul(void* workspace,
                                                   uint64_t workspaceSize,
                                                   aclOpExecutor* executor,
                                                   aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // ROPEWALK_ACLNNOP_ACLNN_INPLACE_PARTIAL_ROTARY_MUL_H_
