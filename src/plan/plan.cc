// A plan from a problem, and the checks that only addresses allow.

#include "ropewalk/plan.h"

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "core/dtype.h"
#include "plan/impl.h"
#include "plan/lower.h"
#include "plan/table.h"

namespace ropewalk {
namespace {

std::string Prefix(const Problem& p, int slot) {
  return std::string("[") + p.op + "] " + p.names[slot] + ": ";
}

// Takes the addresses of the tensors that the plan has.
class AddressSetter {
 public:
  explicit AddressSetter(const Plan::Impl* plan) : plan_(plan) {}
  void operator()(Slot slot, const void* p) {
    if (plan_ == nullptr || !plan_->problem.present[slot]) return;
    addresses_.at[slot] = static_cast<const std::byte*>(p);
  }
  const Addresses& addresses() const { return addresses_; }

 private:
  const Plan::Impl* plan_;
  Addresses addresses_;
};

Status CheckPointers(const Plan::Impl& plan, const Addresses& a) {
  for (int i = 0; i < plan.slots_with_data; ++i) {
    const int slot = plan.with_data[i];
    if (a.at[slot] != nullptr) continue;
    return Status(Code::kNullPointer,
                  Prefix(plan.problem, slot) + "needs data but is null");
  }
  return Status();
}

// An output may lie exactly on what it is computed from, row by row.
bool MayCoincide(int out, int in) {
  return (out == kOut0 && (in == kIn0 || in == kX0)) ||
         (out == kOut1 && (in == kIn1 || in == kX1));
}

// Addresses of the bytes that a tensor may touch.
struct Range {
  uintptr_t begin, end;
};

Range RangeOf(const Problem& p, const Addresses& a, int slot) {
  const auto base = reinterpret_cast<uintptr_t>(a.at[slot]);
  return {base + static_cast<uintptr_t>(p.extent[slot].lowest),
          base + static_cast<uintptr_t>(p.extent[slot].end)};
}

Status CheckOverlap(const Problem& p, const Addresses& a, int out, int other) {
  const bool may_coincide = MayCoincide(out, other);
  if (may_coincide && a.at[out] == a.at[other] &&
      SameLayout(p.desc[out], p.desc[other])) {
    return Status();
  }
  const Answer answer =
      Overlaps(p.desc[out], a.at[out], p.desc[other], a.at[other]);
  if (answer == Answer::kNo) return Status();
  const std::string need =
      Prefix(p, out) + "must not overlap " + p.names[other];
  return Status(
      Code::kOverlap,
      need + (answer == Answer::kUnknown
                  ? ", which could not be decided for these strides"
              : may_coincide ? " unless they coincide exactly, but does"
                             : ", but does"));
}

Status CheckOverlaps(const Plan::Impl& plan, const Addresses& a) {
  Range range[kSlots];
  for (int i = 0; i < plan.slots_with_data; ++i) {
    const int slot = plan.with_data[i];
    range[slot] = RangeOf(plan.problem, a, slot);
  }
  for (int i = 0; i < plan.apart_count; ++i) {
    const SlotPair& pair = plan.apart[i];
    const Range& out = range[pair.out];
    const Range& other = range[pair.other];
    if (out.end <= other.begin || other.end <= out.begin) continue;
    Status status = CheckOverlap(plan.problem, a, pair.out, pair.other);
    if (!status.ok()) return status;
  }
  return Status();
}

Status CheckPositions(const Problem& p, const Addresses& a) {
  BadPosition bad;
  if (!p.cached || !FindBadPosition(p, a.at[kPositions], &bad)) return Status();
  const std::string index =
      p.desc[kPositions].rank == 2
          ? std::to_string(bad.row) + ", " + std::to_string(bad.token)
          : std::to_string(bad.token);
  return Status(Code::kPosition, Prefix(p, kPositions) +
                                     "must be at least 0 and below the " +
                                     std::to_string(p.desc[kCache].shape[0]) +
                                     " rows of cache, but positions[" + index +
                                     "] is " + std::to_string(bad.value));
}

Status CheckWorkspace(const Plan::Impl& plan, const RunOptions& options) {
  const bool aligned =
      reinterpret_cast<uintptr_t>(options.workspace.data()) % 64 == 0;
  if (options.workspace.size() >= plan.workspace &&
      (plan.workspace == 0 || aligned)) {
    return Status();
  }
  return Status(Code::kOutOfMemory,
                std::string("[") + plan.problem.op + "] workspace: must be " +
                    std::to_string(plan.workspace) +
                    " bytes aligned to 64, but is " +
                    std::to_string(options.workspace.size()) +
                    (aligned ? " bytes" : " bytes not aligned"));
}

Status RunChecked(const Plan::Impl* plan, OpKind kind, const char* buffers,
                  const Addresses& addresses,
                  const RunOptions& options) noexcept try {
  if (plan == nullptr) {
    return Status(Code::kOption, "[plan] Run: the plan was moved from");
  }
  const Problem& p = plan->problem;
  if (p.kind != kind) {
    return Status(Code::kOption, std::string("[") + p.op +
                                     "] buffers: must be those of " + p.op +
                                     ", but are " + buffers);
  }
  Status status = CheckPointers(*plan, addresses);
  if (status.ok()) status = CheckWorkspace(*plan, options);
  if (status.ok()) status = CheckOverlaps(*plan, addresses);
  if (status.ok()) status = CheckPositions(p, addresses);
  if (status.ok()) status = Execute(*plan, addresses, options);
  return status;
} catch (...) {
  return Status(Code::kOutOfMemory, std::string());  // for the text itself
}

// Lists what runs have to check, so that they need not look for it.
void ListChecks(Plan::Impl& plan) {
  const Problem& p = plan.problem;
  for (int slot = 0; slot < kSlots; ++slot) {
    if (!p.present[slot] || p.extent[slot].empty()) continue;
    plan.with_data[plan.slots_with_data++] = static_cast<uint8_t>(slot);
  }
  const auto is_output = [](int slot) {
    return slot == kOut0 || slot == kOut1 || slot == kDcos || slot == kDsin;
  };
  for (int i = 0; i < plan.slots_with_data; ++i) {
    const uint8_t out = plan.with_data[i];
    if (!is_output(out)) continue;
    for (int k = 0; k < plan.slots_with_data; ++k) {
      const uint8_t other = plan.with_data[k];
      if (is_output(other) && other <= out) continue;
      plan.apart[plan.apart_count++] = {out, other};
    }
  }
}

}  // namespace

Result<Plan> MakePlan(const Problem& problem) {
  auto* impl = new (std::nothrow) Plan::Impl();
  if (impl == nullptr) {
    return Status(Code::kOutOfMemory, "plan: no memory");
  }
  impl->problem = problem;
  ListChecks(*impl);
  Lower(*impl);
  return Plan(std::unique_ptr<const Plan::Impl>(impl));
}

Plan::Plan(std::unique_ptr<const Impl> impl) noexcept
    : impl_(std::move(impl)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

size_t Plan::workspace_bytes() const noexcept {
  return impl_ == nullptr ? 0 : impl_->workspace;
}

Status Plan::Run(const RotateBuffers& b,
                 const RunOptions& options) const noexcept {
  AddressSetter set(impl_.get());
  set(kIn0, b.x);
  set(kIn1, b.x2);
  set(kCos, b.cos);
  set(kSin, b.sin);
  set(kOut0, b.y);
  set(kOut1, b.y2);
  return RunChecked(impl_.get(), OpKind::kRotate, "RotateBuffers",
                    set.addresses(), options);
}

Status Plan::Run(const RotateBackwardBuffers& b,
                 const RunOptions& options) const noexcept {
  AddressSetter set(impl_.get());
  set(kIn0, b.dy);
  set(kIn1, b.dy2);
  set(kX0, b.x);
  set(kX1, b.x2);
  set(kCos, b.cos);
  set(kSin, b.sin);
  set(kOut0, b.dx);
  set(kOut1, b.dx2);
  set(kDcos, b.dcos);
  set(kDsin, b.dsin);
  return RunChecked(impl_.get(), OpKind::kRotateBackward,
                    "RotateBackwardBuffers", set.addresses(), options);
}

Status Plan::Run(const RotateCachedBuffers& b,
                 const RunOptions& options) const noexcept {
  AddressSetter set(impl_.get());
  set(kPositions, b.positions);
  set(kCache, b.cache);
  set(kIn0, b.query);
  set(kOut0, b.query_out);
  set(kIn1, b.key);
  set(kOut1, b.key_out);
  return RunChecked(impl_.get(), OpKind::kRotateCached, "RotateCachedBuffers",
                    set.addresses(), options);
}

std::string Plan::Describe() const {
  if (impl_ == nullptr) return "moved-from plan";
  const Plan::Impl& plan = *impl_;
  const Problem& p = plan.problem;
  std::string text = p.op;
  text += std::string(" ") + PairingName(p.pairing);
  if (p.direction == Direction::kBackward) text += " backward";
  for (int i = 0; i < p.operands; ++i) {
    const OperandPlan& op = plan.operand[i];
    text += std::string(" ") + DtypeName(op.dtype) + "[";
    const TensorDesc& in = p.desc[kIn0 + i];
    for (int axis = 0; axis < in.rank; ++axis) {
      text += (axis > 0 ? "x" : "") + std::to_string(in.shape[axis]);
    }
    text += op.strided ? "] strided" : "]";
  }
  if (p.width < plan.operand[0].row) {
    text += " slice=" + std::to_string(p.start) + ":" +
            std::to_string(p.start + p.width);
  }
  text += std::string(" table=") + DtypeName(plan.table_dtype);
  if (p.half_width) text += " (half width)";
  if (plan.rotate && p.kind == OpKind::kRotateBackward) text += " dx";
  if (plan.sums) text += " dcos dsin";
  text += std::string(" kernel=") + plan.operand[0].kernel->target;
  text += " units=" + std::to_string(plan.kept_units * plan.chunks);
  text += " bytes=" + std::to_string(plan.bytes);
  if (plan.workspace > 0)
    text += " workspace=" + std::to_string(plan.workspace);
  return text;
}

}  // namespace ropewalk
