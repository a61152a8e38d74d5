#include "layouts.h"

namespace ropewalk_aclnn {
namespace {

// Which of three leading axes is the batch, the sequence and the heads.
struct Reading {
  int b, s, n;
};
constexpr Reading kBnsd = {0, 2, 1};
constexpr Reading kBsnd = {0, 1, 2};
constexpr Reading kSbnd = {1, 0, 2};

struct Leading {
  int64_t x[3];
  int64_t cos[3];
  bool has(int axis) const { return cos[axis] == x[axis]; }
  bool lacks(int axis) const { return cos[axis] == 1; }
};

// A tensor of rank 3 is TND: B is 1 and T is S.
Leading GetLeading(const Call& call, int x, int cos) {
  Leading leading = {{1, 1, 1}, {1, 1, 1}};
  const int rank = call.rank(x);
  for (int axis = 0; axis + 1 < rank; ++axis) {
    leading.x[axis + 4 - rank] = call.size(x, axis);
    leading.cos[axis + 4 - rank] = call.size(cos, axis);
  }
  return leading;
}

bool Matches(const Leading& at, const Reading& r, bool half) {
  if (!at.has(r.s)) return false;
  if (at.lacks(r.b) && at.lacks(r.n)) return true;
  if (!half) return false;
  return at.has(r.b) && (at.lacks(r.n) || at.has(r.n));
}

// The guard of BNSD in the forward: few heads for the sequence, or wide rows.
bool BnsdIsFast(const Call& call, const Leading& at, const Reading& r, int x) {
  if (at.has(r.n) && at.x[r.n] != 1) return true;
  const int64_t heads = at.x[r.b] * at.x[r.n];
  const int64_t width = call.width(x);
  const int64_t bytes =
      width / 2 * static_cast<int64_t>(ElementSize(call.dtype(x)));
  if (bytes % 32 == 0) return (heads + 7) / 8 <= at.x[r.s];
  return width >= 80 || 2 * heads <= at.x[r.s] / 48 + (at.x[r.s] % 48 != 0);
}

// The first limit that the reading breaks; kEnd if none.
Rule Broken(const Call& call, const Leading& at, const Reading& r, bool bnsd,
            int x, int mode, bool sums) {
  const int64_t b = at.x[r.b];
  const int64_t n = at.x[r.n];
  const bool small = b < (1 << 20) && n < (1 << 20);  // the product is exact
  if (mode == 1) {
    const int64_t limit = call.Limit(Rule::kHeadsInterleave);
    return small && b * n <= limit ? Rule::kEnd : Rule::kHeadsInterleave;
  }
  if (call.Holds(Rule::kHeadsHalf)) {
    const int64_t limit = call.Limit(Rule::kHeadsHalf);
    if (b > limit || n > limit) return Rule::kHeadsHalf;
    if (sums && b * n > call.Limit(Rule::kHeadsSum)) return Rule::kHeadsSum;
  }
  if (call.Holds(Rule::kHeadsBnsd) && bnsd &&
      !(small && BnsdIsFast(call, at, r, x))) {
    return Rule::kHeadsBnsd;
  }
  return Rule::kEnd;
}

}  // namespace

aclnnStatus CheckLayouts(Call& call, int x, int cos, int mode, bool sums) {
  const bool half = mode == 0;
  const Rule tables = half ? Rule::kTablesHalf : Rule::kTablesInterleave;
  if (!call.Holds(tables)) return 0;
  const Leading at = GetLeading(call, x, cos);
  const bool tnd = call.rank(x) == 3;
  Rule broken = tables;
  for (const Reading* reading : {&kBsnd, &kSbnd, &kBnsd}) {
    if (tnd && reading != &kBsnd) continue;
    if (!Matches(at, *reading, half)) continue;
    const Rule rule =
        Broken(call, at, *reading, reading == &kBnsd, x, mode, sums);
    if (rule == Rule::kEnd) return 0;
    if (broken == tables) broken = rule;
  }
  return call.RefuseShape(broken, cos, x);
}

}  // namespace ropewalk_aclnn
