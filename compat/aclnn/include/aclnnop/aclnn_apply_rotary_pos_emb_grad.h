// Gradients of ApplyRotaryPosEmb. gradCosOut and gradSinOut sum what query and
// key contribute; they need queryOptional and keyOptional.

#ifndef ROPEWALK_ACLNNOP_ACLNN_APPLY_ROTARY_POS_EMB_GRAD_H_
#define ROPEWALK_ACLNNOP_ACLNN_APPLY_ROTARY_POS_EMB_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

ACLNN_API aclnnStatus aclnnApplyRotaryPosEmbGradGetWorkspaceSize(
    const aclTensor* gradQueryEmbed, const aclTensor* gradKeyEmbed,
    const aclTensor* cos, const aclTensor* sin, const aclTensor* queryOptional,
    const aclTensor* keyOptional, char* rotaryModeOptional, int64_t layout,
    const aclTensor* gradQueryOut, const aclTensor* gradKeyOut,
    const aclTensor* gradCosOut, const aclTensor* gradSinOut,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnApplyRotaryPosEmbGrad(void* workspace,
                                                 uint64_t workspaceSize,
                                                 aclOpExecutor* executor,
                                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // ROPEWALK_ACLNNOP_ACLNN_APPLY_ROTARY_POS_EMB_GRAD_H_
