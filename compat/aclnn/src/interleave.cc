// InterleaveRope.

#include "aclnnop/aclnn_interleave_rope.h"
#include "call.h"
#include "ropewalk/ops.h"

namespace ropewalk_aclnn {
namespace {

struct Arguments {
  const aclTensor *x, *cos, *sin, *out;
};

enum { kX, kCos, kSin, kOut };

aclnnStatus CheckShapes(Call& call) {
  RW_TRY(call.CheckSizes());
  if (call.rank(kX) != 4) RW_TRY(call.RefuseShape(Rule::kRank, kX));
  RW_TRY(call.CheckBroadcast(kCos, kX));
  RW_TRY(call.CheckSameShape(kSin, kCos));
  RW_TRY(call.CheckSameShape(kOut, kX));
  if (call.width(kX) != 64) RW_TRY(call.RefuseShape(Rule::kWidth, kX));
  RW_TRY(call.CheckEven(kX, call.width(kX), 3));
  if (!call.Holds(Rule::kTablesBnsd)) return 0;
  if (call.size(kCos, 0) == call.size(kX, 0) && call.size(kCos, 1) == 1 &&
      call.width(kCos) == 64) {
    return 0;
  }
  return call.RefuseShape(Rule::kTablesBnsd, kCos, kX);
}

ropewalk::Status Launch(const Executor& executor, void* const* address,
                        const ropewalk::RunOptions& options) {
  ropewalk::RotateBuffers buffers;
  buffers.x = address[kX];
  buffers.cos = address[kCos];
  buffers.sin = address[kSin];
  buffers.y = address[kOut];
  return executor.plan->Run(buffers, options);
}

aclnnStatus Plan(Call& call, const void* arguments) {
  const Arguments& a = *static_cast<const Arguments*>(arguments);
  RW_TRY(call.Load({a.x, a.cos, a.sin, a.out}));
  RW_TRY(call.CheckSameDtypes({kX, kCos, kSin, kOut}));
  RW_TRY(CheckShapes(call));
  return call.Take(
      ropewalk::MakeRotatePlan({ropewalk::Pairing::kInterleaveHalf, {}},
                               {call.desc(kX),
                                call.desc(kCos),
                                call.desc(kSin),
                                call.desc(kOut),
                                {},
                                {}}),
      Launch);
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclnnStatus aclnnInterleaveRopeGetWorkspaceSize(
    const aclTensor* x, const aclTensor* cos, const aclTensor* sin,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const Arguments arguments = {x, cos, sin, out};
  return PhaseOne(Op::kInterleaveRope, Plan, &arguments, workspaceSize,
                  executor);
}

aclnnStatus aclnnInterleaveRope(void* workspace, uint64_t workspaceSize,
                                aclOpExecutor* executor, aclrtStream stream) {
  return Run(Op::kInterleaveRope, workspace, workspaceSize, executor, stream);
}
