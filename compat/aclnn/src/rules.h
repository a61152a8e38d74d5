// The table of rules: operator x rule x profile -> status code and limit.

#ifndef ROPEWALK_COMPAT_ACLNN_RULES_H_
#define ROPEWALK_COMPAT_ACLNN_RULES_H_

#include <cstdint>
#include <span>
#include <string>

#include "aclnn/acl_meta.h"
#include "op.h"
#include "profile.h"

namespace ropewalk_aclnn {

enum class Rule : uint8_t {
#define RW_RULE(rule, ...) k##rule,
#define RW_ALSO(...)
#include "rules.inc"
#undef RW_RULE
#undef RW_ALSO
  kEnd,
};

// One row of rules.inc.
struct RuleRow {
  Rule rule;
  const char* name;
  uint32_t ops;  // by bit
  aclnnStatus status;
  int16_t limits[kProfiles];  // 0: the rule does not hold
  const char* need;           // % stands for the limit
};

std::span<const RuleRow> AllRules() noexcept;

// The row of a rule for an operator; null if the operator has no such rule.
const RuleRow* FindRule(Op op, Rule rule) noexcept;

// 0 if the rule does not hold for the operator under the profile.
int64_t RuleLimit(Op op, Rule rule, Profile profile) noexcept;

// The need with the number put in.
std::string NeedText(const RuleRow& row, Profile profile);

// The table of docs/aclnn.md.
std::string RulesAsMarkdown();

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_RULES_H_
