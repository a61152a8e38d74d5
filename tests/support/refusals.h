// Tables of refusals: a valid call, a change that spoils it, and what must be
// said.

#ifndef ROPEWALK_TESTS_SUPPORT_REFUSALS_H_
#define ROPEWALK_TESTS_SUPPORT_REFUSALS_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <vector>

#include "ropewalk/ropewalk.h"
#include "support/refusal_list.h"
#include "support/test_tensor.h"

namespace ropewalk::test {

template <class Options, class Tensors>
struct Refusal {
  const char* what;
  void (*spoil)(Options&, Tensors&);
  Code code;
  const char* message;
};

/// Checks that each change makes `make_plan` refuse.
template <class Options, class Tensors, class MakePlan>
void CheckRefusals(const std::vector<Refusal<Options, Tensors>>& refusals,
                   const Tensors& valid, const MakePlan& make_plan,
                   const Options& valid_options = {}) {
  for (const auto& refusal : refusals) {
    Options options = valid_options;
    Tensors tensors = valid;
    refusal.spoil(options, tensors);
    const Result<Plan> plan = make_plan(options, tensors);
    if (plan.ok()) {
      ADD_FAILURE() << refusal.what << " is accepted";
      continue;
    }
    EXPECT_EQ(plan.status().code(), refusal.code)
        << refusal.what << ": " << plan.status().message();
    EXPECT_EQ(plan.status().message(), refusal.message) << refusal.what;
    NoteRefusal(refusal.what, plan.status().message());
  }
}

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_REFUSALS_H_
