// Ranks, strides, broadcasts and memory whose neighbourhood must not be
// touched: all give the bits of the reference, on every target.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/dtype.h"
#include "support/cases.h"
#include "support/layouts.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

// Runs `turn` into a copy of `y` on every target and compares all of its
// memory with what the reference makes of another copy.
void Check(const Turn& turn, const TestTensor& y) {
  TestTensor want = y;
  Turn expected = turn;
  expected.y = want.out();
  SCOPED_TRACE(ToString(expected));
  RunReference(expected);
  ForEachTarget([&] {
    TestTensor got = y;
    Turn run = turn;
    run.y = got.out();
    RW_ASSERT_OK(Execute(run));
    ASSERT_TRUE(SameMemory(got, want));
  });
}

// The same with y on the memory of x.
void CheckInPlace(const Turn& turn, const TestTensor& x) {
  TestTensor want = x;
  Turn expected = turn;
  expected.x = want.in();
  expected.y = want.out();
  SCOPED_TRACE(ToString(expected) + " in place");
  RunReference(expected);
  ForEachTarget([&] {
    TestTensor got = x;
    Turn run = turn;
    run.x = got.in();
    run.y = got.out();
    RW_ASSERT_OK(Execute(run));
    ASSERT_TRUE(SameMemory(got, want));
  });
}

Shape RandomShape(int64_t rank, int64_t width, Random& random) {
  Shape shape;
  int64_t left = 60;
  for (int64_t axis = 0; axis + 1 < rank; ++axis) {
    shape.push_back(random.Int(1, std::min<int64_t>(left, 4)));
    left /= shape.back();
  }
  shape.push_back(width);
  return shape;
}

struct RandomCase {
  RotateOptions options;
  Shape shape, table;
  Dtypes dtypes;
};

RandomCase MakeCase(Random& random) {
  RandomCase c;
  c.options.pairing = random.Pick(AllPairings());
  const int64_t step = PairingMultiple(c.options.pairing);
  const int64_t rotated = step * random.Int(1, random.OneIn(4) ? 50 : 8);
  int64_t width = rotated;
  if (random.OneIn(3)) {
    const int64_t start = random.Int(0, 5);
    width = start + rotated + random.Int(0, 5);
    c.options.slice = Slice{start, start + rotated};
  }
  c.shape = RandomShape(random.Int(1, kMaxRank), width, random);
  c.table = TableShape(c.shape, static_cast<unsigned>(random.Int(0, 127)),
                       random.OneIn(3) ? rotated / 2 : rotated);
  c.dtypes = random.Pick(AllDtypes());
  return c;
}

TEST(LayoutsTest, RandomRanksShapesStridesAndPlaces) {
  Random random(1);
  for (int round = 0; round < 1500; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const RandomCase c = MakeCase(random);
    TestTensor x = RandomTensor(c.dtypes.data, c.shape, kInputRules, random);
    TestTensor cos = RandomTensor(c.dtypes.table, c.table, kInputRules, random);
    TestTensor sin = RandomTensor(c.dtypes.table, c.table, kInputRules, random);
    TestTensor y = RandomTensor(c.dtypes.data, c.shape, kOutputRules, random);
    x.Fill(random.OneIn(3) ? Data::kBits : Data::kNormal, random);
    cos.Fill(Data::kUnit, random);
    sin.Fill(Data::kUnit, random);
    const Direction direction = kDirections[random.Int(0, 1)];
    Check({c.options, direction, x.in(), cos.in(), sin.in(), y.out()}, y);
    if (HasFatalFailure()) return;
  }
}

TEST(LayoutsTest, RandomInPlace) {
  Random random(2);
  for (int round = 0; round < 700; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const RandomCase c = MakeCase(random);
    TestTensor x = RandomTensor(c.dtypes.data, c.shape, kOutputRules, random);
    TestTensor cos = RandomTensor(c.dtypes.table, c.table, kInputRules, random);
    TestTensor sin = RandomTensor(c.dtypes.table, c.table, kInputRules, random);
    x.Fill(Data::kNormal, random);
    cos.Fill(Data::kUnit, random);
    sin.Fill(Data::kUnit, random);
    const Direction direction = kDirections[random.Int(0, 1)];
    CheckInPlace({c.options, direction, x.in(), cos.in(), sin.in(), x.out()},
                 x);
    if (HasFatalFailure()) return;
  }
}

// Which rows are held whole, and which are copied before they are overwritten,
// depends on the width and on the target.
TEST(LayoutsTest, InterleaveHalfInPlaceOfEveryWidth) {
  Random random(5);
  for (int64_t width = 2; width <= 140; width += 2) {
    SCOPED_TRACE("width " + std::to_string(width));
    for (const Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF16}) {
      // Heads inside of tokens, and tokens inside of heads.
      for (const Shape& table : {Shape{3, 1, width}, Shape{1, 3, width}}) {
        const TestTensor x(dtype, {3, 3, width}, Data::kNormal, random);
        const TestTensor cos(Dtype::kF32, table, Data::kUnit, random);
        const TestTensor sin(Dtype::kF32, table, Data::kUnit, random);
        for (const Direction direction : kDirections) {
          Turn turn;
          turn.options.pairing = Pairing::kInterleaveHalf;
          turn.direction = direction;
          turn.x = x.in();
          turn.cos = cos.in();
          turn.sin = sin.in();
          CheckInPlace(turn, x);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(LayoutsTest, EveryBroadcastSubsetOfEveryRank) {
  Random random(3);
  for (size_t rank = 1; rank <= kMaxRank; ++rank) {
    Shape shape(rank, 2);
    if (rank <= 4) shape.assign(rank, 3);
    shape.back() = 12;
    for (unsigned subset = 0; subset < 1U << (rank - 1); ++subset) {
      const Pairing pairing = AllPairings()[subset % AllPairings().size()];
      const Shape table = TableShape(shape, subset, subset % 3 == 2 ? 6 : 12);
      TestTensor x(Dtype::kF32, shape, Data::kNormal, random);
      TestTensor cos(Dtype::kF32, table, Data::kUnit, random);
      TestTensor sin(Dtype::kF32, table, Data::kUnit, random);
      TestTensor y(Dtype::kF32, shape);
      for (Direction direction : kDirections) {
        Check({{pairing, {}}, direction, x.in(), cos.in(), sin.in(), y.out()},
              y);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// (batch, heads, tokens, D) seen through (batch, tokens, heads, D), both ways,
// and the tables in either order.
TEST(LayoutsTest, PermutedViews) {
  Random random(4);
  const Shape bsnd = {2, 5, 3, 32};
  for (const Dtypes& dtypes : AllDtypes()) {
    for (Pairing pairing : AllPairings()) {
      TestTensor x(Permuted(Contiguous(dtypes.data, bsnd), {0, 2, 1, 3}));
      TestTensor cos(dtypes.table, {1, 1, 5, 32}, Data::kUnit, random);
      TestTensor sin(
          Permuted(Contiguous(dtypes.table, {1, 32, 5, 1}), {0, 3, 2, 1}));
      x.Fill(Data::kNormal, random);
      sin.Fill(Data::kUnit, random);
      TestTensor y(dtypes.data, {2, 3, 5, 32});
      for (Direction direction : kDirections) {
        Turn turn{{pairing, {}}, direction, x.in(),
                  cos.in(),      sin.in(),  y.out()};
        Check(turn, y);
        CheckInPlace(turn, x);
        turn.x = y.Fill(Data::kNormal, random).in();
        Check(turn, x);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// q, k and v side by side in one row of a projection.
TEST(LayoutsTest, SlicesOfLongerRows) {
  Random random(5);
  const int64_t heads = 3, width = 16, row = 3 * heads * width + 1;
  for (const Dtypes& dtypes : AllDtypes()) {
    for (Pairing pairing : AllPairings()) {
      TestTensor x(Strided(dtypes.data, {7, heads, width}, {row, width, 1}),
                   Placement::kGuardAfter);
      TestTensor cos(dtypes.table, {7, 1, width}, Data::kUnit, random);
      TestTensor sin(dtypes.table, {7, 1, width}, Data::kUnit, random);
      x.Fill(Data::kNormal, random);
      const Turn turn{{pairing, {}}, Direction::kForward,
                      x.in(),        cos.in(),
                      sin.in(),      x.out()};
      CheckInPlace(turn, x);
      Check(turn, TestTensor(dtypes.data, {7, heads, width}));
      if (HasFatalFailure()) return;
    }
  }
}

// Rows that end at, or begin after, memory that must not be touched.
TEST(LayoutsTest, GuardedRowsOfManyWidths) {
  Random random(6);
  for (const Dtypes& dtypes : AllDtypes()) {
    for (int64_t width = 2; width <= 76; width += 2) {
      for (Placement place :
           {Placement::kGuardAfter, Placement::kGuardBefore}) {
        const Pairing pairing = AllPairings()[width / 2 % AllPairings().size()];
        if (!Fits(pairing, width)) continue;
        const int64_t table = random.OneIn(2) ? width : width / 2;
        TestTensor x(dtypes.data, {3, width}, place);
        TestTensor cos(dtypes.table, {3, table}, place);
        TestTensor sin(dtypes.table, {3, table}, place);
        TestTensor y(dtypes.data, {3, width}, place);
        x.Fill(Data::kNormal, random);
        cos.Fill(Data::kUnit, random);
        sin.Fill(Data::kUnit, random);
        const Direction direction = kDirections[random.Int(0, 1)];
        Check({{pairing, {}}, direction, x.in(), cos.in(), sin.in(), y.out()},
              y);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A last axis that is not contiguous, on each side alone and on all.
TEST(LayoutsTest, StridedLastAxis) {
  Random random(7);
  for (const Dtypes& dtypes : AllDtypes()) {
    for (Pairing pairing : AllPairings()) {
      for (int64_t width : {4, 36, 132, 1028}) {
        for (unsigned which = 1; which < 16; ++which) {
          const auto make = [&](Dtype dtype, unsigned bit) {
            const int64_t s = (which >> bit & 1) != 0 ? random.Int(2, 4) : 1;
            return TestTensor(Strided(dtype, {3, width}, {s * width + 1, s}),
                              RandomPlacement(random));
          };
          TestTensor y = make(dtypes.data, 0), x = make(dtypes.data, 1);
          TestTensor cos = make(dtypes.table, 2), sin = make(dtypes.table, 3);
          x.Fill(Data::kNormal, random);
          cos.Fill(Data::kUnit, random);
          sin.Fill(Data::kUnit, random);
          const Direction direction = kDirections[random.Int(0, 1)];
          Turn turn{{pairing, {}}, direction, x.in(),
                    cos.in(),      sin.in(),  y.out()};
          Check(turn, y);
          if ((which & 2) != 0) CheckInPlace(turn, x);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Addresses that are not multiples of the element work too.
TEST(LayoutsTest, ElementsAtOddBytes) {
  Random random(8);
  for (const Dtypes& dtypes : AllDtypes()) {
    for (Pairing pairing : AllPairings()) {
      for (int64_t width : {4, 36, 132, 1028}) {
        for (int64_t stride : {1, 2}) {
          const auto make = [&](Dtype dtype) {
            return TestTensor(Strided(dtype, {3, width}, {2 * width, stride}),
                              Placement::kOddByte);
          };
          TestTensor x = make(dtypes.data), y = make(dtypes.data);
          TestTensor cos = make(dtypes.table), sin = make(dtypes.table);
          x.Fill(Data::kNormal, random);
          cos.Fill(Data::kUnit, random);
          sin.Fill(Data::kUnit, random);
          for (Direction direction : kDirections) {
            const Turn turn{{pairing, {}}, direction, x.in(),
                            cos.in(),      sin.in(),  y.out()};
            Check(turn, y);
            CheckInPlace(turn, x);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ropewalk::test
