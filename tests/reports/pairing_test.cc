// Reports on pairings, partial widths, axes and positions (A to D), as checks
// of the native API. docs/reports.md lists which report is checked where.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "reports/values.h"
#include "support/cached.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

constexpr Direction kForward = Direction::kForward;
constexpr Direction kBackward = Direction::kBackward;

Values Fill(size_t count, double value) { return Values(count, value); }

Values Counting(int64_t count) {
  Values values;
  for (int64_t i = 1; i <= count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

TEST(Report, A1_PairingsDiffer) {
  const Values x = Counting(4), no = Fill(4, 0), one = Fill(4, 1);
  EXPECT_EQ(TurnRow(Pairing::kHalf, kForward, x, no, one),
            (Values{-3, -4, 1, 2}));
  EXPECT_EQ(TurnRow(Pairing::kInterleave, kForward, x, no, one),
            (Values{-2, 1, -4, 3}));
  EXPECT_EQ(
      TurnRow(Pairing::kQuarter, kForward, Counting(8), Fill(8, 0), Fill(8, 1)),
      (Values{-3, -4, 1, 2, -7, -8, 5, 6}));
}

TEST(Report, A3_StyleHoldsWithSectionsToo) {
  for (const CachedStyle style : {CachedStyle::kNeox, CachedStyle::kGptj}) {
    for (const bool sections : {false, true}) {
      SmallCached call{1, 128, 128};
      call.style = style;
      call.row = QuarterTurns(128);
      call.query = Fill(128, 0);
      call.query[0] = 1;
      if (sections) {
        call.sections = {16, 24, 24};
        call.positions = {1, 2, 3};
      }
      Values want = Fill(128, 0);
      want[style == CachedStyle::kNeox ? 64 : 1] = 1;
      EXPECT_EQ(RowsOf(call), want);
    }
  }
}

// Pair rotation and axis layout are two parameters: four results, each as two
// plain steps make it.
TEST(Report, A4_StyleAndAxesAreIndependent) {
  Random random(1);
  const int64_t half = 64;
  SmallCached call{1, 128, 128};
  call.sections = {24, 20, 20};
  call.positions = {0, 1, 2};
  call.row = [](int64_t p, int64_t i) { return std::cos(0.3 * p + i); };
  call.query.clear();
  for (int64_t i = 0; i < 2 * half; ++i) {
    call.query.push_back(static_cast<float>(random.Normal()));
  }
  std::vector<Values> results;
  for (const CachedStyle style : {CachedStyle::kNeox, CachedStyle::kGptj}) {
    for (const AxisLayout axes :
         {AxisLayout::kSegmented, AxisLayout::kInterleaved}) {
      call.style = style;
      call.axes = axes;
      Values want(static_cast<size_t>(2 * half));
      for (int64_t k = 0; k < half; ++k) {
        const int64_t axis = axes == AxisLayout::kSegmented ? (k < 24   ? 0
                                                               : k < 44 ? 1
                                                                        : 2)
                             : k % 3 == 1 && k < 60         ? 1
                             : k % 3 == 2 && k < 60         ? 2
                                                            : 0;
        const auto c = static_cast<float>(call.row(axis, k));
        const auto s = static_cast<float>(call.row(axis, half + k));
        const bool neox = style == CachedStyle::kNeox;
        const auto i = static_cast<size_t>(neox ? k : 2 * k);
        const auto j = static_cast<size_t>(neox ? k + half : 2 * k + 1);
        const auto a = static_cast<float>(call.query[i]);
        const auto b = static_cast<float>(call.query[j]);
        const float ac = a * c, bs = b * s, bc = b * c, as = a * s;
        want[i] = ac - bs;
        want[j] = bc + as;
      }
      results.push_back(RowsOf(call));
      EXPECT_EQ(results.back(), want);
    }
  }
  std::sort(results.begin(), results.end());
  EXPECT_EQ(std::unique(results.begin(), results.end()), results.end());
}

TEST(Report, A5_CallsDoNotShareAPairing) {
  const Values x = Counting(4), no = Fill(4, 0), one = Fill(4, 1);
  const auto run = [&] {
    for (int i = 0; i < 100; ++i) {
      const bool half = i % 2 == 0;
      EXPECT_EQ(TurnRow(half ? Pairing::kHalf : Pairing::kInterleave, kForward,
                        x, no, one),
                half ? (Values{-3, -4, 1, 2}) : (Values{-2, 1, -4, 3}));
    }
  };
  std::thread other(run);
  run();
  other.join();
}

TEST(Report, A7_InterleaveHalfReorders) {
  const Values x = Counting(4), no = Fill(4, 0), one = Fill(4, 1);
  const Pairing pairing = Pairing::kInterleaveHalf;
  EXPECT_EQ(TurnRow(pairing, kForward, x, one, no), (Values{1, 3, 2, 4}));
  EXPECT_EQ(TurnRow(pairing, kForward, x, no, one), (Values{-2, -4, 1, 3}));
  EXPECT_EQ(TurnRow(pairing, kBackward, x, one, no), (Values{1, 3, 2, 4}));
}

TEST(Report, A9_CacheRowsAreCosThenSin) {
  SmallCached call;
  call.row = [](int64_t, int64_t i) { return i + 1.0; };
  EXPECT_EQ(RowsOf(call), (Values{-2, -2, 4, 6}));
}

TEST(Report, A12_ForwardTurnsForward) {
  const Values turned =
      TurnRow(Pairing::kHalf, kForward, {1, 0}, {0, 0}, {1, 1});
  EXPECT_EQ(turned, (Values{0, 1}));
  EXPECT_EQ(TurnRow(Pairing::kHalf, kBackward, turned, {0, 0}, {1, 1}),
            (Values{1, 0}));
}

TEST(Report, B1_PairsComeFromTheRotaryWidth) {
  SmallCached call{1, 256, 64};
  call.row = QuarterTurns(64);
  call.query = Fill(256, 0);
  call.query[0] = 1;
  Values want = Fill(256, 0);
  want[32] = 1;
  EXPECT_EQ(RowsOf(call), want);
}

// Caches end where their rows do; columns behind rotary_dim are copied.
TEST(Report, B3_B4_B5_TheTailIsCopied) {
  Random random(2);
  for (const CachedStyle style : {CachedStyle::kNeox, CachedStyle::kGptj}) {
    for (const Dtype dtype : {Dtype::kBF16, Dtype::kF16}) {
      CachedShapes shapes{{128, style}};
      shapes.tokens = dtype == Dtype::kF16 ? 3 : 5;
      shapes.query_heads = 32;
      shapes.key_heads = 2;
      shapes.rows = dtype == Dtype::kF16 ? 16 : 8;
      shapes.rotary_dim = 64;
      shapes.data = shapes.cache = dtype;
      CachedCase c(shapes, random);
      ForEachTarget([&] { c.Check(); });
    }
  }
  TestTensor x(Dtype::kF32, {3, 128}, Data::kNormal, random);
  TestTensor table(Dtype::kF32, {3, 64}, Data::kUnit, random);
  ExpectReference({Pairing::kHalf, Slice{0, 64}}, kForward, x, table, table);
}

TEST(Report, B8_AnyEvenWidth) {
  Random random(3);
  for (const int64_t d : {2, 64, 80, 96, 128, 192, 256, 512}) {
    TestTensor x(Dtype::kBF16, {1, 3, 2, d}, Data::kNormal, random);
    TestTensor table(Dtype::kBF16, {1, 3, 1, d}, Data::kUnit, random);
    ExpectReference({}, kForward, x, table, table);
  }
}

TEST(Report, B9_B10_SectionsPartialWidthAndRowStride) {
  SmallCached call{1, 128, 64, 10};
  call.row = RowNumbers(64);
  call.sections = {8, 12, 12};
  call.positions = {0, 3, 6, 1, 4, 7, 2, 5, 8};
  const Values out = RowsOf(call);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t column = i % 128, pair = column % 32, token = i / 128;
    const size_t axis = pair < 8 ? 0 : pair < 20 ? 1 : 2;
    const double row = call.positions[axis * 3 + token];
    ASSERT_EQ(out[i], column >= 64 ? 1 : row) << i;
  }
  // Rows of 64 in a cache whose rows lie 80 apart.
  TestTensor positions = Of(Dtype::kI64, {3}, {1, 2, 3});
  TestTensor cache(Strided(Dtype::kF32, {4, 64}, {80, 1}));
  for (int64_t row = 0; row < 4; ++row) {
    for (int64_t i = 0; i < 64; ++i) {
      cache.Set(row * 64 + i, i < 32 ? static_cast<double>(row) : 0.0);
    }
  }
  TestTensor query(Dtype::kF32, {3, 128});
  query.Fill(1.0);
  CachedRun run;
  run.options.head_size = 128;
  run.positions = positions.in();
  run.cache = cache.in();
  run.query = query.in();
  run.query_out = query.out();
  RW_ASSERT_OK(Execute(run));
  for (int64_t token = 0; token < 3; ++token) {
    const auto row = static_cast<double>(token + 1);
    for (int64_t i = 0; i < 128; ++i) {
      ASSERT_EQ(query.At(token * 128 + i), i < 64 ? row : 1.0) << token;
    }
  }
}

// How many pairs each axis has, by rows 1, 2, 3 of the cache.
std::vector<int64_t> AxisCounts(const std::vector<int64_t>& sections,
                                int64_t half) {
  SmallCached call{1, 2 * half, 2 * half};
  call.sections = sections;
  call.axes = AxisLayout::kInterleaved;
  call.positions = {1, 2, 3};
  call.row = RowNumbers(2 * half);
  const Values out = RowsOf(call);
  std::vector<int64_t> counts(3);
  for (int64_t i = 0; i < half; ++i) {
    ++counts[static_cast<size_t>(out[static_cast<size_t>(i)]) - 1];
  }
  return counts;
}

TEST(Report, C3_C4_InterleavedAxesSaturate) {
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(AxisCounts({16, 24, 24}, 64), (Counts{22, 21, 21}));
  EXPECT_EQ(AxisCounts({8, 12, 12}, 32), (Counts{11, 11, 10}));
  EXPECT_EQ(AxisCounts({20, 6, 6}, 32), (Counts{20, 6, 6}));
  // The third section bounds the third axis, not the second.
  EXPECT_EQ(AxisCounts({16, 10, 6}, 32), (Counts{16, 10, 6}));
}

TEST(Report, C5_RotaryDimIsTwiceTheSum) {
  SmallCached call{1, 128, 128};
  call.row = RowNumbers(128);
  call.sections = {16, 24, 24};
  call.positions = {0, 1, 2};
  EXPECT_EQ(RowsOf(call).size(), 128u);
  call.rotary_dim = 64;
  EXPECT_EQ(Try(call).code(), Code::kOption);
}

TEST(Report, C6_AnySections) {
  Random random(4);
  for (const std::vector<int64_t>& sections : {std::vector<int64_t>{24, 20, 20},
                                               {11, 11, 10},
                                               {8, 12, 12},
                                               {1, 1, 2},
                                               {16, 16, 16, 16}}) {
    CachedShapes shapes;
    shapes.sections = sections;
    for (const int64_t s : sections) shapes.rotary_dim += 2 * s;
    shapes.options.head_size = shapes.rotary_dim + 6;
    CachedCase c(shapes, random);
    ForEachTarget([&] { c.Check(); });
  }
}

TEST(Report, C8_TablesAreNotWritten) {
  Random random(5);
  CachedShapes shapes{{64}};
  shapes.rotary_dim = 64;
  shapes.sections = {8, 12, 12};
  TestTensor cache(Dtype::kF32, {9, 64}, Data::kUnit, random);
  TestTensor positions = Of(Dtype::kI64, {3, 2}, {1, 8, 3, 0, 4, 4});
  TestTensor query(Dtype::kF32, {2, 64}, Data::kNormal, random);
  const TestTensor cache_before = cache, positions_before = positions;
  TestTensor first(query.desc()), second(query.desc());
  for (const TestTensor* out : {&first, &second}) {
    CachedRun run;
    run.options = {64, CachedStyle::kNeox, shapes.sections};
    run.positions = positions.in();
    run.cache = cache.in();
    run.query = query.in();
    run.query_out = out->out();
    RW_ASSERT_OK(Execute(run));
  }
  EXPECT_TRUE(SameMemory(first, second));
  EXPECT_TRUE(SameMemory(cache, cache_before));
  EXPECT_TRUE(SameMemory(positions, positions_before));
}

TEST(Report, C9_ZeroIsAPosition) {
  SmallCached call{1, 64, 64};
  call.sections = {8, 12, 12};
  call.positions = {7, 0, 0};
  call.row = [](int64_t p, int64_t i) { return i < 32 ? p + 1.0 : 0.0; };
  const Values out = RowsOf(call);
  for (size_t i = 0; i < 64; ++i) ASSERT_EQ(out[i], i % 32 < 8 ? 8 : 1) << i;
}

TEST(Report, C10_QuarterTurnsEachHalfByItsOwnAxis) {
  EXPECT_EQ(TurnRow(Pairing::kQuarter, kForward, Counting(8),
                    {0, 0, 0, 0, 1, 1, 1, 1}, {1, 1, 1, 1, 0, 0, 0, 0}),
            (Values{-3, -4, 1, 2, 5, 6, 7, 8}));
}

// The values that index are those that are checked, however long they are.
TEST(Report, D1_D2_PositionsOutsideTheCacheAreRefused) {
  SmallCached call{1, 64, 64, 4};
  call.row = RowNumbers(64);
  for (const Values& positions : {Values{0, 3, 4}, {-1}, {0, 0, -1}}) {
    call.positions = positions;
    EXPECT_EQ(Try(call).code(), Code::kPosition);
  }
  call.positions = {0, 3};
  EXPECT_TRUE(Try(call).ok());
  // Four tokens from 3 on need rows to 6, though 4 are fewer than 6 rows.
  call.rows = 6;
  call.positions = {3, 4, 5, 6};
  EXPECT_EQ(Try(call).code(), Code::kPosition);
}

TEST(Report, D5_ShortTablesAreRefused) {
  RotateTensors tensors;
  tensors.x = tensors.y = Contiguous(Dtype::kF32, {1, 5, 2, 8});
  tensors.cos = tensors.sin = Contiguous(Dtype::kF32, {1, 4, 1, 8});
  const Result<Plan> plan = MakeRotatePlan({}, tensors);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), Code::kShape);
}

TEST(Report, D8_PositionsOf32And64Bits) {
  Random random(6);
  TestTensor cache(Dtype::kF32, {9, 8}, Data::kUnit, random);
  TestTensor query(Dtype::kF32, {4, 16}, Data::kNormal, random);
  TestTensor wide(query.desc()), narrow(query.desc());
  for (const bool is_wide : {true, false}) {
    const TestTensor positions =
        Of(is_wide ? Dtype::kI64 : Dtype::kI32, {4}, {5, 6, 7, 8});
    CachedRun run;
    run.options.head_size = 8;
    run.positions = positions.in();
    run.cache = cache.in();
    run.query = query.in();
    run.query_out = (is_wide ? wide : narrow).out();
    RW_ASSERT_OK(Execute(run));
  }
  EXPECT_TRUE(SameMemory(wide, narrow));
}

TEST(Report, D9_ValuesOfPositionsCount) {
  SmallCached call{1, 8, 8};
  call.row = [](int64_t p, int64_t i) { return std::cos(p * 8.0 + i); };
  for (const Values& positions : {Values{5, 6, 7}, {0, 0, 1, 0, 1}}) {
    call.positions = positions;
    const Values all = RowsOf(call);
    for (size_t t = 0; t < positions.size(); ++t) {
      SmallCached one = call;
      one.positions = {positions[t]};
      const Values alone = RowsOf(one);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                             all.begin() + static_cast<ptrdiff_t>(t) * 8));
    }
  }
}

TEST(Report, D10_EachBatchRowStartsAnew) {
  Random random(7);
  TestTensor x(Dtype::kF32, {2, 3, 2, 8}, Data::kNormal, random);
  for (int64_t i = 0; i < 48; ++i) x.Set(48 + i, x.At(i));
  TestTensor table(Dtype::kF32, {1, 3, 1, 8}, Data::kUnit, random);
  TestTensor y(x.desc());
  RW_ASSERT_OK(
      Execute(Turn{{}, kForward, x.in(), table.in(), table.in(), y.out()}));
  const Values values = ValuesOf(y);
  EXPECT_TRUE(
      std::equal(values.begin(), values.begin() + 48, values.begin() + 48));
}

}  // namespace
}  // namespace ropewalk::test
