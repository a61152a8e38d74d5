// The results of independent numpy programs, and of PyTorch on a language
// model's activations, bit for bit on every target.

#include <gtest/gtest.h>

#include <fstream>

#include "support/cases.h"
#include "support/golden.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

std::vector<double> Values(const ConstTensor& tensor) {
  const double* data = static_cast<const double*>(tensor.data);
  return std::vector<double>(data, data + Count(tensor.desc));
}

class Golden : public testing::TestWithParam<const char*> {
 protected:
  Golden() : file_(GoldenPath(GetParam() + std::string(".safetensors"))) {}

  ConstTensor Get(const GoldenCase& c, const char* name) const {
    return file_.Get(c.name + "." + name);
  }

  void CheckTurn(const GoldenCase& c, Direction direction, const char* in,
                 const char* out) {
    const ConstTensor x = Get(c, in);
    Turn turn{c.rotate, direction, x, Get(c, "cos"), Get(c, "sin"), {}};
    TestTensor y(x.desc);
    turn.y = y.out();
    RW_ASSERT_OK(Execute(turn));
    EXPECT_TRUE(SameElements(y.in(), Get(c, out)));
    TestTensor in_place = Packed(x);
    turn.x = in_place.in();
    turn.y = in_place.out();
    RW_ASSERT_OK(Execute(turn));
    EXPECT_TRUE(SameElements(in_place.in(), Get(c, out))) << "in place";
  }

  void CheckTableGradients(const GoldenCase& c) {
    const ConstTensor cos = Get(c, "cos");
    const ConstTensor x = Get(c, "x");
    TestTensor dcos(cos.desc), dsin(cos.desc), dx(x.desc);
    const Tensor dcos_out = dcos.out(), dsin_out = dsin.out(),
                 dx_out = dx.out();
    BackwardRun run{c.rotate, Get(c, "dy"), cos, Get(c, "sin")};
    run.x = &x;
    run.dcos = &dcos_out;
    run.dsin = &dsin_out;
    for (bool with_dx : {false, true}) {
      SCOPED_TRACE(with_dx ? "dcos and dsin with dx" : "dcos and dsin alone");
      dcos.Fill(-1.0);
      dsin.Fill(-1.0);
      if (with_dx) run.dx = &dx_out;
      RW_ASSERT_OK(Execute(run));
      EXPECT_TRUE(WithinBound(dcos.in(), Values(Get(c, "dcos_f64")),
                              Values(Get(c, "dcos_abs"))));
      EXPECT_TRUE(WithinBound(dsin.in(), Values(Get(c, "dsin_f64")),
                              Values(Get(c, "dsin_abs"))));
    }
    EXPECT_TRUE(SameElements(dx.in(), Get(c, "dx")));
  }

  void CheckCached(const GoldenCase& c) {
    CachedRun run;
    run.options = c.cached;
    run.options.sections = c.sections;
    run.positions = Get(c, "positions");
    run.cache = Get(c, "cache");
    run.query = Get(c, "query");
    const ConstTensor key = Get(c, "key");
    TestTensor query_out(run.query.desc), key_out(key.desc);
    const Tensor key_to = key_out.out();
    run.query_out = query_out.out();
    run.key = &key;
    run.key_out = &key_to;
    RW_ASSERT_OK(Execute(run));
    EXPECT_TRUE(SameElements(query_out.in(), Get(c, "query_out")));
    EXPECT_TRUE(SameElements(key_out.in(), Get(c, "key_out")));
  }

  GoldenFile file_;
};

TEST_P(Golden, Cases) {
  const std::vector<GoldenCase> cases = file_.Cases(GetParam());
  ASSERT_FALSE(cases.empty());
  ForEachTarget([&] {
    for (const GoldenCase& c : cases) {
      SCOPED_TRACE(c.kind + " " + c.name + " " + c.data);
      if (c.kind == "cached") {
        CheckCached(c);
        continue;
      }
      CheckTurn(c, Direction::kForward, "x", "y");
      CheckTurn(c, Direction::kBackward, "dy", "dx");
      if (file_.Has(c.name + ".dcos_f64")) CheckTableGradients(c);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Files, Golden,
                         testing::Values("rotate", "partial", "cached",
                                         "extra"));

// |terms| are not in these files: recompute the sums of them.
std::vector<double> SumOverHeads(const ConstTensor& x, const ConstTensor& dy,
                                 bool crossed) {
  const int64_t tokens = x.desc.shape[1], heads = x.desc.shape[2];
  const int64_t width = x.desc.shape[3];
  const float* a = static_cast<const float*>(x.data);
  const float* g = static_cast<const float*>(dy.data);
  std::vector<double> sums(tokens * width);
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t row = t * heads; row < (t + 1) * heads; ++row) {
      for (int64_t d = 0; d < width; ++d) {
        const int64_t from = crossed ? (d + width / 2) % width : d;
        sums[t * width + d] += std::abs(double{g[row * width + d]} *
                                        double{a[row * width + from]});
      }
    }
  }
  return sums;
}

class Activations : public testing::TestWithParam<const char*> {};

TEST_P(Activations, QueryAndKey) {
  const std::string path = DataPath(GetParam());
  const GoldenFile file(path);
  const ConstTensor x = file.Get("x"), dy = file.Get("dy");
  const ConstTensor cos = file.Get("cos");
  ForEachTarget([&] {
    TestTensor y(x.desc), dx(x.desc), dcos(cos.desc), dsin(cos.desc);
    const Tensor dx_out = dx.out(), dcos_out = dcos.out(),
                 dsin_out = dsin.out();
    RW_ASSERT_OK(Execute(RotateRun{{}, x, cos, file.Get("sin"), y.out()}));
    EXPECT_TRUE(SameElements(y.in(), file.Get("y")));
    BackwardRun run{{}, dy, cos, file.Get("sin")};
    run.x = &x;
    run.dx = &dx_out;
    run.dcos = &dcos_out;
    run.dsin = &dsin_out;
    RW_ASSERT_OK(Execute(run));
    EXPECT_TRUE(SameElements(dx.in(), file.Get("dx")));
    EXPECT_TRUE(WithinBound(dcos.in(), Values(file.Get("dcos_f64")),
                            SumOverHeads(x, dy, false)));
    EXPECT_TRUE(WithinBound(dsin.in(), Values(file.Get("dsin_f64")),
                            SumOverHeads(x, dy, true)));
  });
}

INSTANTIATE_TEST_SUITE_P(Files, Activations,
                         testing::Values("smollm2_query.safetensors",
                                         "smollm2_key.safetensors"));

TEST(ActivationsByPosition, QueryAndKey) {
  const GoldenFile file(DataPath("smollm2_cached.safetensors"));
  const ConstTensor key = file.Get("key");
  ForEachTarget([&] {
    CachedRun run;
    run.options.head_size = 64;
    run.positions = file.Get("positions");
    run.cache = file.Get("cache");
    run.query = file.Get("query");
    TestTensor query_out(run.query.desc), key_out(key.desc);
    const Tensor key_to = key_out.out();
    run.query_out = query_out.out();
    run.key = &key;
    run.key_out = &key_to;
    RW_ASSERT_OK(Execute(run));
    EXPECT_TRUE(SameElements(query_out.in(), file.Get("query_out")));
    EXPECT_TRUE(SameElements(key_out.in(), file.Get("key_out")));
  });
}

}  // namespace
}  // namespace ropewalk::test
