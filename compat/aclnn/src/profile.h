// Product profiles: whose limits phase one applies.

#ifndef ROPEWALK_COMPAT_ACLNN_PROFILE_H_
#define ROPEWALK_COMPAT_ACLNN_PROFILE_H_

#include <cstdint>

namespace ropewalk_aclnn {

enum class Profile : uint8_t { kDocumented, kA2, k950, kUnlimited };
inline constexpr int kProfiles = 4;

const char* ProfileName(Profile profile) noexcept;

// What ropewalkAclSetProduct said, else ROPEWALK_ACL_PRODUCT, else documented.
// False, with a message, where the variable names no profile.
bool CurrentProfile(Profile* profile) noexcept;

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_PROFILE_H_
