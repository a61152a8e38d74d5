// The attribute of exported functions.

#ifndef ROPEWALK_ACLNNOP_ACLNN_UTIL_H_
#define ROPEWALK_ACLNNOP_ACLNN_UTIL_H_

#ifndef ACLNN_API
#define ACLNN_API __attribute__((visibility("default")))
#endif

#endif  // ROPEWALK_ACLNNOP_ACLNN_UTIL_H_
