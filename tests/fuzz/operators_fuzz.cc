// Any call of any operator: it is refused, with a message, and nothing is
// written; or the memory is, to the byte, what the reference makes of it.

#include <algorithm>
#include <cstdint>
#include <memory>

#include "fuzz/placed.h"
#include "kernels/reference.h"
#include "support/cases.h"
#include "support/executors.h"
#include "support/run.h"

namespace ropewalk::test {
namespace {

Executor* AnyExecutor(Input& input) {
  static ReverseExecutor reverse(5);
  static const std::unique_ptr<Executor> pool = MakePool(2);
  switch (input.Int(0, 5)) {
    case 0:
      return &reverse;
    case 1:
      return pool.get();
    case 2:
      return nullptr;
    default:
      return &InlineExecutor();
  }
}

std::string AnyTarget(Input& input) {
  static const std::vector<std::string> all = UsableTargets();
  return input.Pick(all);
}

void CheckRefusal(const Status& status, const std::string& text) {
  const std::string& message = status.message();
  RW_MUST(status.code() != Code::kOk, text);
  RW_MUST(message.size() > 3 && message[0] == '[', text + "\n" + message);
  RW_MUST(message.find('\n') == std::string::npos, text + "\n" + message);
}

// An output that is said to overlap itself does, unless that is not known.
void CheckOverlapsItself(const OperatorCase& c, const Status& status) {
  if (status.code() != Code::kOverlap || !IsSmall(c) ||
      status.message().find("not be decided") != std::string::npos) {
    return;
  }
  for (int slot = kOut0; slot < kTensorSlots; ++slot) {
    if (!c.present[slot]) continue;
    std::vector<int64_t> offsets;
    ForEachElement(c.desc[slot], [&](int64_t o) { offsets.push_back(o); });
    std::sort(offsets.begin(), offsets.end());
    if (std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end()) {
      return;
    }
  }
  Broken("no output overlaps itself\n" + status.message() + "\n" + ToString(c));
}

bool HasSize(const OperatorCase& c) {
  for (int slot = 0; slot < kTensorSlots; ++slot) {
    if (c.present[slot] && !IsEmpty(c.desc[slot])) return true;
  }
  return false;
}

// The case with those tensors present that the operator looks at.
OperatorCase Used(const OperatorCase& c) {
  OperatorCase used = c;
  used.present[kIn0] = used.present[kCos] = true;
  used.present[kSin] = c.op != Operator::kCached;
  used.present[kPositions] = c.op == Operator::kCached;
  if (c.op != Operator::kBackward) {
    used.present[kOut0] = true;
    for (const int slot : {kDcos, kDsin}) used.present[slot] = false;
  }
  // x is for sums only.
  if (!used.sums()) used.present[kX0] = used.present[kX1] = false;
  return used;
}

class OneRun {
 public:
  OneRun(const OperatorCase& c, Input& input)
      : case_(c),
        data_(static_cast<Data>(input.Int(0, 3))),
        placed_(c, data_, input),
        text_(ToString(c) + "\n  data " +
              std::to_string(static_cast<int>(data_)) + " " + placed_.Text()) {}

  void Check(const Plan& plan, Input& input) {
    if (input.OneIn(16)) placed_.Drop(static_cast<int>(input.Int(0, kDsin)));
    const size_t need = plan.workspace_bytes();
    const bool small = need > 0 && input.OneIn(8);
    const Memory workspace(small ? need - 1 : need, Placement::kPadded, 64);
    Executor* executor = AnyExecutor(input);
    const Status status = Run(case_, plan, placed_.addresses(),
                              {executor, {workspace.data(), workspace.size()}});
    RW_MUST(workspace.PaddingIntact(), text_);
    Code expected = placed_.Expected();
    if (small && expected != Code::kNullPointer) expected = Code::kOutOfMemory;
    if (status.ok()) {
      RW_MUST(expected == Code::kOk, text_);
      Compare();
      return;
    }
    CheckRefusal(status, text_);
    RW_MUST(placed_.Untouched(), text_ + "\n" + status.message());
    const bool unknown =
        status.code() == Code::kOverlap &&
        status.message().find("not be decided") != std::string::npos;
    RW_MUST(status.code() == expected || unknown,
            text_ + "\n" + status.message());
  }

 private:
  void Compare() {
    for (int i = 0; i < 2; ++i) {
      if (case_.present[kOut0 + i]) CompareOutput(i);
    }
    if (case_.sums()) CompareSums();
    const std::string difference = placed_.Difference();
    RW_MUST(difference.empty(), text_ + "\n" + difference);
  }

  void CompareOutput(int i) {
    const ConstTensor in = placed_.Before(kIn0 + i);
    const Tensor want = placed_.Want(kOut0 + i);
    if (IsEmpty(in.desc)) return;
    const ConstTensor cos = placed_.Before(kCos);
    if (case_.op == Operator::kCached) {
      RotateCachedOptions options = case_.cached;
      options.sections = case_.sections;
      reference::RotateCached(options, placed_.Before(kPositions), cos, in,
                              want);
      // Rows may hold many heads.
      placed_.AcceptNan(kOut0 + i, 0, INT64_MAX);
      return;
    }
    const ConstTensor sin = placed_.Before(kSin);
    if (case_.op == Operator::kRotate) {
      reference::Rotate(case_.rotate, in, cos, sin, want);
    } else {
      reference::RotateBackward(case_.rotate, in, cos, sin, want);
    }
    const int64_t row = in.desc.shape[in.desc.rank - 1];
    const Slice slice = case_.rotate.slice.value_or(Slice{0, row});
    placed_.AcceptNan(kOut0 + i, slice.start, slice.end);
  }

  void CompareSums() {
    const ConstTensor dcos{case_.desc[kDcos], placed_.address(kDcos)};
    const ConstTensor dsin{case_.desc[kDsin], placed_.address(kDsin)};
    const bool finite = data_ == Data::kNormal || data_ == Data::kUnit;
    if (finite && !IsEmpty(case_.desc[kCos])) {
      reference::TableGradients exact;
      for (int i = 0; i < (case_.present[kIn1] ? 2 : 1); ++i) {
        reference::AddTableGradients(case_.rotate, placed_.Before(kIn0 + i),
                                     placed_.Before(kX0 + i), case_.desc[kCos],
                                     &exact);
      }
      InRangeOnly(dcos, exact.dcos_abs, &exact.dcos);
      InRangeOnly(dsin, exact.dsin_abs, &exact.dsin);
      const auto close = WithinBound(dcos, exact.dcos, exact.dcos_abs);
      RW_MUST(close, text_ + "\ndcos " + close.message());
      const auto too = WithinBound(dsin, exact.dsin, exact.dsin_abs);
      RW_MUST(too, text_ + "\ndsin " + too.message());
    }
    SamePlain(dcos, dsin);
    placed_.Accept(kDcos);
    placed_.Accept(kDsin);
  }

  // The bound is promised where sums do not leave the range of f32.
  static void InRangeOnly(const ConstTensor& got,
                          const std::vector<double>& abs,
                          std::vector<double>* exact) {
    for (size_t i = 0; i < exact->size(); ++i) {
      if (0x1p-100 <= abs[i] && abs[i] < 0x1p127) continue;
      (*exact)[i] = reference::Decode(
          got.desc.dtype, ElementAddress(got, static_cast<int64_t>(i)));
    }
  }

  // The same bits from contiguous tensors, without dx, on the best target.
  void SamePlain(const ConstTensor& dcos, const ConstTensor& dsin) {
    std::optional<TestTensor> packed[kTensorSlots];
    ConstTensor in[kTensorSlots];
    for (int slot = 0; slot < kOut0; ++slot) {
      if (!case_.present[slot]) continue;
      packed[slot].emplace(Packed(placed_.Before(slot)));
      in[slot] = packed[slot]->in();
    }
    TestTensor want_dcos(packed[kCos]->desc()), want_dsin(packed[kCos]->desc());
    const Tensor dcos_out = want_dcos.out(), dsin_out = want_dsin.out();
    BackwardRun run{case_.rotate, in[kIn0], in[kCos], in[kSin]};
    run.x = &in[kX0];
    run.dcos = &dcos_out;
    run.dsin = &dsin_out;
    run.executor = &InlineExecutor();
    if (case_.present[kIn1]) {
      run.dy2 = &in[kIn1];
      run.x2 = &in[kX1];
    }
    (void)ForceTarget("");
    const Status status = Execute(run);
    RW_MUST(status.ok(), text_ + "\n" + status.message());
    const auto same = SameElements(dcos, want_dcos.in());
    RW_MUST(same, text_ + "\ndcos " + same.message());
    const auto too = SameElements(dsin, want_dsin.in());
    RW_MUST(too, text_ + "\ndsin " + too.message());
  }

  const OperatorCase& case_;
  Data data_;
  Placed placed_;
  std::string text_;
};

void TestOne(Input& input) {
  const OperatorCase c = MakeCase(input);
  (void)ForceTarget(AnyTarget(input));
  const Result<Plan> plan = MakePlan(c);
  if (!plan.ok()) {
    CheckRefusal(plan.status(), ToString(c));
    CheckOverlapsItself(Used(c), plan.status());
    RW_MUST(c.spoilt, ToString(c) + "\n" + plan.status().message());
    return;
  }
  RW_MUST(!plan->Describe().empty(), ToString(c));
  const OperatorCase used = Used(c);
  for (int slot = 0; slot < kTensorSlots; ++slot) {
    RW_MUST(!used.present[slot] || Fits63Bits(used.desc[slot]), ToString(c));
  }
  if (!IsSmall(used)) {
    // Too large for memory: without addresses it must be refused.
    void* none[kTensorSlots] = {};
    const Status status = Run(used, *plan, none, {});
    RW_MUST(status.ok() != HasSize(used), ToString(used));
    return;
  }
  OneRun(used, input).Check(*plan, input);
}

}  // namespace
}  // namespace ropewalk::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ropewalk::test::Input input(data, size);
  ropewalk::test::TestOne(input);
  return 0;
}
