#include "apply_axes.h"

#include <cstring>

#include "ropewalk/ops.h"

namespace ropewalk_aclnn {
namespace {

// A mode that has no name is -1.
int ModeOf(const char* name) {
  for (int mode = 0; mode < 4; ++mode) {
    const auto pairing = static_cast<ropewalk::Pairing>(mode);
    if (std::strcmp(name, ropewalk::PairingName(pairing)) == 0) return mode;
  }
  return -1;
}

}  // namespace

aclnnStatus CheckRotaryMode(Call& call, const char* name, int* mode) {
  *mode = ModeOf(name);
  const char* argument = call.op() == Op::kApplyRotaryPosEmbGrad
                             ? "rotaryModeOptional"
                             : "rotaryMode";
  if (*mode != 0) {
    RW_TRY(call.Refuse(Rule::kRotaryModeHalf, argument, "is \"%s\"", name));
  }
  if (*mode < 0 || *mode == 3) {
    RW_TRY(call.Refuse(Rule::kRotaryMode, argument, "is \"%s\"", name));
  }
  if (*mode >= 0) return 0;
  return call.Refuse(Rule::kRotaryModeAny, argument, "is \"%s\"", name);
}

aclnnStatus CheckLayout(Call& call, int64_t layout, Axes* axes) {
  constexpr Axes kAxes[] = {
      {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 2, 1, 3}, {-1, 0, 1, 2}};
  const long long shown = layout;
  if (layout != 1 && layout != 4) {
    RW_TRY(call.Refuse(Rule::kLayoutA2, "layout", "is %lld", shown));
  }
  if (layout != 1 && layout != 2 && layout != 4) {
    RW_TRY(call.Refuse(Rule::kLayoutGrad, "layout", "is %lld", shown));
  }
  if (layout < 1 || layout > 4) {
    return call.Refuse(Rule::kLayout, "layout", "is %lld", shown);
  }
  *axes = kAxes[layout - 1];
  return 0;
}

aclnnStatus CheckAxes(Call& call, const Axes& axes) {
  for (int i : {kQuery, kKey, kCos}) {
    if (call.rank(i) != axes.d + 1) return call.RefuseShape(Rule::kRank, i);
  }
  RW_TRY(call.CheckSameShape(kSin, kCos));
  if ((axes.b >= 0 && call.size(kKey, axes.b) != call.size(kQuery, axes.b)) ||
      call.size(kKey, axes.s) != call.size(kQuery, axes.s)) {
    RW_TRY(call.RefuseShape(Rule::kQueryKey, kKey, kQuery));
  }
  if (call.size(kCos, axes.n) != 1) {
    RW_TRY(call.RefuseShape(Rule::kTableHeads, kCos, kQuery));
  }
  if (axes.b >= 0 && call.size(kCos, axes.b) != call.size(kQuery, axes.b)) {
    RW_TRY(call.RefuseShape(Rule::kTableBatchA2, kCos, kQuery));
    if (call.size(kCos, axes.b) != 1) {
      RW_TRY(call.RefuseShape(Rule::kTableBatch, kCos, kQuery));
    }
  }
  if (call.size(kCos, axes.s) != call.size(kQuery, axes.s)) {
    RW_TRY(call.RefuseShape(Rule::kTableTokens, kCos, kQuery));
  }
  RW_TRY(call.CheckBroadcast(kCos, kQuery));
  return call.CheckBroadcast(kCos, kKey);
}

}  // namespace ropewalk_aclnn
