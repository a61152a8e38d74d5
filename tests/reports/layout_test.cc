// Reports on strides, places, shapes, sizes, threads and messages (E, F, G, J,
// P), as checks of the native API.

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/reference.h"
#include "reports/values.h"
#include "support/cached.h"
#include "support/executors.h"
#include "support/gradients.h"
#include "support/sparse.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

constexpr Direction kForward = Direction::kForward;
constexpr Direction kBackward = Direction::kBackward;

// A view of a buffer, rotated in place; what is not in the view stays.
void ExpectViewTurns(TestTensor& buffer, const TensorDesc& view, int64_t offset,
                     const TestTensor& table) {
  const auto size = static_cast<int64_t>(DtypeSize(view.dtype));
  TestTensor want = buffer;
  const auto at = [&](const TestTensor& t) {
    return static_cast<std::byte*>(t.data()) + offset * size;
  };
  RW_ASSERT_OK(Execute(Turn{{},
                            kForward,
                            {view, at(buffer)},
                            table.in(),
                            table.in(),
                            {view, at(buffer)}}));
  RunReference({{},
                kForward,
                {view, at(want)},
                table.in(),
                table.in(),
                {view, at(want)}});
  ASSERT_TRUE(SameMemory(buffer, want));
}

TEST(Report, E1_SlicesOfWiderRows) {
  Random random(1);
  TestTensor buffer(Dtype::kF16, {4, 4, 192}, Data::kNormal, random);
  TestTensor table(Dtype::kF32, {4, 1, 64}, Data::kUnit, random);
  ExpectViewTurns(buffer, Strided(Dtype::kF16, {4, 4, 64}, {768, 192, 1}), 128,
                  table);
  TestTensor keys(Dtype::kF16, {4, 576}, Data::kNormal, random);
  ExpectViewTurns(keys, Strided(Dtype::kF16, {4, 1, 64}, {576, 64, 1}), 512,
                  table);
}

TEST(Report, E7_KeysBesideValues) {
  Random random(2);
  TestTensor buffer(Dtype::kBF16, {16, 4, 256}, Data::kNormal, random);
  TestTensor table(Dtype::kBF16, {16, 1, 128}, Data::kUnit, random);
  ExpectViewTurns(buffer, Strided(Dtype::kBF16, {16, 4, 128}, {1024, 256, 1}),
                  0, table);
}

TEST(Report, E3_PartialTimesStrided) {
  Random random(3);
  for (const Pairing pairing : AllPairings()) {
    for (const Dtype dtype : {Dtype::kF32, Dtype::kF16}) {
      for (const Slice slice : {Slice{0, 32}, Slice{48, 80}, Slice{5, 37}}) {
        // (2, 80, 3, 5) permuted to (2, 5, 3, 80).
        TestTensor x(Strided(dtype, {2, 5, 3, 80}, {1200, 1, 5, 15}));
        x.Fill(Data::kNormal, random);
        TestTensor table(Dtype::kF32, {1, 5, 1, 32}, Data::kUnit, random);
        ForEachTarget([&] {
          ExpectReference({pairing, slice}, kForward, x, table, table);
          ExpectReference({pairing, slice}, kBackward, x, table, table);
        });
      }
    }
  }
}

TEST(Report, E4_InPlaceGivesTheSameBits) {
  Random random(4);
  for (const Pairing pairing : AllPairings()) {
    TestTensor x(Strided(Dtype::kF32, {6, 2, 128}, {512, 256, 1}));
    x.Fill(Data::kNormal, random);
    TestTensor table(Dtype::kF32, {6, 1, 128}, Data::kUnit, random);
    ExpectReference({pairing, {}}, kForward, x, table, table);
  }
}

// What autograd hands in: a gradient whose strides are all 0, every second
// column, a transposed gradient.
TEST(Report, E5_GradientsOfAnyStrides) {
  Random random(5);
  const Shape shape = {2, 3, 8};
  TestTensor table(Dtype::kF32, {1, 3, 8}, Data::kUnit, random);
  TestTensor x(Strided(Dtype::kF32, shape, {48, 16, 2}));
  x.Fill(Data::kNormal, random);
  TestTensor expanded(Strided(Dtype::kF32, shape, {0, 0, 0}));
  expanded.Fill(1.0);
  TestTensor transposed(Strided(Dtype::kF32, shape, {1, 16, 2}));
  transposed.Fill(Data::kNormal, random);
  for (const Pairing pairing : AllPairings()) {
    for (const TestTensor* dy : {&expanded, &transposed}) {
      TestTensor dx(Dtype::kF32, shape), dcos(table.desc()), dsin(table.desc());
      TestTensor dx2 = dx, dcos2 = dcos, dsin2 = dsin;
      const auto run = [&](const ConstTensor& g, const ConstTensor& at,
                           const TestTensor* out) {
        BackwardRun call{{pairing, {}}, g, table.in(), table.in()};
        const Tensor outs[] = {out[0].out(), out[1].out(), out[2].out()};
        call.x = &at;
        call.dx = &outs[0];
        call.dcos = &outs[1];
        call.dsin = &outs[2];
        RW_ASSERT_OK(Execute(call));
      };
      const TestTensor got[] = {dx, dcos, dsin};
      const TestTensor want[] = {dx2, dcos2, dsin2};
      run(dy->in(), x.in(), got);
      const TestTensor plain_dy = Packed(dy->in()), plain_x = Packed(x.in());
      run(plain_dy.in(), plain_x.in(), want);
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(SameMemory(got[i], want[i])) << i;
    }
  }
}

TEST(Report, E8_E9_BothOperandsChange) {
  Random random(6);
  for (const int64_t d : {128, 6}) {
    TestTensor q(Dtype::kF32, {2, 8, d}, Data::kNormal, random);
    TestTensor k(Dtype::kF32, {2, 2, d}, Data::kNormal, random);
    TestTensor cos(Dtype::kF32, {2, 1, d}), sin(Dtype::kF32, {2, 1, d});
    cos.Fill(0.0);
    sin.Fill(1.0);
    TestTensor want_q = q, want_k = k;
    for (TestTensor* t : {&want_q, &want_k}) {
      RunReference({{}, kForward, t->in(), cos.in(), sin.in(), t->out()});
    }
    const TestTensor before_q = q, before_k = k;
    const ConstTensor x2 = k.in();
    const Tensor y2 = k.out();
    RW_ASSERT_OK(
        Execute(RotateRun{{}, q.in(), cos.in(), sin.in(), q.out(), &x2, &y2}));
    EXPECT_TRUE(SameMemory(q, want_q));
    EXPECT_TRUE(SameMemory(k, want_k));
    EXPECT_FALSE(SameMemory(q, before_q));
    EXPECT_FALSE(SameMemory(k, before_k));
  }
}

TEST(Report, E11_OutputsOverThemselvesAreRefused) {
  RotateTensors tensors;
  tensors.x = tensors.y = Strided(Dtype::kF32, {4, 3, 8}, {0, 8, 1});
  tensors.cos = tensors.sin = Contiguous(Dtype::kF32, {1, 3, 8});
  const Result<Plan> plan = MakeRotatePlan({}, tensors);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), Code::kOverlap);
  Random random(7);
  TestTensor x(Strided(Dtype::kF32, {4, 3, 8}, {-24, -8, -1}));
  x.Fill(Data::kNormal, random);
  TestTensor table(Dtype::kF32, {1, 3, 8}, Data::kUnit, random);
  ExpectReference({}, kForward, x, table, table);
}

// A value that tells which row it belongs to.
double TwoDigits(int64_t tens, int64_t ones) {
  return static_cast<double>(10 * tens + ones);
}

TEST(Report, F3_TablesOfABatch) {
  TestTensor x(Dtype::kF32, {2, 2, 3, 4}), cos(Dtype::kF32, {2, 2, 1, 4});
  TestTensor sin(cos.desc()), y(x.desc());
  x.Fill(1.0);
  sin.Fill(0.0);
  for (int64_t i = 0; i < 16; ++i) {
    cos.Set(i, TwoDigits(i / 8, i / 4 % 2));
  }
  RW_ASSERT_OK(
      Execute(Turn{{}, kForward, x.in(), cos.in(), sin.in(), y.out()}));
  for (int64_t i = 0; i < 48; ++i) {
    EXPECT_EQ(y.At(i), TwoDigits(i / 24, i / 12 % 2));
  }
}

TEST(Report, F17_TablesOfEachHead) {
  TestTensor x(Dtype::kF32, {1, 2, 3, 4}), cos(x.desc()), sin(x.desc());
  TestTensor y(x.desc()), dcos(x.desc()), dsin(x.desc());
  x.Fill(1.0);
  sin.Fill(0.0);
  for (int64_t i = 0; i < 24; ++i) {
    cos.Set(i, TwoDigits(i / 12, i / 4 % 3));
  }
  RW_ASSERT_OK(
      Execute(Turn{{}, kForward, x.in(), cos.in(), sin.in(), y.out()}));
  EXPECT_EQ(ValuesOf(y), ValuesOf(cos));
  // With dy = cos and x = 1 nothing is summed: dcos = cos.
  const ConstTensor at = x.in();
  const Tensor dcos_out = dcos.out(), dsin_out = dsin.out();
  BackwardRun run{{}, cos.in(), cos.in(), sin.in(), &at};
  run.dcos = &dcos_out;
  run.dsin = &dsin_out;
  RW_ASSERT_OK(Execute(run));
  EXPECT_EQ(ValuesOf(dcos), ValuesOf(cos));
}

TEST(Report, F4_QueryAndKeyOfOneBatch) {
  RotateTensors t;
  t.x = t.y = Contiguous(Dtype::kF32, {4, 8, 2, 16});
  t.x2 = t.y2 = Contiguous(Dtype::kF32, {2, 8, 2, 16});
  t.cos = t.sin = Contiguous(Dtype::kF32, {4, 8, 1, 16});
  EXPECT_EQ(MakeRotatePlan({}, t).status().code(), Code::kShape);
}

TEST(Report, F6_NoTokens) {
  const TestTensor x(Dtype::kF32, {2, 0, 4, 64}),
      cos(Dtype::kF32, {1, 0, 1, 64});
  const TestTensor y(x.desc());
  for (const Direction direction : {kForward, kBackward}) {
    RW_ASSERT_OK(
        Execute(Turn{{}, direction, x.in(), cos.in(), cos.in(), y.out()}));
  }
  CachedRun run;
  const TestTensor positions(Dtype::kI64, {0}), cache(Dtype::kF32, {4, 128});
  const TestTensor q(Dtype::kF32, {0, 4096}), k(Dtype::kF32, {0, 512});
  const ConstTensor key = k.in();
  const Tensor key_out = k.out();
  run.options.head_size = 128;
  run.positions = positions.in();
  run.cache = cache.in();
  run.query = q.in();
  run.query_out = q.out();
  run.key = &key;
  run.key_out = &key_out;
  RW_ASSERT_OK(Execute(run));
}

TEST(Report, F7_OddWidths) {
  const auto refused = [](const RotateOptions& options, int64_t d,
                          int64_t columns) {
    RotateTensors t;
    t.x = t.y = Contiguous(Dtype::kF32, {2, d});
    t.cos = t.sin = Contiguous(Dtype::kF32, {2, columns});
    return !MakeRotatePlan(options, t).ok();
  };
  EXPECT_TRUE(refused({}, 33, 33));
  EXPECT_TRUE(refused({Pairing::kQuarter, {}}, 6, 6));
  EXPECT_TRUE(refused({Pairing::kHalf, Slice{0, 34}}, 33, 34));
  Random random(8);
  TestTensor x(Dtype::kF32, {2, 33}, Data::kNormal, random);
  TestTensor table(Dtype::kF32, {2, 32}, Data::kUnit, random);
  ExpectReference({Pairing::kHalf, Slice{0, 32}}, kForward, x, table, table);
}

TEST(Report, F10_EveryEvenWidth) {
  Random random(9);
  for (int64_t d = 2; d <= 256; d += 2) {
    TestTensor x(Dtype::kF32, {2, 2, d}, Data::kNormal, random);
    TestTensor table(Dtype::kF32, {2, 1, d}, Data::kUnit, random);
    ForEachTarget([&] { ExpectReference({}, kForward, x, table, table); });
  }
}

TEST(Report, F11_F12_F13_NoLimitsOfADevice) {
  Random random(10);
  TestTensor x(Dtype::kBF16, {2, 32, 4, 80}, Data::kNormal, random);
  TestTensor table(Dtype::kBF16, {1, 1, 4, 80}, Data::kUnit, random);
  ExpectReference({}, kForward, x, table, table);
  const auto gradients = [&](Pairing pairing, const Shape& shape,
                             const Shape& tables) {
    GradientCase c({{pairing, {}}, {Dtype::kF32, Dtype::kF32}, shape, tables},
                   Data::kNormal, random);
    RW_ASSERT_OK(c.Run(true));
    c.Check(true);
  };
  for (const Shape& shape : {Shape{2, 1, 4, 8}, {2, 3, 4, 8}}) {
    TestTensor data(Dtype::kF32, {2, 3, 4, 8}, Data::kNormal, random);
    TestTensor own(Dtype::kF32, shape, Data::kUnit, random);
    ExpectReference({Pairing::kInterleave, {}}, kForward, data, own, own);
    gradients(Pairing::kInterleave, {2, 3, 4, 8}, shape);
  }
  gradients(Pairing::kHalf, {1, 2048, 3, 8}, {1, 1, 3, 8});
  gradients(Pairing::kHalf, {1025, 1, 3, 8}, {1, 1, 3, 8});
}

TEST(Report, F14_RankTwoThreeAndFour) {
  Random random(11);
  TestTensor x(Dtype::kF32, {5, 3, 8}, Data::kNormal, random);
  TestTensor table(Dtype::kF32, {5, 8}, Data::kUnit, random);  // cos, then sin
  const auto with = [](const TestTensor& t, const TensorDesc& desc) {
    return ConstTensor{desc, t.data()};
  };
  TestTensor want(x.desc()), four(x.desc()), flat(x.desc());
  const ConstTensor half =
      with(table, Strided(Dtype::kF32, {5, 1, 4}, {8, 8, 1}));
  const ConstTensor sin{half.desc, static_cast<float*>(table.data()) + 4};
  RW_ASSERT_OK(Execute(Turn{{}, kForward, x.in(), half, sin, want.out()}));
  const TensorDesc bsnd = Contiguous(Dtype::kF32, {1, 5, 3, 8});
  ConstTensor half4 = half, sin4 = sin;
  half4.desc = sin4.desc = Strided(Dtype::kF32, {1, 5, 1, 4}, {40, 8, 8, 1});
  RW_ASSERT_OK(Execute(
      Turn{{}, kForward, {bsnd, x.data()}, half4, sin4, {bsnd, four.data()}}));
  const TestTensor positions = Of(Dtype::kI64, {5}, {0, 1, 2, 3, 4});
  const TensorDesc rows = Contiguous(Dtype::kF32, {5, 24});
  CachedRun run;
  run.options.head_size = 8;
  run.positions = positions.in();
  run.cache = table.in();
  run.query = {rows, x.data()};
  run.query_out = {rows, flat.data()};
  RW_ASSERT_OK(Execute(run));
  EXPECT_TRUE(SameMemory(four, want));
  EXPECT_TRUE(SameMemory(flat, want));
}

TEST(Report, F15_TheTableTellsTheLayout) {
  Random random(12);
  TestTensor x(Dtype::kF32, {1, 4, 4, 8}, Data::kNormal, random);
  TestTensor bsnd(Dtype::kF32, {1, 4, 1, 8}, Data::kUnit, random);
  TestTensor bnsd(Dtype::kF32, {1, 1, 4, 8}, Data::kUnit, random);
  std::memcpy(bnsd.data(), bsnd.data(), bsnd.memory().size());
  TestTensor first(x.desc()), second(x.desc());
  for (const bool is_first : {true, false}) {
    const TestTensor& table = is_first ? bsnd : bnsd;
    ExpectReference({}, kForward, x, table, table);
    RW_ASSERT_OK(Execute(Turn{{},
                              kForward,
                              x.in(),
                              table.in(),
                              table.in(),
                              (is_first ? first : second).out()}));
  }
  EXPECT_FALSE(SameMemory(first, second));
}

TEST(Report, G1_G2_G4_OffsetsOf64Bits) {
  Random random(13);
  for (const Pairing pairing : {Pairing::kHalf, Pairing::kInterleave}) {
    for (const int64_t d : {64, 72}) {
      const int64_t stride = (int64_t{1} << 31) + 64;
      const SparseMemory memory(static_cast<size_t>(2 * stride + d) * 4);
      const TensorDesc far = Strided(Dtype::kF32, {3, 1, d}, {stride, d, 1});
      TestTensor x(Dtype::kF32, {3, 1, d}, Data::kNormal, random);
      TestTensor table(Dtype::kF32, {3, 1, d}, Data::kUnit, random);
      CopyElements(x.in(), {far, memory.data()});
      TestTensor want(x.desc());
      RunReference({{pairing, {}},
                    kForward,
                    x.in(),
                    table.in(),
                    table.in(),
                    want.out()});
      RW_ASSERT_OK(Execute(Turn{{pairing, {}},
                                kForward,
                                {far, memory.data()},
                                table.in(),
                                table.in(),
                                {far, memory.data()}}));
      EXPECT_TRUE(SameElements({far, memory.data()}, want.in()));
    }
  }
  // Rows of 72 heads, by position.
  const int64_t stride = int64_t{1} << 31;
  const SparseMemory memory(static_cast<size_t>(stride + 72 * 128) * 2);
  const TensorDesc far = Strided(Dtype::kBF16, {2, 72 * 128}, {stride, 1});
  TestTensor x(Dtype::kBF16, {2, 72 * 128}, Data::kNormal, random);
  TestTensor cache(Dtype::kF32, {4, 128}, Data::kUnit, random);
  const TestTensor positions = Of(Dtype::kI64, {2}, {3, 1});
  CopyElements(x.in(), {far, memory.data()});
  CachedRun run;
  run.options.head_size = 128;
  run.positions = positions.in();
  run.cache = cache.in();
  run.query = {far, memory.data()};
  run.query_out = {far, memory.data()};
  RW_ASSERT_OK(Execute(run));
  TestTensor want(x.desc());
  reference::RotateCached(run.options, run.positions, run.cache, x.in(),
                          want.out());
  EXPECT_TRUE(SameElements({far, memory.data()}, want.in()));
}

TEST(Report, G5_ProductsOfSizesThatDoNotFit) {
  const int64_t big = int64_t{1} << 31;
  RotateTensors t;
  t.x = t.y = t.cos = t.sin = Contiguous(Dtype::kF32, {big, big, 2, 2});
  EXPECT_EQ(MakeRotatePlan({}, t).status().code(), Code::kShape);
}

TEST(Report, G6_NoAxisIsLimited) {
  Random random(14);
  for (const Shape& shape : {Shape{1, 65536, 1, 8},
                             {65536, 1, 1, 8},
                             {1, 1, 65536, 8},
                             {1, 524289, 1, 2}}) {
    TestTensor x(Dtype::kF32, shape, Data::kNormal, random);
    TestTensor table(Dtype::kF32, {1, 1, 1, shape[3]}, Data::kUnit, random);
    ExpectReference({}, kForward, x, table, table);
  }
}

TEST(Report, J1_SameBitsInEveryRun) {
  Random random(15);
  struct Heads {
    int64_t query, key;
  };
  for (const Heads heads : {Heads{12, 1}, Heads{64, 4}}) {
    for (const int64_t tokens : {1, 16, 257, 1024, 1025, 4097}) {
      TestTensor positions(Dtype::kI64, {tokens});
      for (int64_t t = 0; t < tokens; ++t) {
        positions.Set(t, static_cast<double>(t * 7 % tokens));
      }
      TestTensor cache(Dtype::kBF16, {tokens, 128}, Data::kUnit, random);
      TestTensor query(Dtype::kBF16, {tokens, heads.query * 128}, Data::kNormal,
                       random);
      TestTensor key(Dtype::kBF16, {tokens, heads.key * 128}, Data::kNormal,
                     random);
      TestTensor first(query.desc()), first_key(key.desc());
      CachedRun run;
      run.options.head_size = 128;
      run.positions = positions.in();
      run.cache = cache.in();
      run.query = query.in();
      const ConstTensor key_in = key.in();
      run.key = &key_in;
      for (int i = 0; i < 6; ++i) {
        TestTensor out(query.desc()), key_out(key.desc());
        const TestTensor& to = i == 0 ? first : out;
        const Tensor key_to = (i == 0 ? first_key : key_out).out();
        run.query_out = to.out();
        run.key_out = &key_to;
        RW_ASSERT_OK(Execute(run));
        ASSERT_TRUE(SameElements(to.in(), first.in())) << tokens;
        ASSERT_TRUE(SameElements(key_to, first_key.in())) << tokens;
      }
      if (tokens > 257) continue;  // the reference is slow
      TestTensor want(query.desc());
      reference::RotateCached(run.options, run.positions, run.cache, run.query,
                              want.out());
      ASSERT_TRUE(SameElements(first.in(), want.in())) << tokens;
    }
  }
}

TEST(Report, J2_SumsDoNotDependOnThreads) {
  Random random(16);
  const TensorDesc desc = Contiguous(Dtype::kBF16, {8, 64, 512, 128});
  TestTensor dy(desc), x(desc);
  // Filled by rows, which is quicker.
  TestTensor row(Dtype::kBF16, {97, 128}, Data::kNormal, random);
  const size_t bytes = row.memory().size();
  for (const TestTensor* t : {&dy, &x}) {
    for (size_t at = 0; at < t->memory().size(); at += bytes) {
      std::memcpy(t->memory().data() + at, row.data(),
                  std::min(bytes, t->memory().size() - at));
    }
  }
  TestTensor table(Dtype::kBF16, {1, 1, 512, 128}, Data::kUnit, random);
  std::optional<TestTensor> first[3];
  for (const size_t threads : {1, 2, 3, 8, 16}) {
    const auto pool = MakePool(threads);
    for (int repeat = 0; repeat < 2; ++repeat) {
      TestTensor dx(desc), dcos(table.desc()), dsin(table.desc());
      BackwardRun run{{}, dy.in(), table.in(), table.in()};
      const ConstTensor at = x.in();
      const Tensor outs[] = {dx.out(), dcos.out(), dsin.out()};
      run.x = &at;
      run.dx = &outs[0];
      run.dcos = &outs[1];
      run.dsin = &outs[2];
      run.executor = pool.get();
      RW_ASSERT_OK(Execute(run));
      const TestTensor* got[] = {&dx, &dcos, &dsin};
      for (int i = 0; i < 3; ++i) {
        if (!first[i]) first[i].emplace(*got[i]);
        ASSERT_TRUE(SameElements(got[i]->in(), first[i]->in()))
            << threads << " threads, tensor " << i;
      }
    }
  }
}

TEST(Report, J3_EveryRowIsWrittenWithAnyThreads) {
  Random random(17);
  for (const int64_t tokens : {1, 5}) {
    TestTensor x(Dtype::kF32, {tokens, 100}, Data::kNormal, random);
    TestTensor table(Dtype::kF32, {tokens, 100}, Data::kUnit, random);
    TestTensor want(x.desc());
    RunReference({{}, kForward, x.in(), table.in(), table.in(), want.out()});
    for (const size_t threads : {1, 2, 8, 16, 63, 64, 65, 96, 128, 192}) {
      ThreadsExecutor executor(threads);
      TestTensor y(x.desc());  // NaN before
      Turn turn{{}, kForward, x.in(), table.in(), table.in(), y.out()};
      turn.executor = &executor;
      RW_ASSERT_OK(Execute(turn));
      ASSERT_TRUE(SameMemory(y, want)) << threads;
    }
  }
}

TEST(Report, P1_MessagesShowBothSizes) {
  RotateTensors t;
  t.x = t.y = Contiguous(Dtype::kF32, {1, 4, 2, 128});
  t.cos = t.sin = Contiguous(Dtype::kF32, {1, 4, 1, 512});
  const Status status = MakeRotatePlan({}, t).status();
  EXPECT_EQ(status.code(), Code::kShape);
  EXPECT_NE(status.message().find("128"), std::string::npos);
  EXPECT_NE(status.message().find("512"), std::string::npos);
}

TEST(Report, P3_NullPointersAreNamed) {
  Random random(18);
  TestTensor x(Dtype::kF32, {2, 8}, Data::kNormal, random);
  const Status status =
      Execute(Turn{{}, kForward, x.in(), x.in(), {x.desc(), nullptr}, x.out()});
  EXPECT_EQ(status.code(), Code::kNullPointer);
  EXPECT_NE(status.message().find("sin"), std::string::npos);
}

TEST(Report, P5_SectionsOfZerosMeanNone) {
  SmallCached call{1, 8, 8};
  call.row = [](int64_t p, int64_t i) { return 0.1 * p + i; };
  call.positions = {4, 0, 7};
  const Values plain = RowsOf(call);
  for (const std::vector<int64_t>& none :
       {std::vector<int64_t>{}, {0}, {0, 0, 0}}) {
    call.sections = none;
    EXPECT_EQ(RowsOf(call), plain);
  }
  RotateCachedTensors t;
  t.cache = Contiguous(Dtype::kF32, {9, 8});
  t.query = t.query_out = Contiguous(Dtype::kF32, {3, 8});
  t.positions = Contiguous(Dtype::kI64, {3, 3});
  const int64_t zeros[] = {0, 0, 0};
  RotateCachedOptions options;
  options.head_size = 8;
  options.sections = zeros;
  EXPECT_EQ(MakeRotateCachedPlan(options, t).status().code(), Code::kShape);
}

}  // namespace
}  // namespace ropewalk::test
