// For every rule and operator: how to break it.

#ifndef ROPEWALK_COMPAT_ACLNN_TESTS_RULE_CASES_H_
#define ROPEWALK_COMPAT_ACLNN_TESTS_RULE_CASES_H_

#include <functional>

#include "rules.h"
#include "support.h"

namespace ropewalk_aclnn {

struct RuleCase {
  Rule rule;
  Op op;
  std::string argument;  // that the message must name
  // Breaks the rule in accepted arguments. For a rule with a number `value` is
  // that number plus the step, and `step` 0 gives a call at the limit.
  std::function<void(Arguments&, int64_t value)> change;
  int64_t step = 0;
};

std::vector<RuleCase> RuleCases();

// Makes a call of a cache operator one with sections: a cache of twice the sum,
// and positions for each section.
void SetSections(Arguments& a, const std::vector<int64_t>& sections);

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_TESTS_RULE_CASES_H_
