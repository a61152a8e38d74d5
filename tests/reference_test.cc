// The reference itself: its conversions against the definitions, its formulas
// against numbers worked out by hand.

#include "kernels/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/test_tensor.h"

namespace ropewalk::test {
namespace {

uint16_t Bits16(Dtype dtype, double value) {
  uint16_t bits;
  reference::Encode(dtype, value, &bits);
  return bits;
}

double Value16(Dtype dtype, uint16_t bits) {
  return reference::Decode(dtype, &bits);
}

TEST(ReferenceTest, SixteenBitNumbersSurvive) {
  for (Dtype dtype : {Dtype::kF16, Dtype::kBF16}) {
    for (int i = 0; i < 1 << 16; ++i) {
      const auto bits = static_cast<uint16_t>(i);
      const double value = Value16(dtype, bits);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(Value16(dtype, Bits16(dtype, value))));
      } else {
        ASSERT_EQ(Bits16(dtype, value), bits);
      }
    }
  }
}

TEST(ReferenceTest, KnownNumbers) {
  EXPECT_EQ(Value16(Dtype::kF16, 0x3c00), 1.0);
  EXPECT_EQ(Value16(Dtype::kF16, 0xc000), -2.0);
  EXPECT_EQ(Value16(Dtype::kF16, 0x0001), 0x1p-24);
  EXPECT_EQ(Value16(Dtype::kF16, 0x0400), 0x1p-14);
  EXPECT_EQ(Value16(Dtype::kF16, 0x7bff), 65504.0);
  EXPECT_TRUE(std::isinf(Value16(Dtype::kF16, 0x7c00)));
  EXPECT_TRUE(std::isnan(Value16(Dtype::kF16, 0x7c01)));
  // A bfloat16 is the upper half of a float.
  for (int i = 0; i < 1 << 16; ++i) {
    const uint32_t bits = static_cast<uint32_t>(i) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    const double got = Value16(Dtype::kBF16, static_cast<uint16_t>(i));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(got));
    } else {
      ASSERT_EQ(got, static_cast<double>(value));
      ASSERT_EQ(std::signbit(got), std::signbit(value));
    }
  }
}

// Between neighbours: below, at and above the middle.
TEST(ReferenceTest, RoundsToNearestTiesToEven) {
  for (Dtype dtype : {Dtype::kF16, Dtype::kBF16}) {
    const int last = dtype == Dtype::kF16 ? 0x7bff : 0x7f7f;
    for (int i = 0; i < last; ++i) {
      const double low = Value16(dtype, static_cast<uint16_t>(i));
      const double high = Value16(dtype, static_cast<uint16_t>(i + 1));
      const double middle = (low + high) / 2;
      ASSERT_EQ(Bits16(dtype, middle), i % 2 == 0 ? i : i + 1);
      ASSERT_EQ(Bits16(dtype, std::nextafter(middle, 0.0)), i);
      ASSERT_EQ(Bits16(dtype, std::nextafter(middle, 1e300)), i + 1);
      ASSERT_EQ(Bits16(dtype, -middle), (i % 2 == 0 ? i : i + 1) | 0x8000);
    }
  }
  EXPECT_EQ(Bits16(Dtype::kF16, 65519.99), 0x7bff);
  EXPECT_EQ(Bits16(Dtype::kF16, 65520.0), 0x7c00);
  EXPECT_EQ(Bits16(Dtype::kF16, 1e300), 0x7c00);
  EXPECT_EQ(Bits16(Dtype::kBF16, -0x1.ffp127), 0xff80);
  EXPECT_EQ(Bits16(Dtype::kF16, -0.0), 0x8000);
}

TEST(ReferenceTest, PairsByHand) {
  // y[p] = a cos[p] - b sin[p], y[r] = b cos[r] + a sin[r].
  const double x[] = {1, 2, 3, 4};
  const double c[] = {2, 3, 5, 7};
  const double s[] = {11, 13, 17, 19};
  const double want[4][4] = {
      {1 * 2 - 3 * 11, 2 * 3 - 4 * 13, 3 * 5 + 1 * 17, 4 * 7 + 2 * 19},
      {1 * 2 - 2 * 11, 2 * 3 + 1 * 13, 3 * 5 - 4 * 17, 4 * 7 + 3 * 19},
      {1 * 2 - 2 * 11, 2 * 3 + 1 * 13, 3 * 5 - 4 * 17, 4 * 7 + 3 * 19},
      {1 * 2 - 2 * 11, 3 * 3 - 4 * 13, 2 * 5 + 1 * 17, 4 * 7 + 3 * 19}};
  const TensorDesc desc = Contiguous(Dtype::kF64, {4});
  for (int mode = 0; mode < 4; ++mode) {
    double y[4];
    const RotateOptions options{static_cast<Pairing>(mode), {}};
    reference::Rotate(options, {desc, x}, {desc, c}, {desc, s}, {desc, y});
    for (int i = 0; i < 4; ++i) EXPECT_EQ(y[i], want[mode][i]) << mode;
  }
}

// The gradients are those of sum(y * g): checked by changing one input.
TEST(ReferenceTest, GradientsAreTheDerivatives) {
  const Shape shape = {2, 8};
  Random random(1);
  for (int mode = 0; mode < 4; ++mode) {
    const RotateOptions options{static_cast<Pairing>(mode), {}};
    TestTensor x(Dtype::kF64, shape, Data::kNormal, random);
    TestTensor g(Dtype::kF64, shape, Data::kNormal, random);
    TestTensor cos(Dtype::kF64, {1, 8}, Data::kNormal, random);
    TestTensor sin(Dtype::kF64, {1, 8}, Data::kNormal, random);
    TestTensor dx(Dtype::kF64, shape);
    reference::RotateBackward(options, g.in(), cos.in(), sin.in(), dx.out());
    reference::TableGradients tables;
    reference::AddTableGradients(options, g.in(), x.in(), cos.desc(), &tables);
    const auto loss = [&] {
      TestTensor y(Dtype::kF64, shape);
      reference::Rotate(options, x.in(), cos.in(), sin.in(), y.out());
      double sum = 0;
      for (int i = 0; i < 16; ++i) sum += y.At(i) * g.At(i);
      return sum;
    };
    const auto slope = [&](TestTensor* input, int64_t i) {
      const double value = input->At(i);
      input->Set(i, value + 1);  // The loss is linear in each input.
      const double up = loss();
      input->Set(i, value);
      return up - loss();
    };
    for (int i = 0; i < 16; ++i) EXPECT_NEAR(slope(&x, i), dx.At(i), 1e-12);
    for (int i = 0; i < 8; ++i) {
      EXPECT_NEAR(slope(&cos, i), tables.dcos[i], 1e-12);
      EXPECT_NEAR(slope(&sin, i), tables.dsin[i], 1e-12);
    }
  }
}

}  // namespace
}  // namespace ropewalk::test
