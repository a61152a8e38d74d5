// Random operators with all their options at once: two operands, slices, half
// tables, layouts, sharing of memory, executors, targets. One seed a round, so
// that a failure can be run again alone: ROPEWALK_TEST_ROUND picks it,
// ROPEWALK_TEST_ROUNDS says how many.

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/dtype.h"
#include "kernels/reference.h"
#include "support/cases.h"
#include "support/executors.h"
#include "support/layouts.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoll(text, nullptr, 0) : otherwise;
}

// One operand: dy and x are inputs, out is y or dx.
struct Operand {
  Dtype dtype;
  Shape shape;
  std::optional<TestTensor> in, x, out;
};

// Where `out` lies.
enum class Place { kApart, kOnIn, kOnX, kAllOne };

class Round {
 public:
  explicit Round(uint64_t seed) : random_(seed) {
    ChooseOptions();
    ChooseShapes();
    MakeTensors();
  }

  void Run() {
    SCOPED_TRACE(Text());
    const ScopedTarget forced(random_.Pick(UsableTargets()));
    if (forward_) {
      RunForward();
    } else {
      RunBackward();
    }
  }

 private:
  void ChooseOptions() {
    forward_ = random_.OneIn(3);
    sums_ = !forward_ && random_.OneIn(2);
    rotate_ = !sums_ || random_.OneIn(2);
    two_ = random_.OneIn(3);
    place_ = static_cast<Place>(random_.Int(0, 3));
    if (!sums_ && (place_ == Place::kOnX || place_ == Place::kAllOne)) {
      place_ = Place::kOnIn;
    }
    if (!rotate_) place_ = Place::kApart;
    options_.pairing = random_.Pick(AllPairings());
    const int64_t unit = PairingMultiple(options_.pairing);
    const int64_t most[] = {4, 20, 70, 600, 1300};
    width_ = unit * random_.Int(1, most[random_.Int(0, 4)]);
    row_ = width_;
    if (random_.OneIn(3)) {
      const int64_t start = random_.Int(0, 9);
      row_ = start + width_ + random_.Int(0, 9);
      options_.slice = Slice{start, start + width_};
    }
    half_ = random_.OneIn(3);
  }

  void ChooseShapes() {
    const Dtypes dtypes = random_.Pick(AllDtypes());
    table_dtype_ = dtypes.table;
    const auto rank = static_cast<size_t>(random_.Int(1, 5));
    const int64_t most = width_ > 300 ? 3 : random_.OneIn(5) ? 40 : 5;
    Shape shape, second;
    int64_t left = 20000 / row_ + 1;
    for (size_t axis = 0; axis + 1 < rank; ++axis) {
      const int64_t size =
          random_.OneIn(40) ? 0 : random_.Int(1, std::min(most, left));
      left = std::max<int64_t>(1, left / std::max<int64_t>(size, 1));
      const bool shared = random_.OneIn(2);
      shape.push_back(size);
      second.push_back(shared ? random_.Int(1, 4) : size);
      table_.push_back(shared ? 1 : size);
    }
    shape.push_back(row_);
    second.push_back(row_);
    table_.push_back(half_ ? width_ / 2 : width_);
    operands_.push_back({dtypes.data, shape, {}, {}, {}});
    if (!two_) return;
    Dtype other = dtypes.data;
    if (other != Dtype::kF64 && random_.OneIn(2)) {
      other = random_.Pick(
          std::vector<Dtype>{Dtype::kF32, Dtype::kF16, Dtype::kBF16});
    }
    operands_.push_back({other, second, {}, {}, {}});
  }

  void MakeTensors() {
    const auto tensor = [&](Dtype dtype, const Shape& shape,
                            const LayoutRules& rules, Data data) {
      TestTensor made = RandomTensor(dtype, shape, rules, random_);
      made.Fill(data, random_);
      return made;
    };
    cos_.emplace(tensor(table_dtype_, table_, kInputRules, Data::kUnit));
    sin_.emplace(tensor(table_dtype_, table_, kInputRules, Data::kUnit));
    dcos_.emplace(RandomTensor(table_dtype_, table_, kOutputRules, random_));
    dsin_.emplace(RandomTensor(table_dtype_, table_, kOutputRules, random_));
    for (Operand& op : operands_) {
      // Inputs that are written to as well have the rules of outputs.
      op.in.emplace(tensor(op.dtype, op.shape,
                           place_ == Place::kApart ? kInputRules : kOutputRules,
                           Data::kNormal));
      op.x.emplace(tensor(op.dtype, op.shape,
                          place_ == Place::kApart ? kInputRules : kOutputRules,
                          Data::kNormal));
      op.out.emplace(RandomTensor(op.dtype, op.shape, kOutputRules, random_));
    }
  }

  Executor* PickExecutor() {
    switch (random_.Int(0, 3)) {
      case 0:
        return nullptr;
      case 1:
        return &InlineExecutor();
      case 2:
        return &reverse_;
      default:
        return &threads_;
    }
  }

  // Where the output of an operand goes, given its copies of inputs.
  const TestTensor& OutOf(const Operand& op, const TestTensor& in,
                          const TestTensor& x, const TestTensor& out) const {
    (void)op;
    if (place_ == Place::kApart) return out;
    return place_ == Place::kOnX ? x : in;
  }

  void RunForward() {
    TestTensor in0 = *operands_[0].in, out0 = *operands_[0].out;
    const TestTensor& y0 = OutOf(operands_[0], in0, in0, out0);
    RotateRun run{options_, in0.in(), cos_->in(), sin_->in(), y0.out()};
    run.executor = PickExecutor();
    TestTensor in1 = *operands_.back().in, out1 = *operands_.back().out;
    const TestTensor& y1 = OutOf(operands_.back(), in1, in1, out1);
    const ConstTensor x2 = in1.in();
    const Tensor y2 = y1.out();
    if (two_) {
      run.x2 = &x2;
      run.y2 = &y2;
    }
    RW_ASSERT_OK(Execute(run));
    CheckTurned(operands_[0], y0);
    if (two_) CheckTurned(operands_[1], y1);
  }

  // The memory of an output against what the reference makes of the same.
  void CheckTurned(const Operand& op, const TestTensor& got) {
    TestTensor want = place_ == Place::kApart ? *op.out
                      : place_ == Place::kOnX ? *op.x
                                              : *op.in;
    RunReference({options_,
                  forward_ ? Direction::kForward : Direction::kBackward,
                  op.in->in(), cos_->in(), sin_->in(), want.out()});
    ASSERT_TRUE(SameMemory(got, want));
  }

  void RunBackward() {
    struct Copies {
      TestTensor in, x, out;
    };
    std::vector<Copies> copies;
    for (Operand& op : operands_) copies.push_back({*op.in, *op.x, *op.out});
    TestTensor dcos = *dcos_, dsin = *dsin_;
    const Tensor dcos_out = dcos.out(), dsin_out = dsin.out();
    std::vector<ConstTensor> in, x;
    std::vector<Tensor> out;
    for (const Copies& c : copies) {
      in.push_back(c.in.in());
      x.push_back(place_ == Place::kAllOne ? c.in.in() : c.x.in());
      out.push_back(OutOf(operands_[0], c.in, c.x, c.out).out());
    }
    BackwardRun run{options_, in[0], cos_->in(), sin_->in()};
    run.executor = PickExecutor();
    if (rotate_) run.dx = out.data();
    if (sums_) {
      run.x = x.data();
      run.dcos = &dcos_out;
      run.dsin = &dsin_out;
    }
    if (two_) {
      run.dy2 = &in[1];
      if (sums_) run.x2 = &x[1];
      if (rotate_) run.dx2 = &out[1];
    }
    RW_ASSERT_OK(Execute(run));
    for (size_t i = 0; rotate_ && i < copies.size(); ++i) {
      CheckTurned(operands_[i], OutOf(operands_[i], copies[i].in, copies[i].x,
                                      copies[i].out));
    }
    if (sums_) CheckSums(dcos, dsin);
  }

  void CheckSums(const TestTensor& dcos, const TestTensor& dsin) {
    reference::TableGradients exact;
    std::vector<TestTensor> packed_in, packed_x, dx;
    for (const Operand& op : operands_) {
      const TestTensor& x = place_ == Place::kAllOne ? *op.in : *op.x;
      reference::AddTableGradients(options_, op.in->in(), x.in(), cos_->desc(),
                                   &exact);
      packed_in.push_back(Packed(op.in->in()));
      packed_x.push_back(Packed(x.in()));
    }
    EXPECT_TRUE(WithinBound(dcos.in(), exact.dcos, exact.dcos_abs));
    EXPECT_TRUE(WithinBound(dsin.in(), exact.dsin, exact.dsin_abs));
    // The same bits from contiguous tensors, alone, on one thread.
    TestTensor cos = Packed(cos_->in()), sin = Packed(sin_->in());
    TestTensor want_dcos(cos.desc()), want_dsin(cos.desc());
    const ConstTensor x0 = packed_x[0].in(), x1 = packed_x.back().in();
    const ConstTensor dy1 = packed_in.back().in();
    const Tensor dcos_out = want_dcos.out(), dsin_out = want_dsin.out();
    BackwardRun run{options_, packed_in[0].in(), cos.in(), sin.in()};
    run.x = &x0;
    run.dcos = &dcos_out;
    run.dsin = &dsin_out;
    run.executor = &InlineExecutor();
    if (two_) {
      run.dy2 = &dy1;
      run.x2 = &x1;
    }
    (void)ForceTarget(random_.Pick(UsableTargets()));
    RW_ASSERT_OK(Execute(run));
    EXPECT_TRUE(SameElements(dcos.in(), want_dcos.in()));
    EXPECT_TRUE(SameElements(dsin.in(), want_dsin.in()));
    EXPECT_TRUE(dcos.memory().PaddingIntact());
    EXPECT_TRUE(dsin.memory().PaddingIntact());
  }

  std::string Text() const {
    std::string text = forward_ ? "forward" : "backward";
    text += std::string(" ") + PairingName(options_.pairing);
    text += rotate_ ? " dx" : "";
    text += sums_ ? " sums" : "";
    text += " place " + std::to_string(static_cast<int>(place_));
    if (options_.slice) {
      text += " slice " + std::to_string(options_.slice->start) + ":" +
              std::to_string(options_.slice->end);
    }
    for (const Operand& op : operands_) {
      text += "\n  in " + ToString(op.in->desc()) + " x " +
              ToString(op.x->desc()) + " out " + ToString(op.out->desc());
    }
    return text + "\n  cos " + ToString(cos_->desc()) + " dcos " +
           ToString(dcos_->desc());
  }

  Random random_;
  RotateOptions options_;
  bool forward_ = true, sums_ = false, rotate_ = true, two_ = false;
  bool half_ = false;
  Place place_ = Place::kApart;
  int64_t width_ = 0, row_ = 0;
  Dtype table_dtype_ = Dtype::kF32;
  Shape table_;
  std::vector<Operand> operands_;
  std::optional<TestTensor> cos_, sin_, dcos_, dsin_;
  ReverseExecutor reverse_{5};
  ThreadsExecutor threads_{3};
};

TEST(RandomTest, Operators) {
  const int64_t one = FromEnvironment("ROPEWALK_TEST_ROUND", -1);
  const int64_t first = one >= 0 ? one : 0;
  const int64_t end =
      one >= 0 ? one + 1 : FromEnvironment("ROPEWALK_TEST_ROUNDS", 4000);
  for (int64_t round = first; round < end; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Round(static_cast<uint64_t>(round) + 1000).Run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ropewalk::test
