// InplacePartialRotaryMul and its Grad.

#include "aclnnop/aclnn_inplace_partial_rotary_mul.h"
#include "aclnnop/aclnn_inplace_partial_rotary_mul_grad.h"
#include "call.h"
#include "ropewalk/ops.h"

namespace ropewalk_aclnn {
namespace {

struct Arguments {
  const aclTensor *x, *cos, *sin;
  int64_t mode;
  const aclIntArray* slice;
};

enum { kX, kCos, kSin };

struct Slice {
  int64_t start = 0;
  int64_t end = 0;
  int64_t width() const { return end - start; }
};

aclnnStatus CheckTypes(Call& call) {
  RW_TRY(call.CheckDtypes({kX, kCos, kSin}));
  if (call.dtype(kCos) != call.dtype(kX) && call.dtype(kCos) != ACL_FLOAT) {
    RW_TRY(call.Refuse(Rule::kDtypeTable, "cos", "is %s, and xRef is %s",
                       TypeText(call.dtype(kCos)).c_str(),
                       TypeText(call.dtype(kX)).c_str()));
  }
  if (call.dtype(kSin) == call.dtype(kCos)) return 0;
  return call.Refuse(Rule::kDtypePair, "sin", "is %s, and cos is %s",
                     TypeText(call.dtype(kSin)).c_str(),
                     TypeText(call.dtype(kCos)).c_str());
}

// Null is the empty slice. An empty list is the whole row in the forward.
aclnnStatus ReadSlice(Call& call, const aclIntArray* list, Slice* slice) {
  if (list == nullptr) return 0;
  const std::vector<int64_t>* numbers = FindIntArray(list);
  if (numbers == nullptr) {
    return call.Refuse(Rule::kDescriptor, "partialSlice",
                       "%p is destroyed, or was never created",
                       static_cast<const void*>(list));
  }
  const bool whole =
      numbers->empty() && call.op() == Op::kInplacePartialRotaryMul;
  if (numbers->size() != 2 && !whole) {
    return call.Refuse(Rule::kSliceSize, "partialSlice", "holds %zu",
                       numbers->size());
  }
  const int64_t d = call.width(kX);
  *slice = whole ? Slice{0, d} : Slice{(*numbers)[0], (*numbers)[1]};
  if (slice->start >= 0 && slice->start <= slice->end && slice->end <= d) {
    return 0;
  }
  return call.Refuse(
      Rule::kSlice, "partialSlice", "is [%lld, %lld), and D is %lld",
      static_cast<long long>(slice->start), static_cast<long long>(slice->end),
      static_cast<long long>(d));
}

aclnnStatus CheckShapes(Call& call, const Slice& slice, int mode) {
  if (call.rank(kX) != 4) RW_TRY(call.RefuseShape(Rule::kRank, kX));
  RW_TRY(call.CheckBroadcast(kCos, kX));
  RW_TRY(call.CheckSameShape(kSin, kCos));
  const int64_t d = call.width(kX);
  if (d > call.Limit(Rule::kWidthMax)) {
    RW_TRY(call.RefuseShape(Rule::kWidthMax, kX));
  }
  if (d % 2 != 0) RW_TRY(call.RefuseShape(Rule::kRowEven, kX));
  if (call.width(kCos) == d && slice.width() != d) {
    RW_TRY(call.Refuse(Rule::kSliceWidth, "cos",
                       "it is %lld, that of the whole row, and end - start is "
                       "%lld",
                       static_cast<long long>(d),
                       static_cast<long long>(slice.width())));
  }
  RW_TRY(call.CheckTableWidth(kCos, kX, slice.width(), Rule::kSliceWidth,
                              Rule::kSliceHalf));
  RW_TRY(call.CheckEven(kX, slice.width(), mode));
  if (call.Holds(Rule::kTablesPartial)) {
    const bool heads = call.size(kCos, 2) == 1;
    const bool batch = call.size(kCos, 0) == call.size(kX, 0);
    const bool tokens =
        call.size(kCos, 1) == 1 || call.size(kCos, 1) == call.size(kX, 1);
    if (!heads || !batch || !tokens) {
      RW_TRY(call.RefuseShape(Rule::kTablesPartial, kCos, kX));
    }
  }
  return call.CheckContiguous(Rule::kContiguousPartial, {kX, kCos, kSin});
}

aclnnStatus Check(Call& call, const Arguments& a, int mode, Slice* slice) {
  RW_TRY(call.Load({a.x, a.cos, a.sin}));
  RW_TRY(CheckTypes(call));
  const bool grad = call.op() == Op::kInplacePartialRotaryMulGrad;
  const char* name = grad ? "rotaryMode" : "rotary_mode";
  if (mode < 0 || mode > 3) {
    RW_TRY(call.Refuse(Rule::kMode, name, "is %d", mode));
  }
  if (mode != 1)
    RW_TRY(call.Refuse(Rule::kModeInterleave, name, "is %d", mode));
  RW_TRY(call.CheckSizes());
  if (call.rank(kX) == 0) return call.RefuseShape(Rule::kRankAny, kX);
  RW_TRY(ReadSlice(call, a.slice, slice));
  if (slice->width() == 0) return 0;
  return CheckShapes(call, *slice, mode);
}

// x's columns of the slice, as a tensor of its own.
ropewalk::TensorDesc Columns(Call& call, const Slice& slice) {
  ropewalk::TensorDesc columns = call.desc(kX);
  const int last = columns.rank - 1;
  columns.shape[last] = slice.width();
  int64_t& offset = call.executor().bindings[kX].offset;
  offset = static_cast<int64_t>(  // wraps where strides are absurd
      static_cast<uint64_t>(offset) +
      static_cast<uint64_t>(slice.start) *
          static_cast<uint64_t>(columns.strides[last]) *
          ElementSize(call.dtype(kX)));
  return columns;
}

ropewalk::Status LaunchForward(const Executor& executor, void* const* address,
                               const ropewalk::RunOptions& options) {
  ropewalk::RotateBuffers buffers;
  buffers.x = address[kX];
  buffers.cos = address[kCos];
  buffers.sin = address[kSin];
  buffers.y = address[kX];
  return executor.plan->Run(buffers, options);
}

ropewalk::Status LaunchBackward(const Executor& executor, void* const* address,
                                const ropewalk::RunOptions& options) {
  ropewalk::RotateBackwardBuffers buffers;
  buffers.dy = address[kX];
  buffers.cos = address[kCos];
  buffers.sin = address[kSin];
  buffers.dx = address[kX];
  return executor.plan->Run(buffers, options);
}

aclnnStatus Plan(Call& call, const void* arguments) {
  const Arguments& a = *static_cast<const Arguments*>(arguments);
  const int mode = static_cast<int32_t>(a.mode);
  Slice slice;
  RW_TRY(Check(call, a, mode, &slice));
  if (slice.width() == 0) return call.Nothing();
  const ropewalk::TensorDesc x = Columns(call, slice);
  const ropewalk::RotateOptions options = {static_cast<ropewalk::Pairing>(mode),
                                           {}};
  if (call.op() == Op::kInplacePartialRotaryMul) {
    return call.Take(
        ropewalk::MakeRotatePlan(
            options, {x, call.desc(kCos), call.desc(kSin), x, {}, {}}),
        LaunchForward);
  }
  ropewalk::RotateBackwardTensors tensors;
  tensors.dy = x;
  tensors.cos = call.desc(kCos);
  tensors.sin = call.desc(kSin);
  tensors.dx = x;
  return call.Take(ropewalk::MakeRotateBackwardPlan(options, tensors),
                   LaunchBackward);
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclnnStatus aclnnInplacePartialRotaryMulGetWorkspaceSize(
    const aclTensor* xRef, const aclTensor* cos, const aclTensor* sin,
    int64_t rotary_mode, const aclIntArray* partialSlice,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  const Arguments arguments = {xRef, cos, sin, rotary_mode, partialSlice};
  return PhaseOne(Op::kInplacePartialRotaryMul, Plan, &arguments, workspaceSize,
                  executor);
}

aclnnStatus aclnnInplacePartialRotaryMul(void* workspace,
                                         uint64_t workspaceSize,
                                         aclOpExecutor* executor,
                                         aclrtStream stream) {
  return Run(Op::kInplacePartialRotaryMul, workspace, workspaceSize, executor,
             stream);
}

aclnnStatus aclnnInplacePartialRotaryMulGradGetWorkspaceSize(
    aclTensor* dyRef, const aclTensor* cos, const aclTensor* sin,
    int64_t rotaryMode, const aclIntArray* partialSlice,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  const Arguments arguments = {dyRef, cos, sin, rotaryMode, partialSlice};
  return PhaseOne(Op::kInplacePartialRotaryMulGrad, Plan, &arguments,
                  workspaceSize, executor);
}

aclnnStatus aclnnInplacePartialRotaryMulGrad(void* workspace,
                                             uint64_t workspaceSize,
                                             aclOpExecutor* executor,
                                             aclrtStream stream) {
  return Run(Op::kInplacePartialRotaryMulGrad, workspace, workspaceSize,
             executor, stream);
}
