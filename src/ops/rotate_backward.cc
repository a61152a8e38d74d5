// Gradients of the forward rotation.

#include "ops/check.h"
#include "ops/once.h"
#include "ropewalk/ops.h"

namespace ropewalk {
namespace {

using Desc = std::optional<TensorDesc>;

// dcos and dsin go together and need x; something must be wanted.
Status CheckWanted(const Problem& p, const RotateBackwardTensors& t) {
  if (t.dcos.has_value() != t.dsin.has_value()) {
    return Refuse(Code::kNullPointer, p, t.dcos.has_value() ? "dsin" : "dcos",
                  "dcos and dsin go together, but this one is missing");
  }
  if (t.dcos.has_value() && !t.x.has_value()) {
    return Refuse(Code::kNullPointer, p, "x",
                  "is needed for dcos and dsin, but is missing");
  }
  if (!t.dx.has_value() && !t.dcos.has_value()) {
    return Refuse(Code::kNullPointer, p, "dx",
                  "dx, or dcos and dsin, must be given, but all are missing");
  }
  if (!t.dy2.has_value()) {
    if (!t.x2.has_value() && !t.dx2.has_value()) return Status();
    return Refuse(Code::kNullPointer, p, "dy2",
                  "is needed with x2 or dx2, but is missing");
  }
  if (t.x2.has_value() != t.x.has_value()) {
    return Refuse(Code::kNullPointer, p, "x2",
                  "must be given if and only if x is given");
  }
  if (t.dx2.has_value() != t.dx.has_value()) {
    return Refuse(Code::kNullPointer, p, "dx2",
                  "must be given if and only if dx is given");
  }
  return Status();
}

struct OperandDescs {
  const TensorDesc& dy;
  const Desc& x;
  const Desc& dx;
  const char *dy_name, *x_name, *dx_name;
  int index;
};

// x is looked at only if dcos and dsin are wanted.
Status AddOperand(Problem& p, const OperandDescs& o, bool sums) {
  const auto dy = static_cast<Slot>(kIn0 + o.index);
  const auto x = static_cast<Slot>(kX0 + o.index);
  const auto dx = static_cast<Slot>(kOut0 + o.index);
  const auto same = [&](Slot slot) {
    return FirstRefusal([&] { return CheckSameDtype(p, slot, dy); },
                        [&] { return CheckSameShape(p, slot, dy); });
  };
  return FirstRefusal(
      [&] { return AddTensor(p, dy, o.dy_name, o.dy, false); },
      [&] { return CheckFloat(p, dy); },
      [&] { return CheckTableDtype(p, kCos, dy); },
      [&] { return sums ? AddTensor(p, x, o.x_name, *o.x, false) : Status(); },
      [&] { return sums ? same(x) : Status(); },
      [&] {
        return o.dx.has_value() ? AddTensor(p, dx, o.dx_name, *o.dx, true)
                                : Status();
      },
      [&] { return o.dx.has_value() ? same(dx) : Status(); });
}

Status AddSums(Problem& p, const RotateBackwardTensors& t) {
  if (!t.dcos.has_value()) return Status();
  return FirstRefusal(
      [&] { return AddTensor(p, kDcos, "dcos", *t.dcos, true); },
      [&] { return CheckSameDtype(p, kDcos, kCos); },
      [&] { return CheckSameShape(p, kDcos, kCos); },
      [&] { return AddTensor(p, kDsin, "dsin", *t.dsin, true); },
      [&] { return CheckSameDtype(p, kDsin, kCos); },
      [&] { return CheckSameShape(p, kDsin, kCos); });
}

Status AddSecond(Problem& p, const RotateBackwardTensors& t) {
  if (!t.dy2.has_value()) return Status();
  p.operands = 2;
  return FirstRefusal(
      [&] {
        return AddOperand(p, {*t.dy2, t.x2, t.dx2, "dy2", "x2", "dx2", 1},
                          t.dcos.has_value());
      },
      [&] { return CheckSecondOperand(p); });
}

}  // namespace

Result<Plan> MakeRotateBackwardPlan(const RotateOptions& options,
                                    const RotateBackwardTensors& t) {
  Problem p;
  p.op = "rotate_backward";
  p.kind = OpKind::kRotateBackward;
  p.pairing = options.pairing;
  p.direction = Direction::kBackward;
  Status status = FirstRefusal(
      [&] { return CheckPairing(p); }, [&] { return CheckWanted(p, t); },
      [&] { return AddTensor(p, kCos, "cos", t.cos, false); },
      [&] { return AddTensor(p, kSin, "sin", t.sin, false); },
      [&] { return CheckFloat(p, kCos); },
      [&] { return CheckSameDtype(p, kSin, kCos); },
      [&] {
        return AddOperand(p, {t.dy, t.x, t.dx, "dy", "x", "dx", 0},
                          t.dcos.has_value());
      },
      [&] { return CheckSameShape(p, kSin, kCos); },
      [&] { return SetSlice(p, options); }, [&] { return CheckTable(p, kIn0); },
      [&] { return AddSums(p, t); }, [&] { return AddSecond(p, t); });
  if (!status.ok()) return status;
  return MakePlan(p);
}

Status RotateBackward(const RotateOptions& options,
                      const RotateBackwardCall& call, Executor* executor) {
  RotateBackwardTensors tensors;
  RotateBackwardBuffers buffers;
  tensors.dy = call.dy.desc;
  tensors.cos = call.cos.desc;
  tensors.sin = call.sin.desc;
  buffers.dy = call.dy.data;
  buffers.cos = call.cos.data;
  buffers.sin = call.sin.data;
  const auto add = [](const auto* tensor, Desc& desc, auto& data) {
    if (tensor == nullptr) return;
    desc = tensor->desc;
    data = tensor->data;
  };
  add(call.x, tensors.x, buffers.x);
  add(call.dx, tensors.dx, buffers.dx);
  add(call.dcos, tensors.dcos, buffers.dcos);
  add(call.dsin, tensors.dsin, buffers.dsin);
  return RunOnce(MakeRotateBackwardPlan(options, tensors), buffers, executor);
}

}  // namespace ropewalk
