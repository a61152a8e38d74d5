// The whole ACL surface of this library: types, runtime and aclnn descriptors.

#ifndef ROPEWALK_ACL_ACL_H_
#define ROPEWALK_ACL_ACL_H_

#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"
#include "aclnn/acl_meta.h"

#endif  // ROPEWALK_ACL_ACL_H_
