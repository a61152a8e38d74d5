// Reports on numbers and gradients (H, I), as checks of the native API.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/reference.h"
#include "reports/values.h"
#include "support/gradients.h"
#include "support/targets.h"
#include "support/ulp.h"

namespace ropewalk::test {
namespace {

constexpr Direction kForward = Direction::kForward;
constexpr Direction kBackward = Direction::kBackward;

// |y - exact| is at most half an ulp, plus what cancels in f32. `sum` is of the
// absolute products.
void ExpectRounded(Dtype dtype, double y, double exact, double sum) {
  const double limit = 0.5 * Ulp(dtype, exact) + 2 * 0x1p-24 * sum + 0x1p-149;
  ASSERT_LE(std::fabs(y - exact), limit) << exact;
}

// For every element of a forward in pairing half.
void ExpectAllRounded(const TestTensor& x, const TestTensor& cos,
                      const TestTensor& sin, const TestTensor& y) {
  const Values exact = reference::ExactRotate({}, x.in(), cos.in(), sin.in());
  const int64_t d = x.desc().shape[x.desc().rank - 1];
  const int64_t rows = Count(x.desc()) / d;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < d; ++i) {
      const int64_t at = row * d + i;
      const int64_t partner = row * d + (i + d / 2) % d;
      const double sum = std::fabs(x.At(at) * cos.At(at)) +
                         std::fabs(x.At(partner) * sin.At(at));
      ExpectRounded(x.desc().dtype, y.At(at), exact[static_cast<size_t>(at)],
                    sum);
    }
  }
}

TestTensor Angles(Dtype dtype, int64_t rows, int64_t d, double base,
                  double scale, bool sine) {
  TestTensor table(dtype, {rows, d});
  for (int64_t p = 0; p < rows; ++p) {
    for (int64_t i = 0; i < d; ++i) {
      const double lane = static_cast<double>(i % (d / 2));
      const double angle = static_cast<double>(p) *
                           std::pow(base, -2 * lane / static_cast<double>(d));
      table.Set(p * d + i, scale * (sine ? std::sin(angle) : std::cos(angle)));
    }
  }
  return table;
}

TEST(Report, H5_TablesInFloatWith16BitData) {
  Random random(1);
  const int64_t rows = 4096, d = 8;
  TestTensor x(Dtype::kBF16, {rows, d}, Data::kNormal, random);
  const TestTensor cos = Angles(Dtype::kF32, rows, d, 1e4, 1, false);
  const TestTensor sin = Angles(Dtype::kF32, rows, d, 1e4, 1, true);
  ExpectReference({}, kForward, x, cos, sin);
  // bf16 tables are another result.
  const TestTensor cos16 = Angles(Dtype::kBF16, rows, d, 1e4, 1, false);
  const TestTensor sin16 = Angles(Dtype::kBF16, rows, d, 1e4, 1, true);
  TestTensor y(x.desc()), y16(x.desc());
  RW_ASSERT_OK(
      Execute(Turn{{}, kForward, x.in(), cos.in(), sin.in(), y.out()}));
  RW_ASSERT_OK(
      Execute(Turn{{}, kForward, x.in(), cos16.in(), sin16.in(), y16.out()}));
  EXPECT_FALSE(SameElements(y.in(), y16.in()));
}

Values Row(Dtype dtype, const Values& x, double cos, double sin) {
  const Shape shape = {1, static_cast<int64_t>(x.size())};
  const TestTensor in = Of(dtype, shape, x);
  TestTensor c(dtype, shape), s(dtype, shape), y(dtype, shape);
  c.Fill(cos);
  s.Fill(sin);
  const Status status =
      Execute(Turn{{}, kForward, in.in(), c.in(), s.in(), y.out()});
  EXPECT_TRUE(status.ok()) << status.message();
  return ValuesOf(y);
}

TEST(Report, H8_OneRounding) {
  ForEachTarget([] {
    EXPECT_EQ(Row(Dtype::kBF16, {2.40625, -2.296875}, 5.9375, -6.21875)[0],
              0.00341796875);
  });
}

TEST(Report, H12_HalfAnUlpFromExact) {
  Random random(2);
  for (const Dtype dtype : {Dtype::kBF16, Dtype::kF16}) {
    TestTensor x(dtype, {1024, 32}, Data::kNormal, random);
    const TestTensor cos = Angles(Dtype::kF32, 1024, 32, 1e4, 1, false);
    const TestTensor sin = Angles(Dtype::kF32, 1024, 32, 1e4, 1, true);
    TestTensor y(x.desc());
    RW_ASSERT_OK(
        Execute(Turn{{}, kForward, x.in(), cos.in(), sin.in(), y.out()}));
    ExpectAllRounded(x, cos, sin, y);
  }
}

TEST(Report, H13_OverflowIsInfinity) {
  const double inf = std::numeric_limits<double>::infinity();
  ForEachTarget([&] {
    EXPECT_EQ(Row(Dtype::kF16, {40000, 40000}, 2, 2), (Values{0, inf}));
    EXPECT_EQ(Row(Dtype::kBF16, {3e38, 3e38}, 1, 1), (Values{0, inf}));
  });
}

TEST(Report, H14_EachOperandKeepsItsDtype) {
  Random random(3);
  TestTensor q(Dtype::kBF16, {4, 3, 16}, Data::kNormal, random);
  TestTensor k(Dtype::kF16, {4, 1, 16}, Data::kNormal, random);
  TestTensor table(Dtype::kF32, {4, 1, 16}, Data::kUnit, random);
  TestTensor q_out(q.desc()), k_out(k.desc()), want_q(q.desc()),
      want_k(k.desc());
  const ConstTensor x2 = k.in();
  const Tensor y2 = k_out.out();
  RW_ASSERT_OK(Execute(
      RotateRun{{}, q.in(), table.in(), table.in(), q_out.out(), &x2, &y2}));
  RunReference({{}, kForward, q.in(), table.in(), table.in(), want_q.out()});
  RunReference({{}, kForward, k.in(), table.in(), table.in(), want_k.out()});
  EXPECT_TRUE(SameMemory(q_out, want_q));
  EXPECT_TRUE(SameMemory(k_out, want_k));
  // An output of another dtype is refused, not converted to.
  RotateTensors t;
  t.x = q.desc();
  t.cos = t.sin = table.desc();
  t.y = Contiguous(Dtype::kF32, ShapeOf(q.desc()));
  EXPECT_EQ(MakeRotatePlan({}, t).status().code(), Code::kDtype);
}

// Long sequences, grouped heads, bf16.
TEST(Report, H16_LongSequencesAreExactEverywhere) {
  Random random(4);
  const int64_t tokens = 8192, d = 128;
  const TestTensor cos = Angles(Dtype::kF32, tokens, d, 1e4, 1, false);
  const TestTensor sin = Angles(Dtype::kF32, tokens, d, 1e4, 1, true);
  TestTensor cache(Dtype::kF32, {tokens, d}), positions(Dtype::kI64, {tokens});
  for (int64_t p = 0; p < tokens; ++p) {
    positions.Set(p, static_cast<double>(p));
    for (int64_t i = 0; i < d / 2; ++i) {
      cache.Set(p * d + i, cos.At(p * d + i));
      cache.Set(p * d + d / 2 + i, sin.At(p * d + i));
    }
  }
  for (const int64_t heads : {12, 2}) {
    TestTensor x(Dtype::kBF16, {tokens, heads * d}, Data::kNormal, random);
    TestTensor y(x.desc());
    CachedRun run;
    run.options.head_size = d;
    run.positions = positions.in();
    run.cache = cache.in();
    run.query = x.in();
    run.query_out = y.out();
    RW_ASSERT_OK(Execute(run));
    for (int64_t at = 0; at < tokens * heads * d; ++at) {
      const int64_t token = at / (heads * d), i = at % d;
      if (at / d % heads != token % heads) continue;  // a head of each token
      const int64_t pair = token * d + i % (d / 2);
      const int64_t partner = i < d / 2 ? at + d / 2 : at - d / 2;
      const double a = x.At(at) * cos.At(pair);
      const double b = x.At(partner) * sin.At(pair);
      ExpectRounded(Dtype::kBF16, y.At(at), i < d / 2 ? a - b : a + b,
                    std::fabs(a) + std::fabs(b));
      ASSERT_FALSE(HasFatalFailure()) << "token " << token;
    }
  }
}

TEST(Report, I1_BackwardUsesThePartnersSin) {
  const Values g = {1, 2, 3, 4}, no(4, 0.0);
  EXPECT_EQ(TurnRow(Pairing::kHalf, kBackward, g, no, g),
            (Values{9, 16, -1, -4}));
  EXPECT_EQ(TurnRow(Pairing::kInterleave, kBackward, g, no, g),
            (Values{4, -1, 16, -9}));
  EXPECT_EQ(TurnRow(Pairing::kInterleaveHalf, kBackward, g, no, g),
            (Values{9, -1, 16, -4}));
}

// sum(y * g) of a forward in f64.
double Loss(const RotateOptions& options, const TestTensor& x,
            const TestTensor& cos, const TestTensor& sin, const TestTensor& g) {
  const TestTensor y(x.desc());
  const Status status =
      Execute(Turn{options, kForward, x.in(), cos.in(), sin.in(), y.out()});
  EXPECT_TRUE(status.ok()) << status.message();
  double sum = 0;
  const int64_t count = Count(x.desc());
  for (int64_t i = 0; i < count; ++i) sum += y.At(i) * g.At(i);
  return sum;
}

// The gradient against differences of the forward. The loss is linear in each
// of x, cos and sin, so that differences of any size are exact but for
// rounding.
void ExpectDifferences(const RotateOptions& options, TestTensor& variable,
                       const TestTensor& gradient,
                       const std::function<double()>& loss) {
  const int64_t count = Count(variable.desc());
  for (int64_t i = 0; i < count; ++i) {
    const double value = variable.At(i);
    variable.Set(i, value + 0.5);
    const double up = loss();
    variable.Set(i, value - 0.5);
    const double down = loss();
    variable.Set(i, value);
    ASSERT_NEAR(gradient.At(i), up - down, 1e-12)
        << PairingName(options.pairing) << " " << i;
  }
}

TEST(Report, I2_GradientsAgreeWithDifferences) {
  Random random(5);
  for (const Pairing pairing : AllPairings()) {
    for (const bool partial : {false, true}) {
      for (const bool broadcast : {false, true}) {
        for (const bool half_tables : {false, true}) {
          RotateOptions options{pairing, {}};
          if (partial) options.slice = Slice{3, 11};
          const int64_t d = partial ? 12 : 8;
          TestTensor x(Dtype::kF64, {2, 3, d}, Data::kNormal, random);
          TestTensor cos(Dtype::kF64,
                         {broadcast ? 1 : 2, 3, half_tables ? 4 : 8},
                         Data::kNormal, random);
          TestTensor sin(Dtype::kF64, ShapeOf(cos.desc()), Data::kNormal,
                         random);
          TestTensor g(x.desc());
          g.Fill(Data::kNormal, random);
          TestTensor dx(x.desc()), dcos(cos.desc()), dsin(cos.desc());
          BackwardRun run{options, g.in(), cos.in(), sin.in()};
          const ConstTensor at = x.in();
          const Tensor outs[] = {dx.out(), dcos.out(), dsin.out()};
          run.x = &at;
          run.dx = &outs[0];
          run.dcos = &outs[1];
          run.dsin = &outs[2];
          RW_ASSERT_OK(Execute(run));
          const auto loss = [&] { return Loss(options, x, cos, sin, g); };
          ExpectDifferences(options, x, dx, loss);
          ExpectDifferences(options, cos, dcos, loss);
          ExpectDifferences(options, sin, dsin, loss);
        }
      }
    }
  }
}

TEST(Report, I3_BackwardOfScaledTables) {
  Random random(6);
  const double scale = 1.4;
  const TestTensor cos = Angles(Dtype::kF32, 64, 128, 5e5, scale, false);
  const TestTensor sin = Angles(Dtype::kF32, 64, 128, 5e5, scale, true);
  TestTensor x(Dtype::kF32, {64, 128}, Data::kNormal, random);
  TestTensor y(x.desc()), back(x.desc());
  RW_ASSERT_OK(
      Execute(Turn{{}, kForward, x.in(), cos.in(), sin.in(), y.out()}));
  RW_ASSERT_OK(
      Execute(Turn{{}, kBackward, y.in(), cos.in(), sin.in(), back.out()}));
  for (int64_t i = 0; i < 64 * 128; ++i) {
    ASSERT_NEAR(back.At(i), scale * scale * x.At(i), 1e-5);
  }
}

TEST(Report, I4_BackwardTakesAnyStrides) {
  Random random(7);
  for (const Pairing pairing : AllPairings()) {
    for (int round = 0; round < 8; ++round) {
      GradientCase c({{pairing, {}},
                      {Dtype::kF32, Dtype::kF32},
                      {2, 3, 4, 8},
                      {1, 3, 1, 8}},
                     Data::kNormal, random, true);
      ForEachTarget([&] {
        RW_ASSERT_OK(c.Run(true));
        c.Check(true);
      });
    }
  }
}

// <backward(g), x> = <g, forward(x)> for each unit vector x: the backward of a
// rotation by position, with and without sections.
TEST(Report, I6_BackwardByPosition) {
  Random random(8);
  for (const CachedStyle style : {CachedStyle::kNeox, CachedStyle::kGptj}) {
    for (const AxisLayout axes :
         {AxisLayout::kSegmented, AxisLayout::kInterleaved}) {
      for (const std::vector<int64_t>& sections :
           {std::vector<int64_t>{}, {2, 1, 1}}) {
        const int64_t width = 10;
        TestTensor cache(Dtype::kF64, {5, 8}, Data::kNormal, random);
        TestTensor positions(Dtype::kI64,
                             sections.empty() ? Shape{2} : Shape{3, 2});
        for (int64_t i = 0; i < Count(positions.desc()); ++i) {
          positions.Set(i, static_cast<double>(random.Int(0, 4)));
        }
        TestTensor x(Dtype::kF64, {2, width}), y(x.desc()), dx(x.desc());
        TestTensor g(Dtype::kF64, {2, width}, Data::kNormal, random);
        CachedRun run;
        run.options = {width, style, sections, axes};
        run.positions = positions.in();
        run.cache = cache.in();
        run.query = g.in();
        run.query_out = dx.out();
        run.options.direction = kBackward;
        RW_ASSERT_OK(Execute(run));
        run.options.direction = kForward;
        run.query = x.in();
        run.query_out = y.out();
        for (int64_t i = 0; i < 2 * width; ++i) {
          x.Fill(0.0);
          x.Set(i, 1.0);
          RW_ASSERT_OK(Execute(run));
          double sum = 0;
          for (int64_t k = 0; k < 2 * width; ++k) sum += y.At(k) * g.At(k);
          ASSERT_NEAR(dx.At(i), sum, 1e-13);
        }
      }
    }
  }
}

TEST(Report, I10_GradientsOfTheTables) {
  const Values g = {1, 2, 3, 4};
  struct Case {
    Pairing pairing;
    Values dcos, dsin;
  };
  for (const Case& want :
       {Case{Pairing::kHalf, {5, 12, 21, 32}, {-7, -16, 15, 24}},
        {Pairing::kInterleave, {5, 12, 21, 32}, {-6, 10, -24, 28}},
        {Pairing::kInterleaveHalf, {5, 14, 18, 32}, {-6, -16, 15, 28}}}) {
    const TestTensor dy = Of({1, 4}, g), x = Of({1, 4}, {5, 6, 7, 8});
    TestTensor dcos(dy.desc()), dsin(dy.desc());
    BackwardRun run{{want.pairing, {}}, dy.in(), dy.in(), dy.in()};
    const ConstTensor at = x.in();
    const Tensor outs[] = {dcos.out(), dsin.out()};
    run.x = &at;
    run.dcos = &outs[0];
    run.dsin = &outs[1];
    RW_ASSERT_OK(Execute(run));
    EXPECT_EQ(ValuesOf(dcos), want.dcos) << PairingName(want.pairing);
    EXPECT_EQ(ValuesOf(dsin), want.dsin) << PairingName(want.pairing);
  }
  Random random(9);
  GradientCase c({{}, {Dtype::kF32, Dtype::kF32}, {2, 3, 4, 8}, {1, 1, 4, 8}},
                 Data::kNormal, random);
  RW_ASSERT_OK(c.Run(false));
  c.Check(false);
}

}  // namespace
}  // namespace ropewalk::test
