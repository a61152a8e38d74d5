// What users of rotary kernels reported, as checks of this API: wrong numbers.
// The letter and number name a report in the list of public reports.

#include <cmath>
#include <thread>

#include "gtest/gtest.h"
#include "reference.h"
#include "rule_cases.h"

namespace ropewalk_aclnn {
namespace {

std::string Message() { return aclGetRecentErrMsg(); }

Values Ones(size_t count) { return Values(count, 1.0); }
Values Zeros(size_t count) { return Values(count, 0.0); }

// A forward of one row.
Values ForwardRow(int mode, const Values& x, const Values& cos,
                  const Values& sin, aclDataType dtype = ACL_FLOAT) {
  const Shape shape = {1, 1, 1, static_cast<int64_t>(x.size())};
  Arguments a;
  a.mode = mode;
  a.Put(0, TestTensor(shape, x, dtype));
  a.Put(1, TestTensor(shape, cos, dtype));
  a.Put(2, TestTensor(shape, sin, dtype));
  a.Put(3, TestTensor(shape, dtype));
  EXPECT_EQ(Call(a), 0) << Message();
  return a[3].Values();
}

// All gradients of one row, x = [5, 6, 7, 8].
Arguments GradRow(int mode, const Values& dy, const Values& cos,
                  const Values& sin) {
  const Shape shape = {1, 1, 1, 4};
  Arguments a;
  a.op = Op::kRotaryPositionEmbeddingGrad;
  a.mode = mode;
  a.Put(0, TestTensor(shape, dy));
  a.Put(1, TestTensor(shape, cos));
  a.Put(2, TestTensor(shape, sin));
  a.Put(3, TestTensor(shape, {5, 6, 7, 8}));
  for (int i : {4, 5, 6}) a.Put(i, TestTensor(shape));
  EXPECT_EQ(Call(a), 0) << Message();
  return a;
}

// A cache call with one key head like the query's first; row p of the cache is
// `row(p)`.
template <class Row>
Arguments Cached(int64_t tokens, int64_t heads, int64_t head_size,
                 int64_t rotary, Row row) {
  Arguments a;
  a.op = Op::kRopeWithSinCosCacheV2;
  a.head_size = head_size;
  a.Put(0, TestTensor({tokens}, ACL_INT64));
  for (int i : {1, 4}) a.Put(i, TestTensor({tokens, heads * head_size}));
  for (int i : {2, 5}) a.Put(i, TestTensor({tokens, head_size}));
  a.Put(3, TestTensor({8, rotary}));
  Values cache;
  for (int p = 0; p < 8; ++p) {
    for (int64_t i = 0; i < rotary; ++i) cache.push_back(row(p, i));
  }
  a[3].Set(cache);
  a[1].Fill(1);
  a[2].Fill(1);
  return a;
}

// cos = p, sin = 0: the output shows which row was taken.
auto RowNumbers(int64_t rotary) {
  return [rotary](int p, int64_t i) { return i < rotary / 2 ? p : 0.0; };
}
// cos = 0, sin = 1: a quarter turn.
auto QuarterTurns(int64_t rotary) {
  return [rotary](int, int64_t i) { return i < rotary / 2 ? 0.0 : 1.0; };
}

TEST(Report, A1_PairingsDiffer) {
  const Values x = {1, 2, 3, 4};
  EXPECT_EQ(ForwardRow(0, x, Zeros(4), Ones(4)), (Values{-3, -4, 1, 2}));
  EXPECT_EQ(ForwardRow(1, x, Zeros(4), Ones(4)), (Values{-2, 1, -4, 3}));
  EXPECT_EQ(ForwardRow(2, {1, 2, 3, 4, 5, 6, 7, 8}, Zeros(8), Ones(8)),
            (Values{-3, -4, 1, 2, -7, -8, 5, 6}));
}

TEST(Report, A3_StyleHoldsWithSectionsToo) {
  const UseProfile use("unlimited");
  for (bool sections : {false, true}) {
    for (bool neox : {true, false}) {
      Arguments a = Cached(1, 1, 128, 128, QuarterTurns(128));
      a.neox = neox;
      if (sections) {
        a.list = {16, 24, 24};
        a.Put(0, TestTensor({3, 1}, ACL_INT64));
      }
      Values one(128);
      one[0] = 1;
      a[1].Set(one);
      ASSERT_EQ(Call(a), 0) << Message();
      Values expected(128);
      expected[neox ? 64 : 1] = 1;
      EXPECT_EQ(a[4].Values(), expected);
    }
  }
}

TEST(Report, A5_CallsDoNotShareAMode) {
  const Values x = {1, 2, 3, 4};
  const Values turned[] = {{-3, -4, 1, 2}, {-2, 1, -4, 3}};
  auto run = [&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(ForwardRow(i % 2, x, Zeros(4), Ones(4)), turned[i % 2]);
    }
  };
  std::thread other(run);
  run();
  other.join();
}

TEST(Report, A7_InterleaveHalfReorders) {
  const Values x = {1, 2, 3, 4};
  EXPECT_EQ(ForwardRow(3, x, Ones(4), Zeros(4)), (Values{1, 3, 2, 4}));
  EXPECT_EQ(ForwardRow(3, x, Zeros(4), Ones(4)), (Values{-2, -4, 1, 3}));
  Arguments a = GradRow(3, x, Ones(4), Zeros(4));
  EXPECT_EQ(a[4].Values(), (Values{1, 3, 2, 4}));
}

TEST(Report, A9_CacheRowsAreCosThenSin) {
  const UseProfile use("unlimited");
  Arguments a = Cached(1, 1, 4, 4, [](int, int64_t i) { return i + 1.0; });
  ASSERT_EQ(Call(a), 0) << Message();
  EXPECT_EQ(a[4].Values(), (Values{-2, -2, 4, 6}));
}

TEST(Report, A12_ForwardTurnsForward) {
  EXPECT_EQ(ForwardRow(0, {1, 0}, {0, 0}, {1, 1}), (Values{0, 1}));
  Arguments a;
  a.op = Op::kRotaryPositionEmbeddingGrad;
  const Shape shape = {1, 1, 1, 2};
  a.Put(0, TestTensor(shape, {0, 1}));
  a.Put(1, TestTensor(shape, {0, 0}));
  a.Put(2, TestTensor(shape, {1, 1}));
  a.Put(4, TestTensor(shape));
  for (int i : {5, 6}) a.Put(i, TestTensor({0}));
  ASSERT_EQ(Call(a), 0) << Message();
  EXPECT_EQ(a[4].Values(), (Values{1, 0}));
}

TEST(Report, B1_PairsComeFromTheRotaryWidth) {
  Arguments a = Cached(1, 1, 256, 64, QuarterTurns(64));
  Values one(256);
  one[0] = 1;
  a[1].Set(one);
  ASSERT_EQ(Call(a), 0) << Message();
  Values expected(256);
  expected[32] = 1;
  EXPECT_EQ(a[4].Values(), expected);
}

TEST(Report, B3_B4_B5_TheTailIsCopied) {
  for (bool neox : {true, false}) {
    Arguments a = Accepted(Op::kRopeWithSinCosCache);
    a.neox = neox;
    a.head_size = 128;
    a.Put(0, TestTensor({5}, {0, 1, 2, 3, 7}, ACL_INT64));
    a.Put(1, {5, 1024}, ACL_BF16);
    a.Put(2, {5, 128}, ACL_BF16);
    a.Put(3, {8, 64}, ACL_BF16);
    a.Put(4, TestTensor({5, 1024}, ACL_BF16));
    a.Put(5, TestTensor({5, 128}, ACL_BF16));
    a[4].Fill(NAN);
    a[5].Fill(NAN);
    ASSERT_EQ(Call(a), 0) << Message();
    const Values in = a[1].Values();
    const Values out = a[4].Values();
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_FALSE(std::isnan(out[i]));
      if (i % 128 >= 64) {
        ASSERT_EQ(out[i], in[i]) << i;
      }
    }
  }
}

TEST(Report, B8_AnyEvenWidth) {
  for (int64_t d : {2, 64, 80, 96, 128, 192, 256, 512}) {
    Arguments a = Accepted(Op::kApplyRotaryPosEmbV2);
    a.Put(0, {1, 3, 2, d}, ACL_BF16);
    a.Put(1, {1, 3, 1, d}, ACL_BF16);
    for (int i : {2, 3}) a.Put(i, {1, 3, 1, d}, ACL_BF16);
    const Values q = Forward(0, a[0].shape(), a[0].Values(), a[2].shape(),
                             a[2].Values(), a[3].Values());
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[0], q);
  }
}

TEST(Report, B9_B10_SectionsAndPartialWidth) {
  Arguments a = Cached(3, 1, 128, 64, RowNumbers(64));
  a.list = {8, 12, 12};
  a.Put(0, TestTensor({3, 3}, {0, 3, 6, 1, 4, 7, 2, 5, 1}, ACL_INT64));
  ASSERT_EQ(Call(a), 0) << Message();
  const Values out = a[4].Values();
  const double rows[3][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 1}};
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t column = i % 128;
    const size_t pair = column % 32;
    const double* row = rows[i / 128];
    const double expected = column >= 64 ? 1
                            : pair < 8   ? row[0]
                            : pair < 20  ? row[1]
                                         : row[2];
    ASSERT_EQ(out[i], expected) << i;
  }
}

TEST(Report, C3_C4_InterleavedAxesSaturate) {
  const UseProfile use("unlimited");
  struct Case {
    std::vector<int64_t> sections;
    int counts[3];
  };
  const Case cases[] = {{{16, 24, 24}, {22, 21, 21}},
                        {{8, 12, 12}, {11, 11, 10}},
                        {{20, 6, 6}, {20, 6, 6}},
                        {{16, 10, 6}, {16, 10, 6}}};
  for (const Case& c : cases) {
    const int64_t half = c.sections[0] + c.sections[1] + c.sections[2];
    Arguments a = Cached(1, 1, 2 * half, 2 * half, RowNumbers(2 * half));
    a.list = c.sections;
    a.cache_mode = 1;
    a.Put(0, TestTensor({3, 1}, {1, 2, 3}, ACL_INT64));
    ASSERT_EQ(Call(a), 0) << Message();
    int counts[3] = {};
    const Values out = a[4].Values();
    for (int64_t i = 0; i < half; ++i) {
      ++counts[static_cast<int>(out[static_cast<size_t>(i)]) - 1];
    }
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_EQ(counts[axis], c.counts[axis]);
  }
}

TEST(Report, C5_RotaryDimIsTwiceTheSum) {
  Arguments a = Cached(1, 1, 128, 128, RowNumbers(128));
  a.list = {16, 24, 24};
  a.Put(0, TestTensor({3, 1}, ACL_INT64));
  EXPECT_EQ(Call(a), 0) << Message();
  a.Put(3, {8, 64});
  EXPECT_EQ(Call(a), 161002);
}

TEST(Report, C8_TablesAreNotWritten) {
  Arguments a = Accepted(Op::kRopeWithSinCosCache);
  SetSections(a, {16, 24, 24});
  const auto cache = a[3].bytes();
  const auto positions = a[0].bytes();
  ASSERT_EQ(Call(a), 0) << Message();
  const auto first = a[4].bytes();
  ASSERT_EQ(Call(a), 0) << Message();
  EXPECT_EQ(a[4].bytes(), first);
  EXPECT_EQ(a[3].bytes(), cache);
  EXPECT_EQ(a[0].bytes(), positions);
}

TEST(Report, C9_ZeroIsAPosition) {
  Arguments a = Cached(1, 1, 64, 64,
                       [](int p, int64_t i) { return i < 32 ? p + 1.0 : 0.0; });
  a.list = {8, 12, 12};
  a.Put(0, TestTensor({3, 1}, {7, 0, 0}, ACL_INT64));
  ASSERT_EQ(Call(a), 0) << Message();
  EXPECT_EQ(a[4].Values()[0], 8);
  EXPECT_EQ(a[4].Values()[8], 1);
  EXPECT_EQ(a[4].Values()[31], 1);
}

TEST(Report, C10_QuarterTurnsEachHalfByItsOwnAxis) {
  EXPECT_EQ(ForwardRow(2, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 0, 0, 0, 1, 1, 1, 1},
                       {1, 1, 1, 1, 0, 0, 0, 0}),
            (Values{-3, -4, 1, 2, 5, 6, 7, 8}));
}

TEST(Report, H5_TablesInFloatWith16BitData) {
  const UseProfile use("unlimited");
  const Shape x = {1, 64, 4, 32};
  const Shape table = {1, 64, 1, 32};
  Arguments a = Accepted(Op::kRotaryPositionEmbedding);
  for (int i : {0, 3}) a.Put(i, x, ACL_BF16);
  for (int i : {1, 2}) {
    a.Put(i, table);
    Values values;
    for (int k = 0; k < 64 * 32; ++k) values.push_back(std::cos(k * 0.37 + i));
    a[i].Set(values);
  }
  const Values y =
      Forward(0, x, a[0].Values(), table, a[1].Values(), a[2].Values());
  ASSERT_EQ(Call(a), 0) << Message();
  ExpectValues(a[3], y);
}

TEST(Report, H8_OneRounding) {
  const Values y = ForwardRow(0, {2.40625, -2.296875}, {5.9375, 5.9375},
                              {-6.21875, -6.21875}, ACL_BF16);
  EXPECT_EQ(y[0], 0.00341796875);
}

TEST(Report, H13_OverflowIsInfinity) {
  Values y = ForwardRow(0, {40000, 40000}, {2, 2}, {2, 2}, ACL_FLOAT16);
  EXPECT_EQ(y, (Values{0, HUGE_VAL}));
  y = ForwardRow(0, {3e38, 3e38}, {1, 1}, {1, 1}, ACL_BF16);
  EXPECT_EQ(y, (Values{0, HUGE_VAL}));
}

TEST(Report, I1_BackwardUsesThePartnersSin) {
  const Values g = {1, 2, 3, 4};
  EXPECT_EQ(GradRow(0, g, Zeros(4), g)[4].Values(), (Values{9, 16, -1, -4}));
  EXPECT_EQ(GradRow(1, g, Zeros(4), g)[4].Values(), (Values{4, -1, 16, -9}));
  EXPECT_EQ(GradRow(3, g, Zeros(4), g)[4].Values(), (Values{9, -1, 16, -4}));
}

TEST(Report, I4_BackwardTakesAnyStrides) {
  const Shape x = {2, 3, 4, 8};
  const Shape table = {1, 3, 1, 8};
  for (int mode = 0; mode < 4; ++mode) {
    Arguments a = Accepted(Op::kRotaryPositionEmbeddingGrad);
    a.mode = mode;
    // dy lies with heads outside; x is a slice of a packed buffer.
    a.Put(0, std::move(TestTensor(x, {96, 8, 24, 1}, 0, 192).FillRandom(1)));
    a.Put(3, std::move(TestTensor(x, {288, 96, 24, 1}, 8, 600).FillRandom(2)));
    a.Put(4, x);
    for (int i : {1, 2, 5, 6}) a.Put(i, table);
    const Values dx =
        Backward(mode, x, a[0].Values(), table, a[1].Values(), a[2].Values());
    Values dcos(24);
    Values dsin(24);
    AddSums(mode, x, a[3].Values(), a[0].Values(), table, &dcos, &dsin);
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[4], dx);
    ExpectValues(a[5], dcos);
    ExpectValues(a[6], dsin);
  }
}

TEST(Report, I10_GradientsOfTheTables) {
  const Values g = {1, 2, 3, 4};
  const Values dsin[] = {{-7, -16, 15, 24}, {-6, 10, -24, 28}};
  for (int mode : {0, 1}) {
    Arguments a = GradRow(mode, g, g, g);
    EXPECT_EQ(a[5].Values(), (Values{5, 12, 21, 32}));
    EXPECT_EQ(a[6].Values(), dsin[mode]);
  }
  Arguments a = GradRow(3, g, g, g);
  EXPECT_EQ(a[5].Values(), (Values{5, 14, 18, 32}));
  EXPECT_EQ(a[6].Values(), (Values{-6, -16, 15, 28}));
}

}  // namespace
}  // namespace ropewalk_aclnn
