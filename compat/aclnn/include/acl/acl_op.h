// Legacy single operators (aclop) are not part of this library. The header
// exists for programs that include it.

#ifndef ROPEWALK_ACL_ACL_OP_H_
#define ROPEWALK_ACL_ACL_OP_H_

#include "acl/acl_base.h"

#endif  // ROPEWALK_ACL_ACL_OP_H_
