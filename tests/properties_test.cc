// What holds for any rotation, whatever the implementation.

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference.h"
#include "support/cases.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

constexpr int64_t kRows = 7, kWidth = 48;
const Shape kShape = {kRows, kWidth};

double Dot(const TestTensor& a, const TestTensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < kRows * kWidth; ++i) sum += a.At(i) * b.At(i);
  return sum;
}

double Scale(const TestTensor& a, const TestTensor& b) {
  return std::sqrt(Dot(a, a) * Dot(b, b));
}

// How far sums of that dtype's results may be off, relative to Scale.
double Tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return 1e-14;
    case Dtype::kF32:
      return 1e-6;
    case Dtype::kF16:
      return 2e-3;
    default:
      return 1.6e-2;
  }
}

// Tables of angles, half width: the columns of a pair share an angle.
struct Angles {
  Angles(Dtype dtype, const std::vector<double>& angles)
      : cos(dtype, {kRows, kWidth / 2}), sin(dtype, {kRows, kWidth / 2}) {
    for (size_t i = 0; i < angles.size(); ++i) {
      cos.Set(static_cast<int64_t>(i), std::cos(angles[i]));
      sin.Set(static_cast<int64_t>(i), std::sin(angles[i]));
    }
  }
  TestTensor cos, sin;
};

std::vector<double> RandomAngles(Random& random) {
  std::vector<double> angles(kRows * kWidth / 2);
  for (double& angle : angles) angle = random.Unit() * 6.3;
  return angles;
}

TestTensor Turned(const RotateOptions& options, Direction direction,
                  const TestTensor& x, const TestTensor& cos,
                  const TestTensor& sin) {
  TestTensor y(x.desc());
  const Status status =
      Execute(Turn{options, direction, x.in(), cos.in(), sin.in(), y.out()});
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

class PropertiesTest : public testing::TestWithParam<Dtypes> {
 protected:
  Dtype data() const { return GetParam().data; }
  Dtype table() const { return GetParam().table; }
};

// <R x, g> = <x, R^T g>, for any tables, whether they are angles or not.
TEST_P(PropertiesTest, BackwardIsTheAdjoint) {
  Random random(1);
  for (Pairing pairing : AllPairings()) {
    for (bool sliced : {false, true}) {
      RotateOptions options{pairing, {}};
      if (sliced) options.slice = Slice{5, 25};
      const int64_t width = sliced ? 20 : kWidth;
      TestTensor x(data(), kShape, Data::kNormal, random);
      TestTensor g(data(), kShape, Data::kNormal, random);
      TestTensor cos(table(), {kRows, width}, Data::kNormal, random);
      TestTensor sin(table(), {kRows, width}, Data::kNormal, random);
      ForEachTarget([&] {
        const TestTensor y = Turned(options, Direction::kForward, x, cos, sin);
        const TestTensor dx =
            Turned(options, Direction::kBackward, g, cos, sin);
        EXPECT_NEAR(Dot(y, g), Dot(x, dx),
                    Tolerance(data()) * (Scale(y, g) + Scale(x, dx)));
      });
    }
  }
}

// Turning by a and then by b is turning by a + b, and back again. The output
// of interleave-half is in the order of half.
TEST_P(PropertiesTest, AnglesAdd) {
  if (table() != data()) GTEST_SKIP() << "dtypes that differ add nothing here";
  Random random(2);
  for (Pairing first : AllPairings()) {
    const Pairing second =
        first == Pairing::kInterleaveHalf ? Pairing::kHalf : first;
    const std::vector<double> a = RandomAngles(random),
                              b = RandomAngles(random);
    std::vector<double> sum = a;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
    const Angles by_a(table(), a), by_b(table(), b), by_sum(table(), sum);
    TestTensor x(data(), kShape, Data::kNormal, random);
    ForEachTarget([&] {
      const TestTensor y =
          Turned({first, {}}, Direction::kForward, x, by_a.cos, by_a.sin);
      const TestTensor twice =
          Turned({second, {}}, Direction::kForward, y, by_b.cos, by_b.sin);
      const TestTensor once =
          Turned({first, {}}, Direction::kForward, x, by_sum.cos, by_sum.sin);
      const TestTensor back =
          Turned({first, {}}, Direction::kBackward, y, by_a.cos, by_a.sin);
      const double room = 8 * Tolerance(data());
      for (int64_t i = 0; i < kRows * kWidth; ++i) {
        ASSERT_NEAR(twice.At(i), once.At(i), room) << PairingName(first);
        ASSERT_NEAR(back.At(i), x.At(i), room) << PairingName(first);
      }
    });
  }
}

TEST_P(PropertiesTest, TheNormIsKept) {
  Random random(3);
  for (Pairing pairing : AllPairings()) {
    const Angles angles(table(), RandomAngles(random));
    TestTensor x(data(), kShape, Data::kNormal, random);
    ForEachTarget([&] {
      const TestTensor y =
          Turned({pairing, {}}, Direction::kForward, x, angles.cos, angles.sin);
      const double room = std::max(Tolerance(data()), Tolerance(table()));
      EXPECT_NEAR(Dot(y, y), Dot(x, x), room * Dot(x, x));
    });
  }
}

// Angle zero gives x (in the order of y), bit for bit but for the sign of 0.
TEST_P(PropertiesTest, AngleZeroChangesNothing) {
  Random random(4);
  for (Pairing pairing :
       {Pairing::kHalf, Pairing::kInterleave, Pairing::kQuarter}) {
    const Angles zero(table(), std::vector<double>(kRows * kWidth / 2, 0.0));
    TestTensor x(data(), kShape, Data::kNormal, random);
    ForEachTarget([&] {
      for (Direction direction : kDirections) {
        const TestTensor y =
            Turned({pairing, {}}, direction, x, zero.cos, zero.sin);
        EXPECT_TRUE(SameElements(y.in(), x.in()));
      }
    });
  }
}

// A table of half the width says the same as the full one with each value
// twice.
TEST_P(PropertiesTest, HalfWidthIsFullWidthWithEqualColumns) {
  Random random(5);
  for (Pairing pairing : AllPairings()) {
    TestTensor half_cos(table(), {kRows, kWidth / 2}, Data::kUnit, random);
    TestTensor half_sin(table(), {kRows, kWidth / 2}, Data::kUnit, random);
    TestTensor cos(table(), kShape), sin(table(), kShape);
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t k = 0; k < kWidth / 2; ++k) {
        const reference::Pair pair = reference::PairAt(pairing, kWidth, k);
        for (int64_t column : {pair.p, pair.r}) {
          const int64_t from = row * kWidth / 2 + k;
          cos.Set(row * kWidth + column, half_cos.At(from));
          sin.Set(row * kWidth + column, half_sin.At(from));
        }
      }
    }
    TestTensor x(data(), kShape, Data::kNormal, random);
    ForEachTarget([&] {
      for (Direction direction : kDirections) {
        const TestTensor half =
            Turned({pairing, {}}, direction, x, half_cos, half_sin);
        const TestTensor full = Turned({pairing, {}}, direction, x, cos, sin);
        EXPECT_TRUE(SameElements(half.in(), full.in())) << PairingName(pairing);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, PropertiesTest, testing::ValuesIn(AllDtypes()),
                         [](const testing::TestParamInfo<Dtypes>& info) {
                           return Name(info.param);
                         });

}  // namespace
}  // namespace ropewalk::test
