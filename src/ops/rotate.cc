// Forward rotation.

#include "ops/check.h"
#include "ops/once.h"
#include "ropewalk/ops.h"

namespace ropewalk {
namespace {

Status AddOperand(Problem& p, Slot in, Slot out) {
  return FirstRefusal([&] { return CheckFloat(p, in); },
                      [&] { return CheckSameDtype(p, out, in); },
                      [&] { return CheckSameShape(p, out, in); },
                      [&] { return CheckTableDtype(p, kCos, in); });
}

// Axes on which cos is not broadcast have x's size, so the second operand
// needs no check against the first, only against cos.
Status CheckSecond(Problem& p, const RotateTensors& t) {
  if (!t.x2.has_value() && !t.y2.has_value()) return Status();
  if (!t.x2.has_value() || !t.y2.has_value()) {
    return Refuse(Code::kNullPointer, p, t.x2.has_value() ? "y2" : "x2",
                  "x2 and y2 go together, but this one is missing");
  }
  p.operands = 2;
  return FirstRefusal([&] { return AddTensor(p, kIn1, "x2", *t.x2, false); },
                      [&] { return AddTensor(p, kOut1, "y2", *t.y2, true); },
                      [&] { return AddOperand(p, kIn1, kOut1); },
                      [&] { return CheckSecondOperand(p); });
}

}  // namespace

Result<Plan> MakeRotatePlan(const RotateOptions& options,
                            const RotateTensors& t) {
  Problem p;
  p.op = "rotate";
  p.kind = OpKind::kRotate;
  p.pairing = options.pairing;
  Status status = FirstRefusal(
      [&] { return CheckPairing(p); },
      [&] { return AddTensor(p, kIn0, "x", t.x, false); },
      [&] { return AddTensor(p, kCos, "cos", t.cos, false); },
      [&] { return AddTensor(p, kSin, "sin", t.sin, false); },
      [&] { return AddTensor(p, kOut0, "y", t.y, true); },
      [&] { return CheckFloat(p, kCos); },
      [&] { return CheckSameDtype(p, kSin, kCos); },
      [&] { return AddOperand(p, kIn0, kOut0); },
      [&] { return CheckSameShape(p, kSin, kCos); },
      [&] { return SetSlice(p, options); }, [&] { return CheckTable(p, kIn0); },
      [&] { return CheckSecond(p, t); });
  if (!status.ok()) return status;
  return MakePlan(p);
}

Status Rotate(const RotateOptions& options, const ConstTensor& x,
              const ConstTensor& cos, const ConstTensor& sin, const Tensor& y,
              Executor* executor) {
  RotateTensors tensors = {x.desc, cos.desc, sin.desc, y.desc, {}, {}};
  return RunOnce(MakeRotatePlan(options, tensors),
                 RotateBuffers{x.data, cos.data, sin.data, y.data}, executor);
}

}  // namespace ropewalk
