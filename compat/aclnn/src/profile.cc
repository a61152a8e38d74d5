#include "profile.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "aclnn/opdev/op_errno.h"
#include "error.h"
#include "ropewalk_acl.h"

namespace ropewalk_aclnn {
namespace {

constexpr const char* kNames[kProfiles] = {"documented", "a2", "950",
                                           "unlimited"};
constexpr int kFromEnvironment = -1;
std::atomic<int> chosen{kFromEnvironment};

int FindName(const char* name) noexcept {
  for (int i = 0; i < kProfiles; ++i) {
    if (std::strcmp(name, kNames[i]) == 0) return i;
  }
  return -1;
}

int Unknown(const char* where, const char* name) noexcept {
  return Fail(ACLNN_ERR_PARAM_INVALID,
              "%s: must be \"documented\", \"a2\", \"950\" or \"unlimited\", "
              "but is \"%s\"",
              where, name);
}

}  // namespace

const char* ProfileName(Profile profile) noexcept {
  return kNames[static_cast<int>(profile)];
}

bool CurrentProfile(Profile* profile) noexcept {
  *profile = Profile::kDocumented;
  int found = chosen.load(std::memory_order_relaxed);
  if (found == kFromEnvironment) {
    const char* name = std::getenv("ROPEWALK_ACL_PRODUCT");
    if (name == nullptr || *name == '\0') return true;
    found = FindName(name);
    if (found < 0) {
      Unknown("ROPEWALK_ACL_PRODUCT", name);
      return false;
    }
  }
  *profile = static_cast<Profile>(found);
  return true;
}

}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclnnStatus ropewalkAclSetProduct(const char* product) {
  int found = kFromEnvironment;
  if (product != nullptr) {
    found = FindName(product);
    if (found < 0) return Unknown("ropewalkAclSetProduct: product", product);
  }
  chosen.store(found, std::memory_order_relaxed);
  return ACLNN_SUCCESS;
}

const char* ropewalkAclGetProduct(void) {
  Profile profile;
  CurrentProfile(&profile);
  return ProfileName(profile);
}
