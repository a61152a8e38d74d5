// Start and end of aclnn. Neither call is needed here.

#ifndef ROPEWALK_ACLNN_ACLNN_BASE_H_
#define ROPEWALK_ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// `configPath` may be null.
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  // ROPEWALK_ACLNN_ACLNN_BASE_H_
