// Rotation by position against the reference, bit for bit, on every target.

#include <gtest/gtest.h>

#include <limits>

#include "support/cached.h"
#include "support/cases.h"
#include "support/executors.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

constexpr CachedStyle kStyles[] = {CachedStyle::kNeox, CachedStyle::kGptj};

void CheckEverywhere(const CachedShapes& shapes, Random& random,
                     bool random_layouts = false, Data data = Data::kNormal) {
  CachedCase c(shapes, random, random_layouts, data);
  ForEachTarget([&] { c.Check(); });
}

CachedShapes Base(int64_t head_size, int64_t rotary_dim) {
  CachedShapes shapes;
  shapes.options.head_size = head_size;
  shapes.rotary_dim = rotary_dim;
  return shapes;
}

TEST(CachedTest, EveryDtypeStyleDirectionAndHeadSize) {
  Random random(1);
  const std::vector<std::pair<int64_t, int64_t>> sizes = {
      {2, 2},     {3, 2},    {4, 4},    {6, 6},     {8, 4},      {11, 10},
      {16, 16},   {20, 18},  {64, 64},  {64, 32},   {80, 20},    {96, 96},
      {128, 128}, {130, 64}, {192, 64}, {256, 256}, {1000, 998}, {2052, 2050}};
  for (const Dtypes& dtypes : AllDtypes()) {
    for (CachedStyle style : kStyles) {
      for (Direction direction : kDirections) {
        for (const auto& [head_size, rotary_dim] : sizes) {
          CachedShapes shapes = Base(head_size, rotary_dim);
          shapes.options.style = style;
          shapes.options.direction = direction;
          shapes.data = dtypes.data;
          shapes.cache = dtypes.table;
          shapes.split = random.OneIn(2);
          shapes.key_heads = random.Int(0, 2);
          if (random.OneIn(2)) shapes.positions = Dtype::kI32;
          CheckEverywhere(shapes, random);
          ASSERT_FALSE(HasFatalFailure());
        }
      }
    }
  }
}

TEST(CachedTest, Sections) {
  Random random(2);
  const std::vector<std::vector<int64_t>> lists = {
      {16, 24, 24}, {24, 20, 20}, {8, 12, 12}, {11, 11, 10}, {16, 16, 0},
      {1, 0, 0},    {2, 1, 1},    {5, 1, 9},   {1, 9, 2},    {16, 16, 16, 16},
      {1, 2, 3, 4}, {3, 0, 0, 2}, {0, 0, 0},   {0, 5, 5}};
  for (const auto& sections : lists) {
    int64_t half = 0;
    for (int64_t section : sections) half += section;
    if (sections[0] == 0) half = 10;
    for (AxisLayout axes : {AxisLayout::kSegmented, AxisLayout::kInterleaved}) {
      if (axes == AxisLayout::kInterleaved && sections.size() == 4) continue;
      for (CachedStyle style : kStyles) {
        for (Direction direction : kDirections) {
          CachedShapes shapes = Base(2 * half + random.Int(0, 3), 2 * half);
          shapes.options = {
              shapes.options.head_size, style, {}, axes, direction};
          shapes.sections = sections;
          const Dtypes dtypes = random.Pick(AllDtypes());
          shapes.data = dtypes.data;
          shapes.cache = dtypes.table;
          shapes.split = random.OneIn(2);
          if (random.OneIn(2)) shapes.positions = Dtype::kI32;
          CheckEverywhere(shapes, random);
          CheckEverywhere(shapes, random, true);
          ASSERT_FALSE(HasFatalFailure());
        }
      }
    }
  }
}

TEST(CachedTest, RandomLayouts) {
  Random random(3);
  for (int round = 0; round < 400; ++round) {
    const int64_t rotary = 2 * random.Int(1, random.OneIn(4) ? 70 : 12);
    CachedShapes shapes = Base(rotary + random.Int(0, 7), rotary);
    shapes.options.style = kStyles[random.Int(0, 1)];
    shapes.options.direction = kDirections[random.Int(0, 1)];
    const Dtypes dtypes = random.Pick(AllDtypes());
    shapes.data = dtypes.data;
    shapes.cache = dtypes.table;
    shapes.tokens = random.Int(1, 9);
    shapes.query_heads = random.Int(1, 5);
    shapes.key_heads = random.Int(0, 3);
    shapes.rows = random.Int(1, 9);
    shapes.split = random.OneIn(2);
    if (random.OneIn(2)) shapes.positions = Dtype::kI32;
    if (shapes.data != Dtype::kF64 && random.OneIn(2)) {
      shapes.key_data = random.OneIn(2) ? Dtype::kBF16 : Dtype::kF32;
    }
    CheckEverywhere(shapes, random, true);
    ASSERT_FALSE(HasFatalFailure()) << "round " << round;
  }
}

TEST(CachedTest, AnyBits) {
  Random random(4);
  for (const Dtypes& dtypes : AllDtypes()) {
    for (CachedStyle style : kStyles) {
      for (Data data : {Data::kBits, Data::kSpecial}) {
        CachedShapes shapes = Base(70, 64);
        shapes.options.style = style;
        shapes.data = dtypes.data;
        shapes.cache = dtypes.table;
        CheckEverywhere(shapes, random, false, data);
        ASSERT_FALSE(HasFatalFailure());
      }
    }
  }
}

TEST(CachedTest, ThreadsAndExecutors) {
  Random random(5);
  CachedShapes shapes = Base(64, 48);
  shapes.tokens = 700;
  shapes.query_heads = 12;
  shapes.key_heads = 4;
  CachedCase c(shapes, random);
  TestTensor want = c.query_out();
  TestTensor want_key(shapes.data, {700, 4 * 64});
  TestTensor key(shapes.data, {700, 4 * 64}, Data::kNormal, random);
  const ConstTensor key_in = key.in();
  const Tensor want_key_out = want_key.out();
  CachedRun run = c.Run(want.out(), &want_key_out, &key_in);
  run.executor = &InlineExecutor();
  RW_ASSERT_OK(Execute(run));
  const auto pool = MakePool(3);
  ReverseExecutor reverse(7);
  ThreadsExecutor threads(5);
  for (Executor* executor :
       {&DefaultExecutor(), pool.get(), static_cast<Executor*>(&reverse),
        static_cast<Executor*>(&threads)}) {
    TestTensor got = c.query_out();
    TestTensor got_key(shapes.data, {700, 4 * 64});
    const Tensor got_key_out = got_key.out();
    run.query_out = got.out();
    run.key_out = &got_key_out;
    run.executor = executor;
    RW_ASSERT_OK(Execute(run));
    ASSERT_TRUE(SameMemory(got, want));
    ASSERT_TRUE(SameMemory(got_key, want_key));
  }
  c.Check();
}

TEST(CachedTest, NoTokensNoHeadsNoRows) {
  Random random(6);
  CachedShapes shapes = Base(8, 4);
  shapes.tokens = 0;
  CheckEverywhere(shapes, random);
  // An empty cache is fine as long as no position looks into it.
  shapes.rows = 0;
  TestTensor query(Dtype::kF32, {0, 24}), cache(Dtype::kF32, {0, 4});
  TestTensor positions(Dtype::kI64, {0});
  CachedRun run;
  run.options.head_size = 8;
  run.positions = positions.in();
  run.cache = cache.in();
  run.query = query.in();
  run.query_out = query.out();
  RW_ASSERT_OK(Execute(run));
}

// Each bad value at the first, a middle and the last place; nothing is written
// and the message has the index, the value and the number of rows.
TEST(CachedTest, BadPositionsAreNamedAndNothingIsWritten) {
  Random random(7);
  for (Dtype dtype : {Dtype::kI64, Dtype::kI32}) {
    for (bool sections : {false, true}) {
      CachedShapes shapes = Base(16, 12);
      shapes.tokens = 300;
      shapes.positions = dtype;
      if (sections) shapes.sections = {2, 2, 2};
      CachedCase c(shapes, random, sections);
      const int64_t count = Count(c.positions().desc());
      for (int64_t at : {int64_t{0}, count / 2 + 1, count - 1}) {
        for (int64_t value : {int64_t{-1}, int64_t{17}, int64_t{1} << 30,
                              -(int64_t{1} << 31)}) {
          CachedCase bad = c;
          bad.positions().Set(at, static_cast<double>(value));
          const TestTensor before = bad.query_out();
          TestTensor key_out(Dtype::kF32, {300, 16});
          TestTensor key(Dtype::kF32, {300, 16}, Data::kNormal, random);
          const ConstTensor key_in = key.in();
          const Tensor key_to = key_out.out();
          const CachedRun run =
              bad.Run(bad.query_out().out(), &key_to, &key_in);
          const Status status = Execute(run);
          EXPECT_EQ(status.code(), Code::kPosition) << status.message();
          const std::string& text = status.message();
          EXPECT_EQ(text.substr(0, 16), "[rotate_cached] ") << text;
          EXPECT_NE(text.find(std::to_string(value)), std::string::npos)
              << text;
          EXPECT_NE(text.find("17"), std::string::npos) << text;
          EXPECT_NE(text.find(std::to_string(at % 300)), std::string::npos)
              << text;
          ASSERT_TRUE(SameMemory(bad.query_out(), before));
          ASSERT_TRUE(SameMemory(key_out, TestTensor(Dtype::kF32, {300, 16})));
        }
      }
    }
  }
}

TEST(CachedTest, PositionsBeyond32BitsAreNotCut) {
  Random random(8);
  CachedCase c(Base(8, 4), random);
  for (double value : {4294967296.0, 4294967297.0, -4294967295.0, 0x1p62}) {
    CachedCase bad = c;
    bad.positions().Set(2, value);
    TestTensor key(Dtype::kF32, {5, 8}, Data::kNormal, random);
    const ConstTensor key_in = key.in();
    const Tensor key_out = key.out();
    const CachedRun run = bad.Run(bad.query_out().out(), &key_out, &key_in);
    EXPECT_EQ(Execute(run).code(), Code::kPosition) << value;
  }
}

}  // namespace
}  // namespace ropewalk::test
