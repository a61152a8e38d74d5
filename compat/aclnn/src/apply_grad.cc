// ApplyRotaryPosEmbGrad.

#include "aclnnop/aclnn_apply_rotary_pos_emb_grad.h"
#include "apply_axes.h"
#include "call.h"
#include "ropewalk/ops.h"

namespace ropewalk_aclnn {
namespace {

struct Arguments {
  const aclTensor *query, *key, *cos, *sin;
  int64_t layout;
  const char* mode;
  const aclTensor *query_in, *key_in, *query_out, *key_out, *cos_out, *sin_out;
};

// Numbers of the other tensors.
enum { kQueryIn = 4, kKeyIn, kQueryOut, kKeyOut, kCosOut, kSinOut };
constexpr uint32_t kSums = 1u << kCosOut | 1u << kSinOut;

aclnnStatus CheckShapes(Call& call, const Axes& at) {
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
ropewalk::Status Launch(const Executor& executor, void* const* address,
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

aclnnStatus TakePlan(Call& call, int mode) {
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
                   sums ? Launch<true> : Launch<false>);
}

aclnnStatus Plan(Call& call, const void* arguments) {
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
  RW_TRY(CheckRotaryMode(call, a.mode != nullptr ? a.mode : "half", &mode));
  Axes at;
  RW_TRY(CheckLayout(call, a.layout, &at));
  RW_TRY(call.CheckSizes());
  RW_TRY(CheckShapes(call, at));
  RW_TRY(call.CheckEven(kQuery, call.width(kQuery), mode));
  return TakePlan(call, mode);
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

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
  return PhaseOne(Op::kApplyRotaryPosEmbGrad, Plan, &arguments, workspaceSize,
                  executor);
}

aclnnStatus aclnnApplyRotaryPosEmbGrad(void* workspace, uint64_t workspaceSize,
                                       aclOpExecutor* executor,
                                       aclrtStream stream) {
  return Run(Op::kApplyRotaryPosEmbGrad, workspace, workspaceSize, executor,
             stream);
}
