// Names of the SIMD targets, and which of them plans may use.

#include "ropewalk/targets.h"

#include <hwy/highway.h>

#include <atomic>
#include <cstdlib>

#include "targets/allowed.h"

namespace ropewalk {
namespace {

// The targets of this build: what HWY_TARGETS says here, which every file of
// kernels sees alike.
std::vector<std::string> Names(int64_t mask) {
  std::vector<std::string> names;
  // The better a target, the lower its bit.
  for (; mask != 0; mask &= mask - 1) {
    names.emplace_back(hwy::TargetName(mask & -mask));
  }
  return names;
}

// Read once: CPUID is slow, and under a hypervisor very slow.
int64_t Usable() {
  static const int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return usable;
}

int64_t FindTarget(std::string_view name, int64_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    const int64_t target = mask & -mask;
    if (name == hwy::TargetName(target)) return target;
  }
  return 0;
}

// 0: none is forced.
std::atomic<int64_t>& Forced() {
  static std::atomic<int64_t> forced = [] {
    const char* name = std::getenv("ROPEWALK_TARGET");
    return name == nullptr ? 0 : FindTarget(name, Usable());
  }();
  return forced;
}

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

int64_t AllowedTargets() noexcept {
  const int64_t forced = Forced().load(std::memory_order_relaxed);
  return forced != 0 ? forced : Usable();
}

std::vector<std::string> CompiledTargets() { return Names(HWY_TARGETS); }

std::vector<std::string> UsableTargets() { return Names(Usable()); }

std::string CurrentTarget() {
  const int64_t allowed = AllowedTargets();
  return hwy::TargetName(allowed & -allowed);
}

Status ForceTarget(std::string_view name) {
  int64_t target = 0;
  if (!name.empty()) {
    target = FindTarget(name, Usable());
    if (target == 0) {
      return Status(Code::kOption, "[targets] target: must be one of " +
                                       Join(UsableTargets()) + ", but is \"" +
                                       std::string(name) + "\"");
    }
  }
  Forced().store(target, std::memory_order_relaxed);
  return Status();
}

}  // namespace ropewalk
