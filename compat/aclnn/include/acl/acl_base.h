// Types of ACL, sizes of its data types and half-precision conversion.

#ifndef ROPEWALK_ACL_ACL_BASE_H_
#define ROPEWALK_ACL_ACL_BASE_H_

#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of one element; 0 for types of less than a byte and of no fixed size.
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);
// Rounds to nearest even and saturates: beyond the range, infinities and NaN
// become 65504 with the sign of `value`.
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

#ifdef __cplusplus
}
#endif

#endif  // ROPEWALK_ACL_ACL_BASE_H_
