// src/core/layout: overlap of strided tensors, against counting every byte.

#include "core/layout.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace ropewalk {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

// Offsets of all elements, in elements, as often as they occur.
std::vector<int64_t> Offsets(const TensorDesc& desc) {
  std::vector<int64_t> offsets = {0};
  for (int axis = 0; axis < desc.rank; ++axis) {
    std::vector<int64_t> next;
    for (int64_t i = 0; i < desc.shape[axis]; ++i) {
      for (int64_t offset : offsets) {
        next.push_back(offset + i * desc.strides[axis]);
      }
    }
    offsets = next;
  }
  return offsets;
}

std::set<int64_t> Bytes(const TensorDesc& desc, int64_t origin) {
  const auto size = static_cast<int64_t>(DtypeSize(desc.dtype));
  std::set<int64_t> bytes;
  for (int64_t offset : Offsets(desc)) {
    for (int64_t i = 0; i < size; ++i) bytes.insert(origin + offset * size + i);
  }
  return bytes;
}

class RandomDesc {
 public:
  TensorDesc operator()(Dtype dtype) {
    TensorDesc desc;
    desc.dtype = dtype;
    desc.rank = static_cast<int>(Int(1, 4));
    for (int axis = 0; axis < desc.rank; ++axis) {
      desc.shape[axis] = Int(0, 9) == 0 ? 0 : Int(1, 4);
      desc.strides[axis] = Int(-12, 12);
    }
    return desc;
  }
  int64_t Int(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % (high - low + 1));
  }

 private:
  std::mt19937_64 engine_{7};
};

TEST(CoreLayoutTest, OverlapsItselfAsCounted) {
  RandomDesc random;
  for (int round = 0; round < 20000; ++round) {
    const TensorDesc desc = random(Dtype::kF32);
    const std::vector<int64_t> offsets = Offsets(desc);
    const std::set<int64_t> distinct(offsets.begin(), offsets.end());
    const Answer want =
        distinct.size() < offsets.size() ? Answer::kYes : Answer::kNo;
    ASSERT_EQ(OverlapsItself(desc), want) << "round " << round;
  }
}

TEST(CoreLayoutTest, OverlapsAsCounted) {
  RandomDesc random;
  const Dtype dtypes[] = {Dtype::kF32, Dtype::kF16, Dtype::kF64};
  alignas(8) static char memory[4096];
  for (int round = 0; round < 20000; ++round) {
    const TensorDesc a = random(dtypes[random.Int(0, 2)]);
    const TensorDesc b = random(dtypes[random.Int(0, 2)]);
    const int64_t shift = random.Int(-80, 80);
    const std::set<int64_t> a_bytes = Bytes(a, 0), b_bytes = Bytes(b, shift);
    bool meet = false;
    for (int64_t byte : b_bytes) meet = meet || a_bytes.count(byte) > 0;
    const Answer want = meet ? Answer::kYes : Answer::kNo;
    const char* base = memory + 2048;
    ASSERT_EQ(Overlaps(a, base, b, base + shift), want) << "round " << round;
    ASSERT_EQ(Overlaps(b, base + shift, a, base), want) << "round " << round;
  }
}

TEST(CoreLayoutTest, ExtentAsCounted) {
  RandomDesc random;
  for (int round = 0; round < 5000; ++round) {
    const TensorDesc desc = random(Dtype::kF16);
    const std::set<int64_t> bytes = Bytes(desc, 0);
    Extent extent;
    ASSERT_TRUE(ComputeExtent(desc, &extent));
    ASSERT_EQ(extent.empty(), bytes.empty());
    if (bytes.empty()) continue;
    ASSERT_EQ(extent.lowest, *bytes.begin());
    ASSERT_EQ(extent.end, *bytes.rbegin() + 1);
    ASSERT_EQ(NumElements(desc), static_cast<int64_t>(Offsets(desc).size()));
  }
}

TEST(CoreLayoutTest, ExtentRefusesWhatDoesNotFit) {
  Extent extent;
  using D = TensorDesc;
  const auto fits = [&](const D& desc) { return ComputeExtent(desc, &extent); };
  EXPECT_FALSE(fits(D::Strided(Dtype::kF32, {kMax, 2}, {1, 1})));
  EXPECT_FALSE(fits(D::Strided(Dtype::kF32, {kMax}, {0})));
  EXPECT_FALSE(fits(D::Strided(Dtype::kF32, {2, 2}, {kMax, 1})));
  EXPECT_FALSE(fits(D::Strided(Dtype::kF32, {2, 2}, {kMin, 1})));
  EXPECT_FALSE(fits(D::Strided(Dtype::kF32, {2, 2}, {kMax / 4, kMax / 4})));
  EXPECT_FALSE(
      fits(D::Strided(Dtype::kF64, {int64_t{1} << 31, int64_t{1} << 31},
                      {int64_t{1} << 31, 1})));
  // From both sides of the limit.
  const int64_t step = (int64_t{1} << 61) - 3;
  for (const int64_t sign : {1, -1}) {
    const auto of = [&](int64_t stride) {
      return D::Strided(Dtype::kF16, {2, 2}, {sign * stride, 1});
    };
    EXPECT_TRUE(fits(of(step)));
    EXPECT_EQ(extent.end - extent.lowest, 2 * step + 4);
    EXPECT_FALSE(fits(of(step + 1)));
  }
  // Each within the limit, but not what lies between them.
  EXPECT_FALSE(
      fits(D::Strided(Dtype::kF16, {2, 2}, {step / 2 + 3, -step / 2})));
  const auto rows = [](int64_t columns) {
    return D::Strided(Dtype::kF16, {int64_t{1} << 31, columns}, {0, 0});
  };
  EXPECT_TRUE(fits(rows((int64_t{1} << 30) - 1)));
  EXPECT_FALSE(fits(rows(int64_t{1} << 30)));
  // No dtype hides them either.
  const auto none = static_cast<Dtype>(99);
  EXPECT_TRUE(fits(D::Strided(none, {kMax / 2}, {1})));
  EXPECT_FALSE(fits(D::Strided(none, {kMax / 2 + 1}, {1})));
  EXPECT_FALSE(fits(D::Strided(none, {kMax, kMax}, {kMax, 1})));
  // A size of 0 hides no product of others.
  EXPECT_FALSE(fits(D::Strided(Dtype::kF32, {0, kMax}, {kMax, 1})));
  EXPECT_FALSE(fits(D::Strided(Dtype::kF32, {kMax / 8, 0, 3}, {0, 0, 1})));
  // Where an axis is empty or has one index its stride says nothing.
  EXPECT_TRUE(fits(D::Strided(Dtype::kF32, {0, 4}, {kMax, 1})));
  EXPECT_TRUE(fits(D::Strided(Dtype::kF32, {1, 4}, {kMax, 1})));
  EXPECT_TRUE(fits(D::Strided(Dtype::kF32, {1, 4}, {kMin, 1})));
}

TEST(CoreLayoutTest, StrideOfAnAxisOfOneSaysNothing) {
  static float memory[8];
  const TensorDesc odd = TensorDesc::Strided(Dtype::kF32, {1, 4}, {kMin, 1});
  const TensorDesc plain = TensorDesc::Contiguous(Dtype::kF32, {1, 4});
  EXPECT_EQ(OverlapsItself(odd), Answer::kNo);
  EXPECT_EQ(Overlaps(odd, memory, odd, memory + 4), Answer::kNo);
  EXPECT_EQ(Overlaps(odd, memory, plain, memory + 3), Answer::kYes);
  EXPECT_TRUE(SameLayout(odd, plain));
}

// Layouts of everyday use are decided, however large.
TEST(CoreLayoutTest, EverydayLayoutsAreDecided) {
  using D = TensorDesc;
  const int64_t tokens = 1 << 20, row = 3 * 64 * 128;
  char* base = reinterpret_cast<char*>(uintptr_t{1} << 40);
  const D part = D::Strided(Dtype::kF16, {tokens, 64, 128}, {row, 128, 1});
  EXPECT_EQ(OverlapsItself(part), Answer::kNo);
  EXPECT_EQ(Overlaps(part, base, part, base + 2 * 64 * 128), Answer::kNo);
  EXPECT_EQ(Overlaps(part, base, part, base + 2 * 64 * 128 - 2), Answer::kYes);
  EXPECT_EQ(Overlaps(part, base, part, base + 4 * 64 * 128), Answer::kNo);
  // (batch, heads, tokens, D) views of (batch, tokens, heads, D).
  const D bnsd = D::Strided(Dtype::kF16, {8, 64, 4096, 128},
                            {int64_t{4096} * row, 128, row, 1});
  EXPECT_EQ(OverlapsItself(bnsd), Answer::kNo);
  EXPECT_EQ(Overlaps(bnsd, base, bnsd, base + 2 * 64 * 128), Answer::kNo);
  // Even and odd columns, an axis reversed.
  const D even = D::Strided(Dtype::kF32, {1000, 64}, {-128, 2});
  EXPECT_EQ(Overlaps(even, base, even, base + 4), Answer::kNo);
  EXPECT_EQ(Overlaps(even, base, even, base + 8), Answer::kYes);
  // Rows that overlap by a window, as a convolution sees them.
  const D window = D::Strided(Dtype::kF32, {1000, 64}, {1, 1});
  EXPECT_EQ(OverlapsItself(window), Answer::kYes);
  // Heads in reverse and every second token.
  const D odd =
      D::Strided(Dtype::kBF16, {4096, 32, 128}, {2 * 32 * 128, -128, 1});
  EXPECT_EQ(OverlapsItself(odd), Answer::kNo);
  EXPECT_EQ(Overlaps(odd, base, odd, base + 2 * 32 * 128), Answer::kNo);
}

// Steps of about one size, none a sum of others: too many sums to try.
TensorDesc TooHard() {
  return TensorDesc::Strided(Dtype::kF32, {4, 4, 4, 4, 4, 4, 4, 4},
                             {1000000007, 1171319531, 1308345127, 1443110399,
                              1597463007, 1700000009, 1832719231, 1999999973});
}

TEST(CoreLayoutTest, WhatTakesTooLongIsUnknown) {
  const TensorDesc hard = TooHard();
  EXPECT_EQ(OverlapsItself(hard), Answer::kUnknown);
  TensorDesc other = hard;
  for (int axis = 0; axis < other.rank; ++axis) {
    other.strides[axis] += 2 * axis + 1;
  }
  const auto* at = reinterpret_cast<const char*>(uintptr_t{1} << 40);
  EXPECT_EQ(Overlaps(hard, at, other, at + 4000000004), Answer::kUnknown);
}

}  // namespace
}  // namespace ropewalk
