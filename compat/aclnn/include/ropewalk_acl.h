// What this library has besides CANN's API.

#ifndef ROPEWALK_ACL_H_
#define ROPEWALK_ACL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Chooses whose limits phase one applies: "documented" (what any product
// documents), "a2" (Atlas A2 and A3), "950" (Ascend 950) or "unlimited". Holds
// for all threads and wins over the environment variable ROPEWALK_ACL_PRODUCT;
// null goes back to that. An unknown name is refused (161002).
ACL_FUNC_VISIBILITY aclnnStatus ropewalkAclSetProduct(const char* product);

// The name of the profile that the next phase one will apply.
ACL_FUNC_VISIBILITY const char* ropewalkAclGetProduct(void);

#ifdef __cplusplus
}
#endif

#endif  // ROPEWALK_ACL_H_
