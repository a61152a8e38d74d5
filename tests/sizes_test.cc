// Sizes and strides that 32 bits cannot hold, in address space that is hardly
// used; a row of a million columns, and a million rows of two.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/reference.h"
#include "support/cases.h"
#include "support/executors.h"
#include "support/gradients.h"
#include "support/sparse.h"

namespace ropewalk::test {
namespace {

constexpr int64_t kFar = (int64_t{1} << 32) + 24;  // elements

// A tensor with elements far apart, and a contiguous one with the same values.
class FarTensor {
 public:
  FarTensor(Dtype dtype, const Shape& shape, const Shape& strides,
            Random& random)
      : near_(dtype, shape, Data::kNormal, random),
        memory_(Bytes(dtype, shape, strides)) {
    far_.desc = Strided(dtype, shape, strides);
    int64_t low = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      low += std::min<int64_t>(0, (shape[i] - 1) * strides[i]);
    }
    far_.data = memory_.data() - low * static_cast<int64_t>(DtypeSize(dtype));
    CopyElements(near_.in(), far_);
  }

  Tensor out() const { return far_; }
  ConstTensor in() const { return far_; }
  const TestTensor& near() const { return near_; }
  /// As near(), which a reference may have written to.
  testing::AssertionResult Same() const {
    return SameElements(far_, near_.in());
  }

 private:
  static size_t Bytes(Dtype dtype, const Shape& shape, const Shape& strides) {
    int64_t elements = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
      elements += (shape[i] - 1) * std::abs(strides[i]);
    }
    return static_cast<size_t>(elements) * DtypeSize(dtype);
  }

  TestTensor near_;
  SparseMemory memory_;
  Tensor far_;
};

// Rows, then columns, far apart, forwards and backwards.
const Shape kFarStrides[] = {{kFar, 8, 1},
                             {8, kFar, 1},
                             {-kFar, 8, 1},
                             {16, -3 * kFar, 2},
                             {24, 8, kFar}};

TEST(SizesTest, FarRowsAndColumns) {
  Random random(1);
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64}) {
    const Dtype table = dtype == Dtype::kF64 ? dtype : Dtype::kF32;
    for (const Pairing pairing : AllPairings()) {
      for (const Shape& strides : kFarStrides) {
        for (const Direction direction : kDirections) {
          const Shape shape = {3, 2, 8};
          FarTensor x(dtype, shape, strides, random);
          FarTensor y(dtype, shape, strides, random);
          FarTensor cos(table, {3, 1, 8}, {kFar, 0, 1}, random);
          FarTensor sin(table, {3, 1, 8}, {16, 0, -1}, random);
          Turn turn{{pairing, {}}, direction, x.in(),
                    cos.in(),      sin.in(),  y.out()};
          RW_ASSERT_OK(Execute(turn));
          RunReference({{pairing, {}},
                        direction,
                        x.near().in(),
                        cos.near().in(),
                        sin.near().in(),
                        y.near().out()});
          ASSERT_TRUE(y.Same()) << ToString(turn);
          turn.y = x.out();
          RW_ASSERT_OK(Execute(turn));
          ASSERT_TRUE(SameElements(x.in(), y.near().in())) << ToString(turn);
        }
      }
    }
  }
}

TEST(SizesTest, FarGradients) {
  Random random(2);
  for (const Shape& strides : kFarStrides) {
    const Shape shape = {3, 2, 8}, table = {3, 1, 8};
    FarTensor dy(Dtype::kF32, shape, strides, random);
    FarTensor x(Dtype::kF32, shape, strides, random);
    FarTensor dx(Dtype::kF32, shape, strides, random);
    FarTensor cos(Dtype::kF32, table, {16, 0, 1}, random);
    FarTensor dcos(Dtype::kF32, table, {kFar, 0, 1}, random);
    FarTensor dsin(Dtype::kF32, table, {1, 0, kFar}, random);
    const auto run = [&](const ConstTensor& g, const ConstTensor& at,
                         const ConstTensor& c, Tensor to, Tensor to_cos,
                         Tensor to_sin) {
      BackwardRun call{{}, g, c, c};
      call.x = &at;
      call.dx = &to;
      call.dcos = &to_cos;
      call.dsin = &to_sin;
      RW_ASSERT_OK(Execute(call));
    };
    run(dy.in(), x.in(), cos.in(), dx.out(), dcos.out(), dsin.out());
    // Contiguous ones are checked elsewhere; these have the same bits.
    run(dy.near().in(), x.near().in(), cos.near().in(), dx.near().out(),
        dcos.near().out(), dsin.near().out());
    EXPECT_TRUE(dx.Same());
    EXPECT_TRUE(dcos.Same());
    EXPECT_TRUE(dsin.Same());
  }
}

TEST(SizesTest, FarPositionsAndCacheRows) {
  Random random(3);
  const int64_t sections[] = {2, 1, 1};
  FarTensor positions(Dtype::kI64, {3, 2}, {kFar, 1}, random);
  FarTensor cache(Dtype::kF32, {5, 8}, {kFar, 1}, random);
  FarTensor query(Dtype::kF16, {2, 30}, {kFar, 1}, random);
  FarTensor out(Dtype::kF16, {2, 3, 10}, {16, kFar, 1}, random);
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t value = random.Int(0, 4);
    for (const ConstTensor& t : {positions.in(), positions.near().in()}) {
      std::memcpy(ElementAddress(t, i), &value, sizeof(value));
    }
  }
  CachedRun run;
  run.options.head_size = 10;
  run.options.sections = sections;
  run.positions = positions.in();
  run.cache = cache.in();
  TensorDesc split = query.in().desc;  // heads side by side
  split = Strided(Dtype::kF16, {2, 3, 10}, {kFar, 10, 1});
  run.query = {split, query.in().data};
  run.query_out = out.out();
  RW_ASSERT_OK(Execute(run));
  reference::RotateCached(run.options, positions.near().in(), cache.near().in(),
                          run.query, out.near().out());
  EXPECT_TRUE(out.Same());
}

void CheckBoth(const RotateOptions& options, const Shape& shape,
               const Shape& table, Dtype dtype, Random& random) {
  TestTensor x(dtype, shape, Data::kNormal, random);
  TestTensor cos(Dtype::kF32, table, Data::kUnit, random);
  TestTensor sin(Dtype::kF32, table, Data::kUnit, random);
  const auto pool = MakePool(2);
  for (const Direction direction : kDirections) {
    TestTensor y(x.desc()), want(x.desc());
    Turn turn{options, direction, x.in(), cos.in(), sin.in(), y.out()};
    turn.executor = pool.get();
    RW_ASSERT_OK(Execute(turn));
    turn.y = want.out();
    RunReference(turn);
    ASSERT_TRUE(SameMemory(y, want)) << PairingName(options.pairing);
  }
}

TEST(SizesTest, AMillionColumns) {
  Random random(4);
  for (const Pairing pairing : AllPairings()) {
    CheckBoth({pairing, {}}, {2, 1000000}, {1, 1000000}, Dtype::kBF16, random);
  }
  CheckBoth({Pairing::kHalf, Slice{7, 999999}}, {1, 1000000}, {1, 999992},
            Dtype::kF32, random);
  GradientCase c({{}, {Dtype::kBF16, Dtype::kF32}, {5, 1000000}, {1, 1000000}},
                 Data::kNormal, random);
  RW_ASSERT_OK(c.Run(true));
  c.Check(true);
}

TEST(SizesTest, AMillionHeadsOfTwoColumns) {
  Random random(5);
  for (const Shape& table : {Shape{1, 1, 2}, {1, 1000000, 2}}) {
    CheckBoth({}, {1, 1000000, 2}, table, Dtype::kBF16, random);
    CheckBoth({Pairing::kInterleave, {}}, {1, 1000000, 2}, table, Dtype::kF32,
              random);
    GradientCase c({{}, {Dtype::kF32, Dtype::kF32}, {1, 1000000, 2}, table},
                   Data::kNormal, random);
    RW_ASSERT_OK(c.Run(true));
    c.Check(true);
  }
}

// An output that meets a far row of an input, more than 4 GiB behind it.
TEST(SizesTest, OverlapFarAway) {
  const int64_t far = (int64_t{3} << 29) + 8;  // elements: 6 GiB
  const SparseMemory memory(static_cast<size_t>(far + 64) * 4);
  RotateTensors t;
  t.x = Strided(Dtype::kF32, {2, 8}, {far, 1});
  t.y = Contiguous(Dtype::kF32, {2, 8});
  t.cos = t.sin = Strided(Dtype::kF32, {2, 8}, {0, 0});
  const Result<Plan> plan = MakeRotatePlan({}, t);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const float table = 1;
  const auto run = [&](int64_t element) {
    return plan
        ->Run(RotateBuffers{memory.data(), &table, &table,
                            memory.data() + 4 * element})
        .code();
  };
  EXPECT_EQ(run(far + 4), Code::kOverlap);
  EXPECT_EQ(run(far - 8), Code::kOverlap);
  EXPECT_EQ(run(far + 8), Code::kOk);
  EXPECT_EQ(run(far - 16), Code::kOk);
}

// Counts of elements and bytes that fit, or just do not.
TEST(SizesTest, WhatDoesNotFit63BitsIsRefused) {
  const int64_t most = int64_t{1} << 60;
  RotateTensors t;
  t.x = t.y = Contiguous(Dtype::kF32, {most, 2});
  t.cos = t.sin = Contiguous(Dtype::kF32, {1, 2});
  EXPECT_EQ(MakeRotatePlan({}, t).status().code(), Code::kShape);
  t.x = t.y = Contiguous(Dtype::kF32, {most / 2 - 1, 2});
  const Result<Plan> plan = MakeRotatePlan({}, t);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->Run(RotateBuffers{}).code(), Code::kNullPointer);
  // Few elements, whose strides reach too far: in one axis, and in two.
  for (const Shape& strides : {Shape{int64_t{1} << 60, 2, 1},
                               {int64_t{1} << 59, int64_t{1} << 59, 1},
                               {-(int64_t{1} << 60) - 1, 2, 1},
                               {2, 16, int64_t{1} << 60}}) {
    t.x = Strided(Dtype::kF32, {3, 3, 8}, strides);
    t.y = Contiguous(Dtype::kF32, {3, 3, 8});
    t.cos = t.sin = Contiguous(Dtype::kF32, {1, 1, 8});
    EXPECT_EQ(MakeRotatePlan({}, t).status().code(), Code::kShape);
  }
}

}  // namespace
}  // namespace ropewalk::test
