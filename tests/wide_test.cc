// Rows wider than what is worked on at once: cut into column tiles, with their
// tables and sums in buffers of bounded size, and copied first where in place
// demands it.

#include <gtest/gtest.h>

#include "support/executors.h"
#include "support/gradients.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

// Around tiles of 512 pairs, in one segment or two, and row buffers of 4096
// columns.
const int64_t kWidths[] = {1020, 1024, 1028, 1060, 1532, 2040, 2044,
                           2048, 2052, 4092, 4096, 4100, 8200};

struct WideCase {
  Pairing pairing;
  Dtypes dtypes;
  int64_t width;
};

std::vector<WideCase> AllCases() {
  std::vector<WideCase> cases;
  for (Pairing pairing : AllPairings()) {
    for (const Dtypes& dtypes :
         {Dtypes{Dtype::kF32, Dtype::kF32}, Dtypes{Dtype::kBF16, Dtype::kF32},
          Dtypes{Dtype::kF16, Dtype::kBF16},
          Dtypes{Dtype::kF64, Dtype::kF64}}) {
      for (int64_t width : kWidths) cases.push_back({pairing, dtypes, width});
    }
  }
  return cases;
}

std::string Describe(const WideCase& c) {
  return std::string(PairingName(c.pairing)) + " " + Name(c.dtypes) + " " +
         std::to_string(c.width);
}

TEST(WideTest, SumsOfOneAndTwoOperands) {
  Random random(1);
  for (const WideCase& c : AllCases()) {
    for (bool half : {false, true}) {
      for (bool two : {false, true}) {
        SCOPED_TRACE(Describe(c) + (half ? " half width" : "") +
                     (two ? " two operands" : ""));
        GradientShapes shapes{{c.pairing, {}},
                              c.dtypes,
                              {2, 3, c.width},
                              {2, 1, half ? c.width / 2 : c.width}};
        if (two) {
          shapes.shape2 = {2, 1, c.width};
          shapes.data2 = c.dtypes.data;
        }
        GradientCase gradients(shapes, Data::kNormal, random);
        GradientCase first = gradients;
        RW_ASSERT_OK(first.Run(false, &InlineExecutor()));
        first.Check(false);
        ForEachTarget([&] {
          RW_ASSERT_OK(gradients.Run(true));
          gradients.Check(true);
          ASSERT_TRUE(gradients.SameTables(first));
        });
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(WideTest, SumsOfStridedRows) {
  Random random(2);
  for (const WideCase& c : AllCases()) {
    SCOPED_TRACE(Describe(c));
    const GradientShapes shapes{
        {c.pairing, {}}, c.dtypes, {3, 2, c.width}, {1, 2, c.width}};
    GradientCase gradients(shapes, Data::kNormal, random, true);
    RW_ASSERT_OK(gradients.Run(true));
    gradients.Check(true);
    ASSERT_FALSE(HasFailure());
  }
}

// x with a step between columns, out of place and in place, all of it or from
// the third column on.
void CheckStrided(const WideCase& c, int64_t step, int64_t start,
                  Direction direction, Executor* executor) {
  Random random(3);
  const int64_t all = c.width + (start > 0 ? start + 2 : 0);
  RotateOptions options{c.pairing, {}};
  if (start > 0) options.slice = Slice{start, start + c.width};
  const TensorDesc desc =
      Strided(c.dtypes.data, {3, all}, {all * step + 1, step});
  TestTensor x(desc);
  x.Fill(Data::kNormal, random);
  TestTensor cos(c.dtypes.table, {1, c.width / 2}, Data::kUnit, random);
  TestTensor sin(c.dtypes.table, {1, c.width / 2}, Data::kUnit, random);
  TestTensor want = x;
  RunReference({options, direction, x.in(), cos.in(), sin.in(), want.out()});
  TestTensor y = x;
  RW_ASSERT_OK(Execute(
      Turn{options, direction, x.in(), cos.in(), sin.in(), y.out(), executor}));
  ASSERT_TRUE(SameMemory(y, want)) << "out of place";
  RW_ASSERT_OK(Execute(
      Turn{options, direction, x.in(), cos.in(), sin.in(), x.out(), executor}));
  ASSERT_TRUE(SameMemory(x, want)) << "in place";
}

TEST(WideTest, StridedSlicedInPlace) {
  ReverseExecutor reverse(9);
  for (const WideCase& c : AllCases()) {
    for (int64_t step : {1, 3}) {
      for (int64_t start : {0, 3}) {
        for (Direction direction : kDirections) {
          SCOPED_TRACE(Describe(c) + " step " + std::to_string(step) +
                       " start " + std::to_string(start));
          CheckStrided(c, step, start, direction, &reverse);
          ASSERT_FALSE(HasFailure());
        }
      }
    }
  }
}

TEST(WideTest, EveryTargetInPlace) {
  for (const WideCase& c : AllCases()) {
    if (c.width < 2048 || c.width > 4100) continue;
    ForEachTarget([&] {
      SCOPED_TRACE(Describe(c));
      CheckStrided(c, 1, 0, Direction::kForward, nullptr);
      CheckStrided(c, 2, 1, Direction::kBackward, nullptr);
    });
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace ropewalk::test
