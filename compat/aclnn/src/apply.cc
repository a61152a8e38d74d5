// ApplyRotaryPosEmb and its V2.

#include "aclnnop/aclnn_apply_rotary_pos_emb.h"
#include "aclnnop/aclnn_apply_rotary_pos_emb_v2.h"
#include "apply_axes.h"
#include "call.h"
#include "ropewalk/ops.h"

namespace ropewalk_aclnn {
namespace {

struct Arguments {
  const aclTensor *query, *key, *cos, *sin;
  int64_t layout;
  const char* mode;
};

aclnnStatus CheckWidths(Call& call, const Axes& at, int mode) {
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
  const int64_t limit = call.Limit(Rule::kHeadSum);
  const int64_t heads = call.size(kQuery, at.n);
  if (heads <= limit && call.size(kKey, at.n) <= limit - heads) return 0;
  return call.Refuse(Rule::kHeadSum, "keyRef", "they are %lld and %lld",
                     static_cast<long long>(heads),
                     static_cast<long long>(call.size(kKey, at.n)));
}

// The first `width` columns. The others are not touched, being in place.
ropewalk::TensorDesc Columns(ropewalk::TensorDesc desc, int64_t width) {
  desc.shape[desc.rank - 1] = width;
  return desc;
}

ropewalk::Status Launch(const Executor& executor, void* const* address,
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

aclnnStatus Plan(Call& call, const void* arguments) {
  const Arguments& a = *static_cast<const Arguments*>(arguments);
  if (a.mode == nullptr) {
    return call.Refuse(Rule::kPointer, "rotaryMode", "is null");
  }
  RW_TRY(call.Load({a.query, a.key, a.cos, a.sin}));
  RW_TRY(call.CheckSameDtypes({kQuery, kKey, kCos, kSin}));
  int mode = 0;
  RW_TRY(CheckRotaryMode(call, a.mode, &mode));
  Axes at;
  RW_TRY(CheckLayout(call, a.layout, &at));
  RW_TRY(call.CheckSizes());
  RW_TRY(CheckAxes(call, at));
  RW_TRY(CheckWidths(call, at, mode));
  const ropewalk::TensorDesc& cos = call.desc(kCos);
  const auto query = Columns(call.desc(kQuery), call.width(kCos));
  const auto key = Columns(call.desc(kKey), call.width(kCos));
  return call.Take(
      ropewalk::MakeRotatePlan({static_cast<ropewalk::Pairing>(mode), {}},
                               {query, cos, call.desc(kSin), query, key, key}),
      Launch);
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclnnStatus aclnnApplyRotaryPosEmbGetWorkspaceSize(
    aclTensor* queryRef, aclTensor* keyRef, const aclTensor* cos,
    const aclTensor* sin, int64_t layout, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  const Arguments arguments = {queryRef, keyRef, cos, sin, layout, "half"};
  return PhaseOne(Op::kApplyRotaryPosEmb, Plan, &arguments, workspaceSize,
                  executor);
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
  const Arguments arguments = {queryRef, keyRef, cos, sin, layout, rotaryMode};
  return PhaseOne(Op::kApplyRotaryPosEmbV2, Plan, &arguments, workspaceSize,
                  executor);
}

aclnnStatus aclnnApplyRotaryPosEmbV2(void* workspace, uint64_t workspaceSize,
                                     aclOpExecutor* executor,
                                     aclrtStream stream) {
  return Run(Op::kApplyRotaryPosEmbV2, workspace, workspaceSize, executor,
             stream);
}
