// dcos and dsin: within the bound, and of bits that depend on shapes and values
// alone.

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "support/executors.h"
#include "support/gradients.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

// On every target, with and without dx: checked, and always the same bits.
void CheckEverywhere(const GradientShapes& shapes, Data data, Random& random,
                     bool random_layouts = false) {
  SCOPED_TRACE(std::string(PairingName(shapes.options.pairing)) + " " +
               Name(shapes.dtypes));
  GradientCase c(shapes, data, random, random_layouts);
  GradientCase first = c;
  RW_ASSERT_OK(first.Run(true));
  ForEachTarget([&] {
    for (bool with_dx : {true, false}) {
      SCOPED_TRACE(with_dx ? "with dx" : "without dx");
      RW_ASSERT_OK(c.Run(with_dx));
      ASSERT_TRUE(c.SameTables(first));
    }
  });
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  first.Check(true);
}

TEST(GradientsTest, EveryPairingDtypeAndWidth) {
  Random random(1);
  for (Pairing pairing : AllPairings()) {
    for (const Dtypes& dtypes : AllDtypes()) {
      for (int64_t width : {2, 4, 6, 8, 12, 30, 32, 36, 66, 128, 260, 1028}) {
        if (!Fits(pairing, width)) continue;
        const int64_t table = random.OneIn(2) ? width : width / 2;
        CheckEverywhere({{pairing, {}}, dtypes, {3, 5, width}, {3, 1, table}},
                        Data::kNormal, random);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(GradientsTest, SlicesOfRows) {
  Random random(2);
  for (Pairing pairing : AllPairings()) {
    for (const Dtypes& dtypes : AllDtypes()) {
      for (int64_t start : {0, 1, 6, 13}) {
        const int64_t width = 4 * random.Int(1, 20);
        const RotateOptions options{pairing, Slice{start, start + width}};
        const int64_t table = random.OneIn(2) ? width : width / 2;
        CheckEverywhere({options,
                         dtypes,
                         {4, 3, start + width + random.Int(0, 5)},
                         {1, 3, table}},
                        Data::kNormal, random);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(GradientsTest, EveryBroadcastSubsetInAnyLayout) {
  Random random(3);
  const Shape shape = {3, 4, 2, 3, 12};
  for (unsigned subset = 0; subset < 16; ++subset) {
    for (Pairing pairing : AllPairings()) {
      for (bool any : {false, true, true}) {
        const int64_t table = random.OneIn(3) ? 6 : 12;
        CheckEverywhere({{pairing, {}},
                         random.Pick(AllDtypes()),
                         shape,
                         TableShape(shape, subset, table)},
                        Data::kNormal, random, any);
        ASSERT_FALSE(HasFailure()) << "subset " << subset;
      }
    }
  }
}

TEST(GradientsTest, TwoOperands) {
  Random random(4);
  for (Pairing pairing : AllPairings()) {
    for (const Dtypes& dtypes : AllDtypes()) {
      for (bool any : {false, true}) {
        GradientShapes shapes{
            {pairing, {}}, dtypes, {2, 5, 6, 16}, {1, 5, 1, 16}};
        shapes.shape2 = {2, 5, 1, 16};
        shapes.data2 = dtypes.data;
        if (dtypes.data != Dtype::kF64 && random.OneIn(2)) {
          shapes.data2 = random.OneIn(2) ? Dtype::kF32 : Dtype::kBF16;
        }
        CheckEverywhere(shapes, Data::kNormal, random, any);
        // One kept row only, more rows in the second operand.
        shapes.table = {1, 1, 1, 8};
        shapes.shape2 = {3, 40, 9, 16};
        CheckEverywhere(shapes, Data::kNormal, random, any);
        // Nothing to sum.
        shapes.table = {2, 5, 6, 16};
        shapes.shape2 = {2, 5, 6, 16};
        CheckEverywhere(shapes, Data::kNormal, random, any);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(GradientsTest, FewKeptRowsManySummed) {
  Random random(5);
  for (const Shape& shape : std::vector<Shape>{{1, 1000, 1, 8},
                                               {5, 1, 811, 4},
                                               {3, 700, 3, 12},
                                               {1, 4097, 2, 64},
                                               {1, 20000, 1, 4}}) {
    for (unsigned subset : {7U, 6U, 5U, 3U}) {
      const Shape table = TableShape(shape, subset, shape.back());
      CheckEverywhere(
          {{Pairing::kHalf, {}}, {Dtype::kF32, Dtype::kF32}, shape, table},
          Data::kNormal, random);
      CheckEverywhere({{Pairing::kInterleave, {}},
                       {Dtype::kBF16, Dtype::kF32},
                       shape,
                       table},
                      Data::kNormal, random);
      ASSERT_FALSE(HasFailure());
    }
  }
}

// 2^20 terms a sum: equal ones, where a plain sum stalls, and pairs that
// cancel but for a small rest.
TEST(GradientsTest, AMillionTerms) {
  Random random(6);
  const int64_t terms = 1 << 20;
  for (const Dtypes& dtypes :
       {Dtypes{Dtype::kF32, Dtype::kF32}, Dtypes{Dtype::kBF16, Dtype::kF32},
        Dtypes{Dtype::kF16, Dtype::kBF16}}) {
    const GradientShapes shapes{
        {Pairing::kHalf, {}}, dtypes, {terms / 4, 4, 2}, {1, 1, 2}};
    GradientCase c(shapes, Data::kNormal, random);
    for (int kind = 0; kind < 3; ++kind) {
      SCOPED_TRACE("kind " + std::to_string(kind) + " " + Name(dtypes));
      for (int64_t i = 0; kind > 0 && i < 2 * terms; ++i) {
        c.x().Set(i, 1.1);
        const double sign = kind == 2 && i / 2 % 2 == 1 ? -1 : 1;
        c.dy().Set(i, sign * (123.4 + (kind == 2 && i % 1021 == 0 ? 1 : 0)));
      }
      RW_ASSERT_OK(c.Run(false));
      c.Check(false);
      GradientCase again = c;
      RW_ASSERT_OK(again.Run(false, &InlineExecutor()));
      ASSERT_TRUE(again.SameTables(c));
    }
  }
}

TEST(GradientsTest, BitsDoNotDependOnThreadsOrLayout) {
  Random random(7);
  const auto pool2 = MakePool(2), pool3 = MakePool(3), pool8 = MakePool(8);
  ReverseExecutor reverse(5);
  ReverseExecutor one(1);
  ThreadsExecutor threads(4);
  for (int round = 0; round < 24; ++round) {
    const Shape shape = {random.Int(1, 5), random.Int(1, 300), random.Int(1, 4),
                         4 * random.Int(1, 20)};
    const auto subset = static_cast<unsigned>(random.Int(0, 7));
    const GradientShapes shapes{{random.Pick(AllPairings()), {}},
                                random.Pick(AllDtypes()),
                                shape,
                                TableShape(shape, subset, shape.back())};
    GradientCase want(shapes, Data::kNormal, random);
    RW_ASSERT_OK(want.Run(true, &InlineExecutor()));
    GradientCase got = want;
    for (Executor* executor :
         {&DefaultExecutor(), pool2.get(), pool3.get(), pool8.get(),
          static_cast<Executor*>(&reverse), static_cast<Executor*>(&one),
          static_cast<Executor*>(&threads)}) {
      RW_ASSERT_OK(got.Run(true, executor));
      ASSERT_TRUE(got.SameTables(want));
    }
    for (size_t count : {1, 2, 7}) {
      SetNumThreads(count);
      RW_ASSERT_OK(got.Run(true));
      ASSERT_TRUE(got.SameTables(want));
    }
    SetNumThreads(0);
    GradientCase elsewhere(shapes, Data::kNormal, random, true);
    // Inputs that share elements cannot take the values of another case.
    elsewhere.CopyInputs(want);
    GradientCase packed = want;
    packed.CopyInputs(elsewhere);
    RW_ASSERT_OK(packed.Run(true));
    RW_ASSERT_OK(elsewhere.Run(true));
    ASSERT_TRUE(elsewhere.SameTables(packed));
  }
}

TEST(GradientsTest, EmptyDyGivesZeros) {
  Random random(8);
  for (const Dtypes& dtypes : AllDtypes()) {
    for (bool any : {false, true}) {
      const GradientShapes shapes{
          {Pairing::kHalf, {}}, dtypes, {0, 3, 8}, {1, 3, 8}};
      GradientCase c(shapes, Data::kNormal, random, any);
      RW_ASSERT_OK(c.Run(true));
      TestTensor zeros(dtypes.table, {1, 3, 8});
      zeros.Fill(0.0);
      EXPECT_TRUE(SameElements(c.dcos().in(), zeros.in()));
      EXPECT_TRUE(SameElements(c.dsin().in(), zeros.in()));
      c.Check(true);
    }
  }
}

TEST(GradientsTest, EmptySecondOperandAddsNothing) {
  Random random(9);
  GradientShapes shapes{{Pairing::kInterleave, {}},
                        {Dtype::kF32, Dtype::kF32},
                        {2, 3, 8},
                        {1, 3, 8}};
  shapes.shape2 = {0, 3, 8};
  CheckEverywhere(shapes, Data::kNormal, random);
}

TEST(GradientsTest, InfinitiesAndNansArrive) {
  Random random(10);
  for (Pairing pairing : AllPairings()) {
    for (int64_t rows : {1, 3, 4, 9}) {
      CheckEverywhere(
          {{pairing, {}}, {Dtype::kF32, Dtype::kF32}, {rows, 64}, {1, 64}},
          Data::kNormal, random);
      GradientCase c(
          {{pairing, {}}, {Dtype::kF32, Dtype::kF32}, {rows, 64}, {1, 64}},
          Data::kNormal, random);
      c.x().Set(5, std::numeric_limits<double>::infinity());
      c.dy().Set(9, -std::numeric_limits<double>::infinity());
      c.dy().Set(rows * 64 - 1, std::numeric_limits<double>::quiet_NaN());
      ForEachTarget([&] {
        RW_ASSERT_OK(c.Run(true));
        c.Check(true);
      });
    }
  }
}

// Rounding must not carry out of a NaN's bits, into its sign.
TEST(GradientsTest, NansOfAnyBitsArrive) {
  Random random(11);
  for (const uint32_t bits : {0x7fffffffU, 0xffffffffU, 0x7fc0ffffU}) {
    for (Dtype table : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
      GradientCase c({{}, {Dtype::kF32, table}, {3, 32}, {1, 32}},
                     Data::kNormal, random);
      std::memcpy(c.x().Address(5), &bits, sizeof(bits));
      ForEachTarget([&] {
        RW_ASSERT_OK(c.Run(true));
        c.Check(true);
      });
    }
  }
}

}  // namespace
}  // namespace ropewalk::test
