// Every rule, under every profile: accepted or refused, with status and
// message.

#include <set>

#include "gtest/gtest.h"
#include "ropewalk_acl.h"
#include "rule_cases.h"
#include "support/refusal_list.h"

namespace ropewalk_aclnn {
namespace {

constexpr int kFindKernel = 561003;

std::string Message() { return aclGetRecentErrMsg(); }

std::string RuleName(Rule rule) {
  for (const RuleRow& row : AllRules()) {
    if (row.rule == rule) return row.name;
  }
  return "";
}

// What phase one says of the case under a profile.
struct Outcome {
  int status = 0;
  std::string message;
};

Outcome Try(const RuleCase& test, int profile, int64_t value) {
  const UseProfile use(kProfileNames[profile]);
  Arguments a = Accepted(test.op);
  test.change(a, value);
  uint64_t size = 12345;
  aclOpExecutor* const mark = reinterpret_cast<aclOpExecutor*>(&size);
  aclOpExecutor* executor = mark;
  Outcome outcome;
  outcome.status = PhaseOne(a, &size, &executor);
  if (outcome.status == 0) {
    EXPECT_NE(executor, mark);
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  } else {
    EXPECT_EQ(size, 12345u);
    EXPECT_EQ(executor, mark);
    outcome.message = Message();
    ropewalk::test::NoteRefusal(
        RuleName(test.rule) + ", status " + std::to_string(outcome.status),
        outcome.message);
  }
  return outcome;
}

bool Names(const std::string& message, Rule rule, int profile) {
  return message.find("[rule " + RuleName(rule) + " of profile " +
                      kProfileNames[profile]) != std::string::npos;
}

// The message ends with the profiles that accept.
void CheckAcceptors(const std::string& message, const Outcome* outcomes) {
  const size_t begin = message.find("accepted by: ");
  ASSERT_NE(begin, std::string::npos) << message;
  std::string expected;
  for (int p = 0; p < kProfiles; ++p) {
    if (outcomes[p].status != 0) continue;
    expected += (expected.empty() ? "" : ", ") + std::string(kProfileNames[p]);
  }
  EXPECT_EQ(message.substr(begin),
            "accepted by: " + (expected.empty() ? "none" : expected) + "]");
}

void CheckRefusal(const RuleCase& test, int profile, const Outcome& outcome) {
  const RuleRow& row = *FindRule(test.op, test.rule);
  EXPECT_EQ(outcome.status, row.status) << outcome.message;
  const std::string& message = outcome.message;
  EXPECT_TRUE(Names(message, test.rule, profile)) << message;
  EXPECT_EQ(message.find(std::string(Info(test.op).name) + ": " +
                         test.argument + ": "),
            0u)
      << message << "\nexpected argument: " << test.argument;
}

bool Lacks(Op op, int profile) {
  return RuleLimit(op, Rule::kProduct, static_cast<Profile>(profile)) != 0;
}

void CheckCase(const RuleCase& test) {
  SCOPED_TRACE(RuleName(test.rule) + " of " + Info(test.op).name);
  Outcome outcomes[kProfiles];
  for (int p = 0; p < kProfiles; ++p) {
    const int64_t limit =
        RuleLimit(test.op, test.rule, static_cast<Profile>(p));
    outcomes[p] = Try(test, p, limit + test.step);
    SCOPED_TRACE(kProfileNames[p]);
    if (Lacks(test.op, p) && test.rule != Rule::kPointer &&
        test.rule != Rule::kProduct) {
      // Only the operator's own checks come before.
      if (test.rule == Rule::kCacheMode) continue;
      EXPECT_EQ(outcomes[p].status, kFindKernel);
    } else if (limit == 0) {
      EXPECT_FALSE(Names(outcomes[p].message, test.rule, p))
          << outcomes[p].message;
    } else if (test.rule != Rule::kSectionList) {  // its test is below
      CheckRefusal(test, p, outcomes[p]);
    }
  }
  for (int p = 0; p < kProfiles; ++p) {
    // With a step each profile is asked another question.
    if (outcomes[p].status == 0 || test.step != 0) continue;
    CheckAcceptors(outcomes[p].message, outcomes);
  }
}

TEST(Rules, ValidCallsAreAccepted) {
  for (int op = 0; op < kOps; ++op) {
    for (int p = 0; p < kProfiles; ++p) {
      const UseProfile use(kProfileNames[p]);
      const Arguments a = Accepted(static_cast<Op>(op));
      EXPECT_EQ(Call(a), Lacks(a.op, p) ? kFindKernel : 0)
          << kProfileNames[p] << ": " << Message();
    }
  }
}

TEST(Rules, EachIsAppliedUnderEachProfile) {
  for (const RuleCase& test : RuleCases()) {
    if (FindRule(test.op, test.rule) == nullptr) {
      ADD_FAILURE() << "no rule " << RuleName(test.rule);
      continue;
    }
    CheckCase(test);
  }
}

TEST(Rules, LimitsAreAccepted) {
  for (const RuleCase& test : RuleCases()) {
    if (test.step == 0) continue;
    for (int p = 0; p < kProfiles; ++p) {
      const int64_t limit =
          RuleLimit(test.op, test.rule, static_cast<Profile>(p));
      if (limit == 0 || Lacks(test.op, p)) continue;
      const Outcome outcome = Try(test, p, limit);
      EXPECT_EQ(outcome.status, 0)
          << RuleName(test.rule) << " " << kProfileNames[p] << ": "
          << outcome.message;
    }
  }
}

TEST(Rules, SectionListsByProfile) {
  // In the order of the rule's text, and one that no document has.
  const std::vector<std::vector<int64_t>> lists = {
      {16, 24, 24},     {24, 20, 20}, {8, 12, 12},
      {16, 16, 16, 16}, {11, 11, 10}, {16, 8, 8}};
  for (Op op : {Op::kRopeWithSinCosCache, Op::kRopeWithSinCosCacheV2}) {
    for (int p = 0; p < kProfiles; ++p) {
      if (Lacks(op, p)) continue;
      const int64_t taken =
          RuleLimit(op, Rule::kSectionList, static_cast<Profile>(p));
      for (size_t i = 0; i < lists.size(); ++i) {
        const RuleCase test = {
            Rule::kSectionList, op, "mropeSection",
            [&](Arguments& a, int64_t) { SetSections(a, lists[i]); }};
        const Outcome outcome = Try(test, p, 0);
        if (taken == 0 || static_cast<int64_t>(i) < taken) {
          EXPECT_EQ(outcome.status, 0) << outcome.message;
        } else {
          CheckRefusal(test, p, outcome);
        }
      }
    }
  }
}

TEST(Rules, AllHaveCases) {
  std::set<std::pair<Op, Rule>> tested;
  for (const RuleCase& test : RuleCases()) tested.insert({test.op, test.rule});
  const std::set<Rule> phase_two = {Rule::kData,      Rule::kExecutor,
                                    Rule::kWorkspace, Rule::kPositions,
                                    Rule::kOverlap,   Rule::kStream};
  for (const RuleRow& row : AllRules()) {
    if (phase_two.contains(row.rule)) continue;
    for (int op = 0; op < kOps; ++op) {
      if ((row.ops >> op & 1) == 0) continue;
      EXPECT_TRUE(tested.contains({static_cast<Op>(op), row.rule}))
          << row.name << " of " << Info(static_cast<Op>(op)).name;
    }
  }
}

TEST(Rules, ResultPointersAreNeeded) {
  for (int op = 0; op < kOps; ++op) {
    const Arguments a = Accepted(static_cast<Op>(op));
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(PhaseOne(a, nullptr, &executor), 161001);
    EXPECT_NE(Message().find("workspaceSize"), std::string::npos);
    EXPECT_EQ(PhaseOne(a, &size, nullptr), 161001);
    EXPECT_NE(Message().find("executor"), std::string::npos);
  }
}

TEST(Rules, ProfileComesFromTheEnvironment) {
  Arguments a = Accepted(Op::kRotaryPositionEmbedding);
  a.mode = 3;
  setenv("ROPEWALK_ACL_PRODUCT", "a2", 1);
  EXPECT_EQ(Plan(a), 561002);
  EXPECT_NE(Message().find("profile a2"), std::string::npos);
  setenv("ROPEWALK_ACL_PRODUCT", "950", 1);
  EXPECT_EQ(Plan(a), 0);
  setenv("ROPEWALK_ACL_PRODUCT", "no such", 1);
  EXPECT_EQ(Plan(a), 161002);
  EXPECT_NE(Message().find("no such"), std::string::npos);
  unsetenv("ROPEWALK_ACL_PRODUCT");
  EXPECT_EQ(Plan(a), 0);
}

}  // namespace
}  // namespace ropewalk_aclnn
