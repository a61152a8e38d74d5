// RotaryPositionEmbedding and its V2.

#include "aclnnop/aclnn_rotary_position_embedding.h"
#include "aclnnop/aclnn_rotary_position_embedding_v2.h"
#include "call.h"
#include "layouts.h"
#include "ropewalk/ops.h"

namespace ropewalk_aclnn {
namespace {

struct Arguments {
  const aclTensor *x, *cos, *sin;
  int64_t mode;
  const aclTensor *rotate, *out;
};

// Numbers of the tensors; V1 has no rotate.
struct Numbers {
  int x = 0, cos = 1, sin = 2, rotate = -1, out = 3;
};
constexpr Numbers kV1 = {};
constexpr Numbers kV2 = {0, 1, 2, 3, 4};

aclnnStatus CheckRotate(Call& call, const Numbers& at, int mode) {
  RW_TRY(call.Holds(Rule::kRotateNull)
             ? call.Refuse(Rule::kRotateNull, "rotate", "is not")
             : 0);
  const ropewalk::TensorDesc& rotate = call.desc(at.rotate);
  const int64_t d = call.width(at.x);
  if (rotate.rank != 2 || rotate.shape[0] != d || rotate.shape[1] != d) {
    RW_TRY(call.RefuseShape(Rule::kRotateShape, at.rotate, at.x));
  }
  if (mode > 1) {
    RW_TRY(call.Refuse(Rule::kRotateMode, "mode", "is %d", mode));
  }
  return 0;
}

aclnnStatus Check(Call& call, const Arguments& a, const Numbers& at, int mode) {
  const bool matrix = a.rotate != nullptr;
  if (matrix) {
    RW_TRY(call.CheckSameDtypes({at.x, at.cos, at.sin, at.out, at.rotate}));
  } else {
    RW_TRY(call.CheckSameDtypes({at.x, at.cos, at.sin, at.out}));
  }
  if (mode < 0 || mode > 3) {
    RW_TRY(call.Refuse(Rule::kMode, "mode", "is %d", mode));
  }
  if (mode < 0 || mode > 1) {
    RW_TRY(call.Refuse(Rule::kModeA2, "mode", "is %d", mode));
  }
  RW_TRY(call.CheckSizes());
  if (call.rank(at.x) != 3 && call.rank(at.x) != 4) {
    RW_TRY(call.RefuseShape(Rule::kRank, at.x));
  }
  RW_TRY(call.CheckBroadcast(at.cos, at.x));
  RW_TRY(call.CheckSameShape(at.sin, at.cos));
  RW_TRY(call.CheckSameShape(at.out, at.x));
  RW_TRY(call.CheckTableWidth(at.cos, at.x, call.width(at.x), Rule::kTableWidth,
                              Rule::kTableHalf));
  RW_TRY(call.CheckEven(at.x, call.width(at.x), mode));
  if (call.width(at.x) > call.Limit(Rule::kWidthMax)) {
    RW_TRY(call.RefuseShape(Rule::kWidthMax, at.x));
  }
  if (matrix) RW_TRY(CheckRotate(call, at, mode));
  RW_TRY(CheckLayouts(call, at.x, at.cos, mode, false));
  return call.CheckContiguous(Rule::kContiguous, {at.out});
}

template <bool kIsV2>
ropewalk::Status LaunchPlan(const Executor& executor, void* const* address,
                            const ropewalk::RunOptions& options) {
  ropewalk::RotateBuffers buffers;
  buffers.x = address[0];
  buffers.cos = address[1];
  buffers.sin = address[2];
  buffers.y = address[kIsV2 ? 4 : 3];
  return executor.plan->Run(buffers, options);
}

ropewalk::Status LaunchMatrix(const Executor& executor, void* const* address,
                              const ropewalk::RunOptions&) {
  return executor.matrix->Run(address[0], address[1], address[2], address[3],
                              address[4]);
}

aclnnStatus PlanMatrix(Call& call, const Numbers& at, int mode) {
  const ropewalk::TensorDesc& x = call.desc(at.x);
  const ropewalk::RotateTensors tensors = {
      x, call.desc(at.cos), call.desc(at.sin), call.desc(at.out), {}, {}};
  // Finds what descriptors can have wrong: sizes, strides, types.
  const auto plan = ropewalk::MakeRotatePlan({}, tensors);
  if (!plan.ok()) return call.Refused(plan.status());
  if (x.dtype == ropewalk::Dtype::kF64 ||
      call.width(at.cos) != call.width(at.x)) {
    return call.Refused({ropewalk::Code::kShape,
                         "rotate: needs full tables, and no type double"});
  }
  if (IsEmpty(x)) return call.Nothing();
  call.executor().matrix = std::make_unique<RotateMatrix>(RotateMatrix{
      x, tensors.cos, tensors.sin, call.desc(at.rotate), tensors.y, mode == 3});
  call.executor().launch = LaunchMatrix;
  return 0;
}

template <bool kIsV2>
aclnnStatus Plan(Call& call, const void* arguments) {
  const Arguments& a = *static_cast<const Arguments*>(arguments);
  constexpr Numbers at = kIsV2 ? kV2 : kV1;
  if constexpr (kIsV2) {
    RW_TRY(call.Load({a.x, a.cos, a.sin, a.rotate, a.out}));
  } else {
    RW_TRY(call.Load({a.x, a.cos, a.sin, a.out}));
  }
  const int mode = static_cast<int32_t>(a.mode);
  RW_TRY(Check(call, a, at, mode));
  if (a.rotate != nullptr) return PlanMatrix(call, at, mode);
  auto plan = ropewalk::MakeRotatePlan(
      {static_cast<ropewalk::Pairing>(mode), {}}, {call.desc(at.x),
                                                   call.desc(at.cos),
                                                   call.desc(at.sin),
                                                   call.desc(at.out),
                                                   {},
                                                   {}});
  return call.Take(std::move(plan), LaunchPlan<kIsV2>);
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclnnStatus aclnnRotaryPositionEmbeddingGetWorkspaceSize(
    const aclTensor* x, const aclTensor* cos, const aclTensor* sin,
    int64_t mode, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  const Arguments arguments = {x, cos, sin, mode, nullptr, out};
  return PhaseOne(Op::kRotaryPositionEmbedding, Plan<false>, &arguments,
                  workspaceSize, executor);
}

aclnnStatus aclnnRotaryPositionEmbedding(void* workspace,
                                         uint64_t workspaceSize,
                                         aclOpExecutor* executor,
                                         aclrtStream stream) {
  return Run(Op::kRotaryPositionEmbedding, workspace, workspaceSize, executor,
             stream);
}

aclnnStatus aclnnRotaryPositionEmbeddingV2GetWorkspaceSize(
    const aclTensor* x, const aclTensor* cos, const aclTensor* sin,
    int64_t mode, const aclTensor* rotate, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  const Arguments arguments = {x, cos, sin, mode, rotate, out};
  return PhaseOne(Op::kRotaryPositionEmbeddingV2, Plan<true>, &arguments,
                  workspaceSize, executor);
}

aclnnStatus aclnnRotaryPositionEmbeddingV2(void* workspace,
                                           uint64_t workspaceSize,
                                           aclOpExecutor* executor,
                                           aclrtStream stream) {
  return Run(Op::kRotaryPositionEmbeddingV2, workspace, workspaceSize, executor,
             stream);
}
