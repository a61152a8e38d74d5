// ApplyRotaryPosEmb, its V2 and its Grad.

#include <cstring>

#include "aclnnop/aclnn_apply_rotary_pos_emb.h"
#include "aclnnop/aclnn_apply_rotary_pos_emb_grad.h"
#include "aclnnop/aclnn_apply_rotary_pos_emb_v2.h"
#include "call.h"
#include "ropewalk/ops.h"

namespace ropewalk_aclnn {
namespace {

// query and key are the gradients where the operator is the Grad.
struct Arguments {
  const aclTensor *query, *key, *cos, *sin;
  int64_t layout;
  const char* mode;
  const aclTensor *query_in, *key_in, *query_out, *key_out, *cos_out, *sin_out;
};

enum {
  kQuery,
  kKey,
  kCos,
  kSin,
  kQueryIn,
  kKeyIn,
  kQueryOut,
  kKeyOut,
  kCosOut,
  kSinOut
};
constexpr uint32_t kSums = 1u << kCosOut | 1u << kSinOut;

// Where a layout has its axes; b is -1 in TND.
struct Axes {
  int b, s, n, d;
};
constexpr Axes kAxes[] = {
    {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 2, 1, 3}, {-1, 0, 1, 2}};

// A mode that has no name is -1.
int ModeOf(const char* name) {
  for (int mode = 0; mode < 4; ++mode) {
    const auto pairing = static_cast<ropewalk::Pairing>(mode);
    if (std::strcmp(name, ropewalk::PairingName(pairing)) == 0) return mode;
  }
  return -1;
}

aclnnStatus CheckMode(Call& call, const char* name, int* mode) {
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

aclnnStatus CheckLayout(Call& call, int64_t layout) {
  const long long shown = layout;
  if (layout != 1 && layout != 4) {
    RW_TRY(call.Refuse(Rule::kLayoutA2, "layout", "is %lld", shown));
  }
  if (layout != 1 && layout != 2 && layout != 4) {
    RW_TRY(call.Refuse(Rule::kLayoutGrad, "layout", "is %lld", shown));
  }
  if (layout >= 1 && layout <= 4) return 0;
  return call.Refuse(Rule::kLayout, "layout", "is %lld", shown);
}

// The axes of cos and key against query's.
aclnnStatus CheckAxes(Call& call, const Axes& at) {
  if ((at.b >= 0 && call.size(kKey, at.b) != call.size(kQuery, at.b)) ||
      call.size(kKey, at.s) != call.size(kQuery, at.s)) {
    RW_TRY(call.RefuseShape(Rule::kQueryKey, kKey, kQuery));
  }
  if (call.size(kCos, at.n) != 1) {
    RW_TRY(call.RefuseShape(Rule::kTableHeads, kCos, kQuery));
  }
  if (at.b >= 0 && call.size(kCos, at.b) != call.size(kQuery, at.b)) {
    RW_TRY(call.RefuseShape(Rule::kTableBatchA2, kCos, kQuery));
    if (call.size(kCos, at.b) != 1) {
      RW_TRY(call.RefuseShape(Rule::kTableBatch, kCos, kQuery));
    }
  }
  if (call.size(kCos, at.s) != call.size(kQuery, at.s)) {
    RW_TRY(call.RefuseShape(Rule::kTableTokens, kCos, kQuery));
  }
  RW_TRY(call.CheckBroadcast(kCos, kQuery));
  return call.CheckBroadcast(kCos, kKey);
}

aclnnStatus CheckRanks(Call& call, const Axes& at) {
  for (int i : {kQuery, kKey, kCos}) {
    if (call.rank(i) != at.d + 1) return call.RefuseShape(Rule::kRank, i);
  }
  return call.CheckSameShape(kSin, kCos);
}

aclnnStatus CheckForwardWidths(Call& call, const Axes& at, int mode) {
  const int64_t d = call.width(kQuery);
  for (int i : {kQuery, kKey, kCos}) {
    if (call.width(i) > call.Limit(Rule::kWidthMax)) {
      RW_TRY(call.RefuseShape(Rule::kWidthMax, i));
    }
    if (call.width(i) != 64 && call.width(i) != 128) {
      RW_TRY(call.RefuseShape(Rule::kWidth64, i));
    }
  }
  if (call.width(kKey) > d) {
    RW_TRY(call.RefuseShape(Rule::kKeyWidth, kKey, kQuery));
  }
  if (call.width(kCos) > d) {
    RW_TRY(call.RefuseShape(Rule::kTableFits, kCos, kQuery));
  }
  if (call.width(kCos) > call.width(kKey)) {
    RW_TRY(call.RefuseShape(Rule::kTableFits, kCos, kKey));
  }
  RW_TRY(call.CheckEven(kCos, call.width(kCos), mode));
  const int64_t heads = call.size(kQuery, at.n) + call.size(kKey, at.n);
  if (heads <= call.Limit(Rule::kHeadSum)) return 0;
  return call.Refuse(Rule::kHeadSum, "keyRef", "they are %lld",
                     static_cast<long long>(heads));
}

// The first `width` columns. The others are not touched, being in place.
ropewalk::TensorDesc Columns(ropewalk::TensorDesc desc, int64_t width) {
  desc.shape[desc.rank - 1] = width;
  return desc;
}

ropewalk::Status LaunchForward(const Executor& executor, void* const* address,
                               const ropewalk::RunOptions& options) {
  ropewalk::RotateBuffers buffers;
  buffers.x = address[kQuery];
  buffers.cos = address[kCos];
  buffers.sin = address[kSin];
  buffers.y = address[kQuery];
  buffers.x2 = address[kKey];
  buffers.y2 = address[kKey];
  return executor.plan->Run(buffers, options);
}

aclnnStatus PlanForward(Call& call, const void* arguments) {
  const Arguments& a = *static_cast<const Arguments*>(arguments);
  if (a.mode == nullptr) {
    return call.Refuse(Rule::kPointer, "rotaryMode", "is null");
  }
  RW_TRY(call.Load({a.query, a.key, a.cos, a.sin}));
  RW_TRY(call.CheckSameDtypes({kQuery, kKey, kCos, kSin}));
  int mode = 0;
  RW_TRY(CheckMode(call, a.mode, &mode));
  RW_TRY(CheckLayout(call, a.layout));
  RW_TRY(call.CheckSizes());
  const Axes& at = kAxes[a.layout - 1];
  RW_TRY(CheckRanks(call, at));
  RW_TRY(CheckAxes(call, at));
  RW_TRY(CheckForwardWidths(call, at, mode));
  const ropewalk::TensorDesc& cos = call.desc(kCos);
  const auto query = Columns(call.desc(kQuery), call.width(kCos));
  const auto key = Columns(call.desc(kKey), call.width(kCos));
  return call.Take(
      ropewalk::MakeRotatePlan({static_cast<ropewalk::Pairing>(mode), {}},
                               {query, cos, call.desc(kSin), query, key, key}),
      LaunchForward);
}

aclnnStatus CheckGradShapes(Call& call, const Axes& at) {
  RW_TRY(CheckRanks(call, at));
  RW_TRY(CheckAxes(call, at));
  RW_TRY(call.CheckSameShape(kQueryOut, kQuery));
  RW_TRY(call.CheckSameShape(kKeyOut, kKey));
  if (call.has(kQueryIn)) {
    RW_TRY(call.CheckSameShape(kQueryIn, kQuery));
    RW_TRY(call.CheckSameShape(kKeyIn, kKey));
    RW_TRY(call.CheckSameShape(kCosOut, kCos));
    RW_TRY(call.CheckSameShape(kSinOut, kCos));
  }
  for (int i : {kQuery, kKey}) {
    if (call.width(i) > call.Limit(Rule::kWidthMax)) {
      RW_TRY(call.RefuseShape(Rule::kWidthMax, i));
    }
    RW_TRY(call.CheckTableWidth(kCos, i, call.width(i), Rule::kTableEqual,
                                Rule::kTableGrad));
  }
  for (int i : {kQuery, kKey, kCos}) {
    if (IsEmpty(call.desc(i))) RW_TRY(call.RefuseShape(Rule::kNotEmpty, i));
  }
  return 0;
}

template <bool kWithSums>
ropewalk::Status LaunchGrad(const Executor& executor, void* const* address,
                            const ropewalk::RunOptions& options) {
  ropewalk::RotateBackwardBuffers buffers;
  buffers.dy = address[kQuery];
  buffers.cos = address[kCos];
  buffers.sin = address[kSin];
  buffers.dx = address[kQueryOut];
  buffers.dy2 = address[kKey];
  buffers.dx2 = address[kKeyOut];
  if constexpr (kWithSums) {
    buffers.x = address[kQueryIn];
    buffers.x2 = address[kKeyIn];
    buffers.dcos = address[kCosOut];
    buffers.dsin = address[kSinOut];
  }
  return executor.plan->Run(buffers, options);
}

aclnnStatus TakeGradPlan(Call& call, int mode) {
  ropewalk::RotateBackwardTensors tensors;
  tensors.dy = call.desc(kQuery);
  tensors.cos = call.desc(kCos);
  tensors.sin = call.desc(kSin);
  tensors.dx = call.desc(kQueryOut);
  tensors.dy2 = call.desc(kKey);
  tensors.dx2 = call.desc(kKeyOut);
  const bool sums = call.has(kQueryIn);
  if (sums) {
    tensors.x = call.desc(kQueryIn);
    tensors.x2 = call.desc(kKeyIn);
    tensors.dcos = call.desc(kCosOut);
    tensors.dsin = call.desc(kSinOut);
  }
  return call.Take(ropewalk::MakeRotateBackwardPlan(
                       {static_cast<ropewalk::Pairing>(mode), {}}, tensors),
                   sums ? LaunchGrad<true> : LaunchGrad<false>);
}

aclnnStatus PlanGrad(Call& call, const void* arguments) {
  const Arguments& a = *static_cast<const Arguments*>(arguments);
  const bool sums = a.query_in != nullptr && a.key_in != nullptr;
  RW_TRY(call.Load({a.query, a.key, a.cos, a.sin, a.query_in, a.key_in,
                    a.query_out, a.key_out, a.cos_out, a.sin_out},
                   sums ? 0 : kSums));
  RW_TRY(call.CheckSameDtypes({kQuery, kKey, kCos, kSin, kQueryIn, kKeyIn,
                               kQueryOut, kKeyOut, kCosOut, kSinOut}));
  if ((a.query_in == nullptr) != (a.key_in == nullptr)) {
    RW_TRY(call.Refuse(Rule::kBoth,
                       call.name(a.query_in == nullptr ? kQueryIn : kKeyIn),
                       "this one is null"));
  }
  int mode = 0;
  RW_TRY(CheckMode(call, a.mode != nullptr ? a.mode : "half", &mode));
  RW_TRY(CheckLayout(call, a.layout));
  RW_TRY(call.CheckSizes());
  RW_TRY(CheckGradShapes(call, kAxes[a.layout - 1]));
  RW_TRY(call.CheckEven(kQuery, call.width(kQuery), mode));
  return TakeGradPlan(call, mode);
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclnnStatus aclnnApplyRotaryPosEmbGetWorkspaceSize(
    aclTensor* queryRef, aclTensor* keyRef, const aclTensor* cos,
    const aclTensor* sin, int64_t layout, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  const Arguments arguments = {queryRef, keyRef,  cos,     sin,
                               layout,   "half",  nullptr, nullptr,
                               nullptr,  nullptr, nullptr, nullptr};
  return PhaseOne(Op::kApplyRotaryPosEmb, PlanForward, &arguments,
                  workspaceSize, executor);
}

aclnnStatus aclnnApplyRotaryPosEmb(void* workspace, uint64_t workspaceSize,
                                   aclOpExecutor* executor,
                                   aclrtStream stream) {
  return Run(Op::kApplyRotaryPosEmb, workspace, workspaceSize, executor,
             stream);
}

aclnnStatus aclnnApplyRotaryPosEmbV2GetWorkspaceSize(
    aclTensor* queryRef, aclTensor* keyRef, const aclTensor* cos,
    const aclTensor* sin, int64_t layout, char* rotaryMode,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  const Arguments arguments = {queryRef, keyRef,     cos,     sin,
                               layout,   rotaryMode, nullptr, nullptr,
                               nullptr,  nullptr,    nullptr, nullptr};
  return PhaseOne(Op::kApplyRotaryPosEmbV2, PlanForward, &arguments,
                  workspaceSize, executor);
}

aclnnStatus aclnnApplyRotaryPosEmbV2(void* workspace, uint64_t workspaceSize,
                                     aclOpExecutor* executor,
                                     aclrtStream stream) {
  return Run(Op::kApplyRotaryPosEmbV2, workspace, workspaceSize, executor,
             stream);
}

aclnnStatus aclnnApplyRotaryPosEmbGradGetWorkspaceSize(
    const aclTensor* gradQueryEmbed, const aclTensor* gradKeyEmbed,
    const aclTensor* cos, const aclTensor* sin, const aclTensor* queryOptional,
    const aclTensor* keyOptional, char* rotaryModeOptional, int64_t layout,
    const aclTensor* gradQueryOut, const aclTensor* gradKeyOut,
    const aclTensor* gradCosOut, const aclTensor* gradSinOut,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  const Arguments arguments = {
      gradQueryEmbed, gradKeyEmbed,       cos,           sin,
      layout,         rotaryModeOptional, queryOptional, keyOptional,
      gradQueryOut,   gradKeyOut,         gradCosOut,    gradSinOut};
  return PhaseOne(Op::kApplyRotaryPosEmbGrad, PlanGrad, &arguments,
                  workspaceSize, executor);
}

aclnnStatus aclnnApplyRotaryPosEmbGrad(void* workspace, uint64_t workspaceSize,
                                       aclOpExecutor* executor,
                                       aclrtStream stream) {
  return Run(Op::kApplyRotaryPosEmbGrad, workspace, workspaceSize, executor,
             stream);
}
