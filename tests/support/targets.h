// Runs a test on every SIMD target that this CPU has.

#ifndef ROPEWALK_TESTS_SUPPORT_TARGETS_H_
#define ROPEWALK_TESTS_SUPPORT_TARGETS_H_

#include <gtest/gtest.h>

#include <string>

#include "ropewalk/targets.h"

namespace ropewalk::test {

/// Plans made while it lives use this target, later ones that of before.
class ScopedTarget {
 public:
  explicit ScopedTarget(const std::string& name) : before_(CurrentTarget()) {
    const Status status = ForceTarget(name);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  ~ScopedTarget() { (void)ForceTarget(before_); }
  ScopedTarget(const ScopedTarget&) = delete;
  ScopedTarget& operator=(const ScopedTarget&) = delete;

 private:
  std::string before_;
};

/// Calls `body` with each target forced. Stops at the first fatal failure.
template <class Body>
void ForEachTarget(const Body& body) {
  const std::vector<std::string> targets = UsableTargets();
  ASSERT_FALSE(targets.empty());
  for (const std::string& name : targets) {
    SCOPED_TRACE("target " + name);
    const ScopedTarget forced(name);
    body();
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_TARGETS_H_
