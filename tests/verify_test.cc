// Verify from C++: right results, wrong ones, what is refused, progress.

#include "ropewalk/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ropewalk/ops.h"
#include "support/golden.h"
#include "support/test_tensor.h"

namespace ropewalk::test {
namespace {

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() {
    call_.x = file_.Get("x");
    call_.cos = file_.Get("cos");
    call_.sin = file_.Get("sin");
    call_.y = file_.Get("y");
  }

  const GoldenFile file_{DataPath("smollm2_key.safetensors")};
  VerifyRotateCall call_;
};

TEST_F(VerifyTest, ARightResult) {
  for (const Limit::Kind kind :
       {Limit::Kind::kArithmetic, Limit::Kind::kBits}) {
    VerifyOptions options;
    options.limit.kind = kind;
    options.map = true;
    const Result<VerifyReport> report = Verify(call_, options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_TRUE(report->ok);
    EXPECT_TRUE(report->diagnosis.empty());
    ASSERT_EQ(report->outputs.size(), 1U);
    const OutputReport& y = report->outputs[0];
    EXPECT_EQ(y.elements, Count(call_.x.desc));
    EXPECT_EQ(y.worst.size(), 5U);
    EXPECT_EQ(y.worst[0].ulp, y.max_ulp);
    int64_t in_histogram = 0;
    for (const int64_t count : y.map.histogram) in_histogram += count;
    EXPECT_EQ(in_histogram, y.elements);
  }
}

TEST_F(VerifyTest, AWrongElementIsFound) {
  TestTensor y = Packed(call_.y);
  const std::vector<double> values = {1e30,
                                      std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};
  for (const double value : values) {
    y.Set(12345, value);
    call_.y = y.in();
    const Result<VerifyReport> report = Verify(call_);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_FALSE(report->ok);
    const OutputReport& found = report->outputs[0];
    EXPECT_EQ(found.outside, 1);
    EXPECT_EQ(found.nan_mismatches, std::isnan(value) ? 1 : 0);
    EXPECT_EQ(found.inf_mismatches, std::isinf(value) ? 1 : 0);
    // 12345 in (1, 128, 3, 64).
    EXPECT_EQ(found.worst[0].index, (std::vector<int64_t>{0, 64, 0, 57}));
    ASSERT_EQ(report->diagnosis.size(), 1U);
    EXPECT_EQ(report->diagnosis[0].id, "unknown");
  }
}

TEST_F(VerifyTest, AMistakeIsNamed) {
  TestTensor y(call_.y.desc);
  RotateOptions wrong;
  wrong.pairing = Pairing::kQuarter;
  ASSERT_TRUE(Rotate(wrong, call_.x, call_.cos, call_.sin, y.out()).ok());
  call_.y = y.in();
  const Result<VerifyReport> report = Verify(call_);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->diagnosis.size(), 1U);
  EXPECT_EQ(report->diagnosis[0].id, "pairing");
  EXPECT_EQ(report->diagnosis[0].detail, "quarter");
  EXPECT_EQ(report->diagnosis[0].explains, 1.0);
}

TEST_F(VerifyTest, TablesGradients) {
  VerifyBackwardCall call;
  call.dy = file_.Get("dy");
  call.x = call_.x;
  call.cos = call_.cos;
  call.sin = call_.sin;
  TestTensor dcos(call.cos.desc), dsin(call.cos.desc);
  const Tensor to_dcos = dcos.out(), to_dsin = dsin.out();
  RotateBackwardCall run{call.dy, call.cos, call.sin};
  run.x = &*call.x;
  run.dcos = &to_dcos;
  run.dsin = &to_dsin;
  ASSERT_TRUE(RotateBackward({}, run).ok());
  call.dcos = dcos.in();
  call.dsin = dsin.in();
  VerifyOptions options;
  options.limit.kind = Limit::Kind::kBits;
  Result<VerifyReport> report = Verify(call, options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->ok);
  std::swap(call.dcos, call.dsin);
  report = Verify(call);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->diagnosis.size(), 1U);
  EXPECT_EQ(report->diagnosis[0].id, "cos-sin-swapped");
  EXPECT_EQ(report->diagnosis[0].outputs,
            (std::vector<std::string>{"dcos", "dsin"}));
}

TEST_F(VerifyTest, TheSameWithAnyNumberOfThreads) {
  TestTensor y = Packed(call_.y);
  for (int64_t i = 0; i < Count(y.desc()); i += 7) y.Set(i, 0.25);
  call_.y = y.in();
  VerifyOptions options;
  options.executor = &InlineExecutor();
  const Result<VerifyReport> one = Verify(call_, options);
  const auto pool = MakePool(3);
  options.executor = pool.get();
  const Result<VerifyReport> three = Verify(call_, options);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->outputs[0].mean_ulp, three->outputs[0].mean_ulp);
  EXPECT_EQ(one->outputs[0].outside, three->outputs[0].outside);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(one->outputs[0].worst[i].index, three->outputs[0].worst[i].index);
  }
}

TEST_F(VerifyTest, ProgressIsTold) {
  struct Told : VerifyProgress {
    size_t last = 0, total = 0;
    void OnProgress(const std::string& output, bool, size_t done,
                    size_t of) override {
      EXPECT_EQ(output, "y");
      EXPECT_GE(done, last);
      last = done;
      total = of;
    }
  } told;
  VerifyOptions options;
  options.progress = &told;
  ASSERT_TRUE(Verify(call_, options).ok());
  EXPECT_EQ(told.last, told.total);
  EXPECT_EQ(told.total, static_cast<size_t>(Count(call_.y.desc)) * 4);
}

TEST_F(VerifyTest, Refusals) {
  const auto refuses = [](const VerifyRotateCall& call, Code code,
                          const std::string& words) {
    const Result<VerifyReport> report = Verify(call);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.status().code(), code);
    EXPECT_NE(report.status().message().find(words), std::string::npos)
        << report.status().message();
  };
  VerifyRotateCall call = call_;
  call.y.desc.shape[1] = 127;
  refuses(call, Code::kShape, "[verify] y: shape must be (1, 128, 3, 64)");
  call = call_;
  call.y.desc.dtype = Dtype::kF64;
  refuses(call, Code::kDtype, "[verify] y: dtype must be f32, f16 or bf16");
  call = call_;
  call.y.data = nullptr;
  refuses(call, Code::kNullPointer, "[verify] y");
  call = call_;
  call.cos.desc.shape[3] = 62;
  refuses(call, Code::kShape, "[rotate]");
  VerifyOptions options;
  options.limit = {Limit::Kind::kUlp, -1};
  EXPECT_EQ(Verify(call_, options).status().code(), Code::kOption);
}

TEST(VerifyEmpty, IsRight) {
  VerifyRotateCall call;
  call.x.desc = TensorDesc::Contiguous(Dtype::kF32, {0, 3, 4});
  call.cos.desc = call.sin.desc =
      TensorDesc::Contiguous(Dtype::kF32, {1, 3, 4});
  const std::vector<float> table(12);
  call.cos.data = call.sin.data = table.data();
  call.y = call.x;
  const Result<VerifyReport> report = Verify(call);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->ok);
  EXPECT_EQ(report->outputs[0].elements, 0);
}

TEST(VerifyNames, AreInOrder) {
  const std::vector<std::string> names = CauseNames();
  EXPECT_EQ(names.size(), 25U);
  EXPECT_EQ(names.front(), "pairing");
  EXPECT_EQ(names.back(), "head-repeated");
}

}  // namespace
}  // namespace ropewalk::test
