#include "rules.h"

#include <array>

namespace ropewalk_aclnn {
namespace {

constexpr uint32_t Bit(Op op) { return 1u << static_cast<int>(op); }

// The lists of operators in rules.inc.
constexpr uint32_t kAll = (1u << kOps) - 1;
constexpr uint32_t kRotaryV2 = Bit(Op::kRotaryPositionEmbeddingV2);
constexpr uint32_t kRotaryForward =
    Bit(Op::kRotaryPositionEmbedding) | kRotaryV2;
constexpr uint32_t kRotaryGrad = Bit(Op::kRotaryPositionEmbeddingGrad);
constexpr uint32_t kRotary = kRotaryForward | kRotaryGrad;
constexpr uint32_t kPartialForward = Bit(Op::kInplacePartialRotaryMul);
constexpr uint32_t kPartialGrad = Bit(Op::kInplacePartialRotaryMulGrad);
constexpr uint32_t kPartial = kPartialForward | kPartialGrad;
constexpr uint32_t kCacheV1 = Bit(Op::kRopeWithSinCosCache);
constexpr uint32_t kCacheV2 = Bit(Op::kRopeWithSinCosCacheV2);
constexpr uint32_t kCache = kCacheV1 | kCacheV2;
constexpr uint32_t kApplyV2 = Bit(Op::kApplyRotaryPosEmbV2);
constexpr uint32_t kApplyForward = Bit(Op::kApplyRotaryPosEmb) | kApplyV2;
constexpr uint32_t kApplyGrad = Bit(Op::kApplyRotaryPosEmbGrad);
constexpr uint32_t kApply = kApplyForward | kApplyGrad;
constexpr uint32_t kApplyStrings = kApplyV2 | kApplyGrad;
constexpr uint32_t kInterleave = Bit(Op::kInterleaveRope);
constexpr uint32_t kPartialInterleave = kPartial | kInterleave;
constexpr uint32_t kNotCache = kAll & ~kCache;
constexpr uint32_t kNotInterleave = kAll & ~kInterleave;
constexpr uint32_t kSameDtype = kAll & ~kPartial;
constexpr uint32_t kNoLayout = kRotary | kPartial | kInterleave;
constexpr uint32_t kRotaryPartial = kRotary | kPartial;
constexpr uint32_t kCacheInterleave = kCache | kInterleave;
constexpr uint32_t kRotaryApplyV2 = kRotary | kApplyV2;
constexpr uint32_t kNotOnA2 = kPartialGrad | kApplyGrad;
constexpr uint32_t kNotOn950 = kCacheV2;

#define RW_RULE(rule, ops, status, documented, a2, p950, unlimited, need)   \
  {Rule::k##rule, #rule, k##ops, status, {documented, a2, p950, unlimited}, \
   need},
#define RW_ALSO RW_RULE
constexpr RuleRow kRows[] = {
#include "rules.inc"
};
#undef RW_RULE
#undef RW_ALSO

constexpr int kRules = static_cast<int>(Rule::kEnd);

// Row number + 1 by operator and rule.
using Index = std::array<std::array<uint8_t, kRules>, kOps>;
constexpr Index MakeIndex() {
  Index index = {};
  for (size_t row = 0; row < std::size(kRows); ++row) {
    for (int op = 0; op < kOps; ++op) {
      if ((kRows[row].ops >> op & 1) == 0) continue;
      uint8_t& place = index[op][static_cast<int>(kRows[row].rule)];
      if (place != 0) throw "two rows of a rule for one operator";
      place = static_cast<uint8_t>(row + 1);
    }
  }
  return index;
}
constexpr Index kIndex = MakeIndex();

std::string OperatorsText(uint32_t ops) {
  if (ops == kAll) return "all";
  const char* lead = "";
  std::string text;
  const bool complement =
      ops == kNotCache || ops == kNotInterleave || ops == kSameDtype;
  if (complement) {
    text = "all but ";
    ops = kAll & ~ops;
  }
  for (int op = 0; op < kOps; ++op) {
    if ((ops >> op & 1) == 0) continue;
    text += lead;
    text += Info(static_cast<Op>(op)).name + 5;  // without "aclnn"
    lead = ", ";
  }
  return text;
}

}  // namespace

std::span<const RuleRow> AllRules() noexcept { return kRows; }

const RuleRow* FindRule(Op op, Rule rule) noexcept {
  const int row = kIndex[static_cast<int>(op)][static_cast<int>(rule)];
  return row != 0 ? &kRows[row - 1] : nullptr;
}

int64_t RuleLimit(Op op, Rule rule, Profile profile) noexcept {
  const RuleRow* row = FindRule(op, rule);
  return row != nullptr ? row->limits[static_cast<int>(profile)] : 0;
}

std::string NeedText(const RuleRow& row, Profile profile) {
  std::string text = row.need;
  const size_t place = text.find('%');
  if (place != std::string::npos) {
    text.replace(place, 1,
                 std::to_string(row.limits[static_cast<int>(profile)]));
  }
  return text;
}

std::string RulesAsMarkdown() {
  std::string text =
      "| rule | operators | need | status | documented | a2 | 950 | unlimited "
      "|\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const RuleRow& row : kRows) {
    const bool number = std::string(row.need).find('%') != std::string::npos;
    text +=
        std::string("| ") + row.name + " | " + OperatorsText(row.ops) + " | ";
    for (const char* c = row.need; *c != '\0'; ++c) {
      if (*c == '%') {
        text += "*n*";
      } else if (*c == '*') {
        text += "\\*";
      } else {
        text += *c;
      }
    }
    text += " | " + std::to_string(row.status) + " |";
    for (int limit : row.limits) {
      text += limit == 0 ? " – |"
              : number   ? " " + std::to_string(limit) + " |"
                         : " holds |";
    }
    text += "\n";
  }
  return text;
}

}  // namespace ropewalk_aclnn
