// Streams. Work is done when it is handed in, so a stream only has to exist.

#ifndef ROPEWALK_COMPAT_ACLNN_STREAMS_H_
#define ROPEWALK_COMPAT_ACLNN_STREAMS_H_

#include "acl/acl_base.h"

namespace ropewalk_aclnn {

// Null is the default stream.
bool IsStream(aclrtStream stream) noexcept;

// ACL_SUCCESS, or a refusal of `function`.
int CheckStream(const char* function, aclrtStream stream) noexcept;

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_STREAMS_H_
