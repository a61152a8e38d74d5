// RotaryPositionEmbeddingGrad.

#include "aclnnop/aclnn_rotary_position_embedding_grad.h"
#include "call.h"
#include "layouts.h"
#include "ropewalk/ops.h"

namespace ropewalk_aclnn {
namespace {

struct Arguments {
  const aclTensor *dy, *cos, *sin, *x;
  int64_t mode;
  const aclTensor *dx, *dcos, *dsin;
};

enum { kDy, kCos, kSin, kX, kDx, kDcos, kDsin };
constexpr uint32_t kSums = 1u << kDcos | 1u << kDsin;

aclnnStatus CheckTypes(Call& call) {
  RW_TRY(call.CheckSameDtypes({kDy, kCos, kSin, kX, kDx, kDcos, kDsin}));
  if (call.has(kX)) return 0;
  // Nothing about dcosOut and dsinOut matters then, but a product's runner
  // looks at their types all the same.
  for (int i : {kDcos, kDsin}) {
    if (call.dtype(i) == call.dtype(kDy)) continue;
    RW_TRY(call.Refuse(Rule::kDtypeUnused, call.name(i), "is %s",
                       TypeText(call.dtype(i)).c_str()));
  }
  return 0;
}

aclnnStatus CheckShapes(Call& call) {
  RW_TRY(call.CheckSizes());
  if (call.rank(kDy) != 3 && call.rank(kDy) != 4) {
    RW_TRY(call.RefuseShape(Rule::kRank, kDy));
  }
  RW_TRY(call.CheckBroadcast(kCos, kDy));
  RW_TRY(call.CheckSameShape(kSin, kCos));
  RW_TRY(call.CheckSameShape(kDx, kDy));
  if (!call.has(kX)) return 0;
  RW_TRY(call.CheckSameShape(kX, kDy));
  RW_TRY(call.CheckSameShape(kDcos, kCos));
  return call.CheckSameShape(kDsin, kCos);
}

aclnnStatus Check(Call& call, int mode) {
  RW_TRY(CheckTypes(call));
  if (mode < 0 || mode > 3) {
    RW_TRY(call.Refuse(Rule::kMode, "mode", "is %d", mode));
  }
  if (mode < 0 || mode > 1) {
    RW_TRY(call.Refuse(Rule::kModeA2, "mode", "is %d", mode));
  }
  RW_TRY(CheckShapes(call));
  RW_TRY(call.CheckTableWidth(kCos, kDy, call.width(kDy), Rule::kTableWidth,
                              Rule::kTableHalf));
  RW_TRY(call.CheckEven(kDy, call.width(kDy), mode));
  if (call.width(kDy) > call.Limit(Rule::kWidthMax)) {
    RW_TRY(call.RefuseShape(Rule::kWidthMax, kDy));
  }
  RW_TRY(CheckLayouts(call, kDy, kCos, mode, call.has(kX)));
  return call.CheckContiguous(Rule::kContiguous, {kDx, kDcos, kDsin});
}

ropewalk::Status Launch(const Executor& executor, void* const* address,
                        const ropewalk::RunOptions& options) {
  ropewalk::RotateBackwardBuffers buffers;
  buffers.dy = address[kDy];
  buffers.cos = address[kCos];
  buffers.sin = address[kSin];
  buffers.dx = address[kDx];
  return executor.plan->Run(buffers, options);
}

ropewalk::Status LaunchSums(const Executor& executor, void* const* address,
                            const ropewalk::RunOptions& options) {
  ropewalk::RotateBackwardBuffers buffers;
  buffers.dy = address[kDy];
  buffers.cos = address[kCos];
  buffers.sin = address[kSin];
  buffers.x = address[kX];
  buffers.dx = address[kDx];
  buffers.dcos = address[kDcos];
  buffers.dsin = address[kDsin];
  return executor.plan->Run(buffers, options);
}

aclnnStatus Plan(Call& call, const void* arguments) {
  const Arguments& a = *static_cast<const Arguments*>(arguments);
  RW_TRY(call.Load({a.dy, a.cos, a.sin, a.x, a.dx, a.dcos, a.dsin},
                   a.x == nullptr ? kSums : 0));
  const int mode = static_cast<int32_t>(a.mode);
  RW_TRY(Check(call, mode));
  ropewalk::RotateBackwardTensors tensors;
  tensors.dy = call.desc(kDy);
  tensors.cos = call.desc(kCos);
  tensors.sin = call.desc(kSin);
  tensors.dx = call.desc(kDx);
  if (call.has(kX)) {
    tensors.x = call.desc(kX);
    tensors.dcos = call.desc(kDcos);
    tensors.dsin = call.desc(kDsin);
  }
  return call.Take(ropewalk::MakeRotateBackwardPlan(
                       {static_cast<ropewalk::Pairing>(mode), {}}, tensors),
                   call.has(kX) ? LaunchSums : Launch);
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclnnStatus aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
    const aclTensor* dy, const aclTensor* cos, const aclTensor* sin,
    const aclTensor* xOptional, int64_t mode, const aclTensor* dxOut,
    const aclTensor* dcosOut, const aclTensor* dsinOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  const Arguments arguments = {dy,   cos,   sin,     xOptional,
                               mode, dxOut, dcosOut, dsinOut};
  return PhaseOne(Op::kRotaryPositionEmbeddingGrad, Plan, &arguments,
                  workspaceSize, executor);
}

aclnnStatus aclnnRotaryPositionEmbeddingGrad(void* workspace,
                                             uint64_t workspaceSize,
                                             aclOpExecutor* executor,
                                             aclrtStream stream) {
  return Run(Op::kRotaryPositionEmbeddingGrad, workspace, workspaceSize,
             executor, stream);
}
