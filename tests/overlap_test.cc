// Which overlaps Run accepts, and that nothing is written where it refuses.

#include <gtest/gtest.h>

#include "kernels/reference.h"
#include "support/cases.h"
#include "support/layouts.h"

namespace ropewalk::test {
namespace {

constexpr int64_t kRows = 6, kWidth = 16;

// One block of floats in which tensors are placed by hand.
class Block {
 public:
  explicit Block(int64_t elements) : tensor_(Dtype::kF32, {elements}) {
    Random random(1);
    tensor_.Fill(Data::kNormal, random);
  }
  Tensor At(int64_t element, const TensorDesc& desc) const {
    return {desc, static_cast<float*>(tensor_.data()) + element};
  }
  const TestTensor& all() const { return tensor_; }

 private:
  TestTensor tensor_;
};

const TensorDesc kPlain = Contiguous(Dtype::kF32, {kRows, kWidth});
const TensorDesc kTable = Contiguous(Dtype::kF32, {1, kWidth});

class OverlapTest : public testing::Test {
 protected:
  OverlapTest() : block_(4096), cos_(kTable), sin_(kTable) {
    Random random(2);
    cos_.Fill(Data::kUnit, random);
    sin_.Fill(Data::kUnit, random);
  }

  Status Turn(const ConstTensor& x, const Tensor& y) {
    return Execute(RotateRun{{}, x, cos_.in(), sin_.in(), y});
  }

  void ExpectRefused(const RotateRun& run, const char* message) {
    const TestTensor before = block_.all();
    const Status status = Execute(run);
    EXPECT_EQ(status.code(), Code::kOverlap) << status.message();
    EXPECT_EQ(status.message(), message);
    EXPECT_TRUE(SameMemory(block_.all(), before)) << "something was written";
  }

  void ExpectRefused(const ConstTensor& x, const Tensor& y) {
    ExpectRefused(RotateRun{{}, x, cos_.in(), sin_.in(), y},
                  "[rotate] y: must not overlap x unless they coincide "
                  "exactly, but does");
  }

  // Accepted, and right: x is read from a copy made before.
  void ExpectRight(const ConstTensor& x, const Tensor& y) {
    const TestTensor in = Packed(x);
    TestTensor want(Dtype::kF32, ShapeOf(x.desc));
    RunReference(
        {{}, Direction::kForward, in.in(), cos_.in(), sin_.in(), want.out()});
    RW_ASSERT_OK(Turn(x, y));
    EXPECT_TRUE(SameElements(y, want.in()));
  }

  Block block_;
  TestTensor cos_, sin_;
};

TEST_F(OverlapTest, ExactCoincidenceIsInPlace) {
  ExpectRight(block_.At(5, kPlain), block_.At(5, kPlain));
  const TensorDesc gaps = Strided(Dtype::kF32, {kRows, kWidth}, {-50, 3});
  ExpectRight(block_.At(2000, gaps), block_.At(2000, gaps));
}

TEST_F(OverlapTest, TheStrideOfAnAxisOfOneDoesNotMatter) {
  const TensorDesc a = Strided(Dtype::kF32, {1, 6, 16}, {7, 16, 1});
  const TensorDesc b = Strided(Dtype::kF32, {1, 6, 16}, {96, 16, 1});
  TestTensor cos(Dtype::kF32, {1, 1, 16}, Placement::kPadded);
  cos.Fill(0.5);
  RW_ASSERT_OK(Execute(
      RotateRun{{}, block_.At(0, a), cos.in(), cos.in(), block_.At(0, b)}));
}

TEST_F(OverlapTest, ShiftsByAnyAmountAreRefused) {
  const Tensor x = block_.At(1000, kPlain);
  for (int64_t shift = -kRows * kWidth; shift <= kRows * kWidth; ++shift) {
    if (shift == 0) continue;
    const Tensor y = block_.At(1000 + shift, kPlain);
    SCOPED_TRACE("shift " + std::to_string(shift));
    if (std::abs(shift) == kRows * kWidth) {
      ExpectRight(x, y);
    } else {
      ExpectRefused(x, y);
    }
  }
}

TEST_F(OverlapTest, OneSharedByteIsRefused) {
  const Tensor x = block_.At(1000, kPlain);
  Tensor y = block_.At(1000 + kRows * kWidth, kPlain);
  y.data = static_cast<char*>(y.data) - 1;
  ExpectRefused(x, y);
}

TEST_F(OverlapTest, SamePlaceOtherOrderIsRefused) {
  const TensorDesc square = Contiguous(Dtype::kF32, {16, 16});
  ExpectRefused(block_.At(0, square), block_.At(0, Permuted(square, {1, 0})));
  const TensorDesc reversed = Strided(Dtype::kF32, {kRows, kWidth}, {-16, 1});
  ExpectRefused(block_.At(0, kPlain), block_.At(16 * (kRows - 1), reversed));
}

TEST_F(OverlapTest, InterleavedViewsAreAccepted) {
  // Even and odd columns, even and odd rows, q and k in one row of qkv.
  const TensorDesc columns = Strided(Dtype::kF32, {kRows, kWidth}, {32, 2});
  ExpectRight(block_.At(0, columns), block_.At(1, columns));
  const TensorDesc rows = Strided(Dtype::kF32, {kRows, kWidth}, {32, 1});
  ExpectRight(block_.At(0, rows), block_.At(16, rows));
  const TensorDesc part = Strided(Dtype::kF32, {kRows, kWidth}, {48, 1});
  ExpectRight(block_.At(0, part), block_.At(32, part));
  ExpectRefused(block_.At(0, part), block_.At(15, part));
  ExpectRefused(block_.At(0, part), block_.At(33, part));
}

TEST_F(OverlapTest, QueryAndKeyOfOneBufferInPlace) {
  const int64_t row = 9 * 16;
  const TensorDesc query = Strided(Dtype::kF32, {5, 6, 16}, {row, 16, 1});
  const TensorDesc key = Strided(Dtype::kF32, {5, 2, 16}, {row, 16, 1});
  TestTensor cos(Dtype::kF32, {5, 1, 16}), sin(Dtype::kF32, {5, 1, 16});
  cos.Fill(0.25);
  sin.Fill(0.75);
  const Tensor q = block_.At(0, query), k = block_.At(6 * 16, key);
  const ConstTensor k_in = k;
  const TestTensor q_before = Packed(q), k_before = Packed(k);
  TestTensor q_want = q_before, k_want = k_before;
  reference::Rotate({}, q_before.in(), cos.in(), sin.in(), q_want.out());
  reference::Rotate({}, k_before.in(), cos.in(), sin.in(), k_want.out());
  RotateRun run{{}, q, cos.in(), sin.in(), q};
  run.x2 = &k_in;
  run.y2 = &k;
  RW_ASSERT_OK(Execute(run));
  EXPECT_TRUE(SameElements(q, q_want.in()));
  EXPECT_TRUE(SameElements(k, k_want.in()));
}

TEST_F(OverlapTest, OutputsMayNotTouchTablesOrEachOther) {
  const Tensor x = block_.At(0, kPlain);
  const Tensor y = block_.At(200, kPlain);
  RotateRun run{{}, x, block_.At(290, kTable), sin_.in(), y};
  ExpectRefused(run, "[rotate] y: must not overlap cos, but does");
  run.cos = cos_.in();
  run.sin = block_.At(185, kTable);
  ExpectRefused(run, "[rotate] y: must not overlap sin, but does");
  run.sin = run.cos = block_.At(0, kTable);
  ASSERT_TRUE(Execute(run).ok()) << "inputs may overlap";
  run.cos = cos_.in();
  run.sin = sin_.in();
  const ConstTensor x2 = block_.At(400, kPlain);
  Tensor y2 = block_.At(250, kPlain);
  run.x2 = &x2;
  run.y2 = &y2;
  ExpectRefused(run, "[rotate] y: must not overlap y2, but does");
  y2 = block_.At(0, kPlain);
  ExpectRefused(run, "[rotate] y2: must not overlap x, but does");
  y2 = block_.At(480, kPlain);
  ExpectRefused(run,
                "[rotate] y2: must not overlap x2 unless they coincide "
                "exactly, but does");
  // y on the second operand's input.
  y2 = block_.At(600, kPlain);
  run.y = block_.At(400, kPlain);
  ExpectRefused(run, "[rotate] y: must not overlap x2, but does");
}

TEST_F(OverlapTest, TheSliceDoesNotMakeAnOverlapHarmless) {
  RotateRun run{{Pairing::kHalf, Slice{0, 4}},
                block_.At(0, kPlain),
                block_.At(1000, Contiguous(Dtype::kF32, {1, 4})),
                block_.At(1000, Contiguous(Dtype::kF32, {1, 4})),
                block_.At(8, kPlain)};
  ExpectRefused(
      run,
      "[rotate] y: must not overlap x unless they coincide exactly, but does");
}

class BackwardOverlapTest : public OverlapTest {
 protected:
  // dy at 0, x at 200, dx at 400, cos and sin at 600, dcos at 700, dsin at 800.
  BackwardOverlapTest()
      : x_(block_.At(200, kPlain)),
        dx_(block_.At(400, kPlain)),
        dcos_(block_.At(700, kTable)),
        dsin_(block_.At(800, kTable)),
        run_{{},
             block_.At(0, kPlain),
             block_.At(600, kTable),
             block_.At(616, kTable)} {
    run_.x = &x_;
    run_.dx = &dx_;
    run_.dcos = &dcos_;
    run_.dsin = &dsin_;
  }

  void ExpectRefused(const char* message) {
    const TestTensor before = block_.all();
    const Status status = Execute(run_);
    EXPECT_EQ(status.code(), Code::kOverlap) << status.message();
    EXPECT_EQ(status.message(), message);
    EXPECT_TRUE(SameMemory(block_.all(), before)) << "something was written";
  }

  // Results in place equal those out of place.
  void ExpectSameAsApart() {
    TestTensor dx(kPlain), dcos(kTable), dsin(kTable);
    const Tensor dx_out = dx.out(), dcos_out = dcos.out(),
                 dsin_out = dsin.out();
    BackwardRun apart = run_;
    apart.dx = &dx_out;
    apart.dcos = &dcos_out;
    apart.dsin = &dsin_out;
    RW_ASSERT_OK(Execute(apart));
    RW_ASSERT_OK(Execute(run_));
    EXPECT_TRUE(SameElements(dx_, dx.in()));
    EXPECT_TRUE(SameElements(dcos_, dcos.in()));
    EXPECT_TRUE(SameElements(dsin_, dsin.in()));
  }

  ConstTensor x_;
  Tensor dx_, dcos_, dsin_;
  BackwardRun run_;
};

TEST_F(BackwardOverlapTest, DxMayBeDy) {
  dx_ = block_.At(0, kPlain);
  ExpectSameAsApart();
}

TEST_F(BackwardOverlapTest, DxMayBeX) {
  dx_ = block_.At(200, kPlain);
  ExpectSameAsApart();
}

TEST_F(BackwardOverlapTest, DyMayBeX) {
  x_ = block_.At(0, kPlain);
  ExpectSameAsApart();
  dx_ = block_.At(0, kPlain);
  ExpectSameAsApart();
}

TEST_F(BackwardOverlapTest, OthersAreRefused) {
  dx_ = block_.At(1, kPlain);
  ExpectRefused(
      "[rotate_backward] dx: must not overlap dy unless they coincide exactly, "
      "but does");
  dx_ = block_.At(201, kPlain);
  ExpectRefused(
      "[rotate_backward] dx: must not overlap x unless they coincide exactly, "
      "but does");
  dx_ = block_.At(600, kPlain);
  ExpectRefused("[rotate_backward] dx: must not overlap cos, but does");
  dx_ = block_.At(400, kPlain);
  dcos_ = block_.At(600, kTable);
  ExpectRefused("[rotate_backward] dcos: must not overlap cos, but does");
  dcos_ = block_.At(616, kTable);
  ExpectRefused("[rotate_backward] dcos: must not overlap sin, but does");
  dcos_ = block_.At(0, kTable);
  ExpectRefused("[rotate_backward] dcos: must not overlap dy, but does");
  dcos_ = block_.At(220, kTable);
  ExpectRefused("[rotate_backward] dcos: must not overlap x, but does");
  dcos_ = block_.At(410, kTable);
  ExpectRefused("[rotate_backward] dx: must not overlap dcos, but does");
  dcos_ = block_.At(800, kTable);
  ExpectRefused("[rotate_backward] dcos: must not overlap dsin, but does");
}

class CachedOverlapTest : public testing::Test {
 protected:
  static constexpr int64_t kHead = 16;
  CachedOverlapTest() : block_(4096), positions_(Dtype::kI64, {5}) {
    positions_.Fill(2);
    run_.options.head_size = kHead;
    run_.positions = positions_.in();
    run_.cache = block_.At(0, Contiguous(Dtype::kF32, {4, kHead}));
    run_.query = block_.At(100, query_);
    run_.query_out = block_.At(400, query_);
    key_in_ = block_.At(700, query_);
    key_out_ = block_.At(1000, query_);
    run_.key = &key_in_;
    run_.key_out = &key_out_;
  }

  void ExpectRefused(const char* message) {
    const TestTensor before = block_.all();
    const Status status = Execute(run_);
    EXPECT_EQ(status.code(), Code::kOverlap) << status.message();
    EXPECT_EQ(status.message(), message);
    EXPECT_TRUE(SameMemory(block_.all(), before)) << "something was written";
  }

  const TensorDesc query_ = Contiguous(Dtype::kF32, {5, 2 * kHead});
  Block block_;
  TestTensor positions_;
  ConstTensor key_in_;
  Tensor key_out_;
  CachedRun run_;
};

TEST_F(CachedOverlapTest, InPlaceAndApartAreAccepted) {
  EXPECT_TRUE(Execute(run_).ok());
  run_.query_out = block_.At(100, query_);
  key_out_ = block_.At(700, query_);
  EXPECT_TRUE(Execute(run_).ok());
}

TEST_F(CachedOverlapTest, OthersAreRefused) {
  run_.query_out = block_.At(101, query_);
  ExpectRefused(
      "[rotate_cached] query_out: must not overlap query unless they coincide "
      "exactly, but does");
  run_.query_out = block_.At(60, query_);
  run_.query = block_.At(1300, query_);
  ExpectRefused("[rotate_cached] query_out: must not overlap cache, but does");
  run_.query_out = block_.At(701, query_);
  ExpectRefused("[rotate_cached] query_out: must not overlap key, but does");
  run_.query_out = block_.At(400, query_);
  key_out_ = block_.At(450, query_);
  ExpectRefused(
      "[rotate_cached] query_out: must not overlap key_out, but does");
  key_out_ = block_.At(1300, query_);
  ExpectRefused("[rotate_cached] key_out: must not overlap query, but does");
  key_out_ = block_.At(1000, query_);
  run_.positions.data = static_cast<char*>(key_out_.data) + 64;
  const TestTensor before = block_.all();
  EXPECT_EQ(Execute(run_).code(), Code::kOverlap);
  EXPECT_TRUE(SameMemory(block_.all(), before));
}

}  // namespace
}  // namespace ropewalk::test
