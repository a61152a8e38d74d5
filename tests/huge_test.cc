// Tensors of more than 2^31 elements and 2^32 bytes, in place. They are zeros
// but for a few rows, so that a row written elsewhere is seen.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "kernels/reference.h"
#include "support/run.h"
#include "support/sparse.h"
#include "support/test_tensor.h"

namespace ropewalk::test {
namespace {

int64_t FreeBytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  int64_t kib = 0;
  while (file >> name >> kib >> unit) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

// Rows of bf16 in memory that is otherwise zero.
class HugeRows {
 public:
  HugeRows(int64_t rows, int64_t row)
      : row_(row), memory_(static_cast<size_t>(rows * row) * 2) {
    // Around the limits of 32 bits, in elements and in bytes, with and without
    // sign.
    for (const int64_t element :
         {int64_t{0}, int64_t{1} << 29, int64_t{1} << 30, int64_t{1} << 31}) {
      for (const int64_t step : {-1, 0, 1}) {
        const int64_t at = element / row + step;
        if (at >= 0 && at < rows - 1) marked_.push_back(at);
      }
    }
    marked_.push_back(rows - 1);
  }

  const std::vector<int64_t>& marked() const { return marked_; }
  std::byte* data() const { return memory_.data(); }
  std::byte* Row(int64_t row) const { return data() + row * row_ * 2; }

  void Fill(Random& random) const {
    for (const int64_t row : marked_) {
      for (int64_t i = 0; i < row_; ++i) {
        FillElement(Dtype::kBF16, Data::kNormal, random, Row(row) + 2 * i);
      }
    }
  }

  /// Zeros, of either sign, but for the marked rows, which become zeros.
  bool OthersAreZero() const {
    for (const int64_t row : marked_) {
      std::memset(Row(row), 0, static_cast<size_t>(row_) * 2);
    }
    uint64_t any = 0;
    for (size_t i = 0; i < memory_.size(); i += 8) {
      uint64_t bits;
      std::memcpy(&bits, data() + i, 8);
      any |= bits & 0x7fff7fff7fff7fffU;
    }
    return any == 0;
  }

 private:
  int64_t row_;
  SparseMemory memory_;
  std::vector<int64_t> marked_;
};

class HugeTest : public testing::Test {
 protected:
  void SetUp() override {
    // Where there is less, the system would end this or another process.
    if (FreeBytes() < int64_t{6} << 30) GTEST_SKIP() << "needs 6 GiB of memory";
  }
  Random random_{1};
};

constexpr int64_t kTokens = 524290, kHeads = 32, kWidth = 128;

TEST_F(HugeTest, RotateAndBackward) {
  const HugeRows rows(kTokens, kHeads * kWidth);
  rows.Fill(random_);
  const TensorDesc all = Contiguous(Dtype::kBF16, {1, kTokens, kHeads, kWidth});
  const TensorDesc one = Contiguous(Dtype::kBF16, {1, 1, kHeads, kWidth});
  TestTensor cos(Dtype::kF32, {1, 1, 1, kWidth}, Data::kUnit, random_);
  TestTensor sin(Dtype::kF32, {1, 1, 1, kWidth}, Data::kUnit, random_);
  TensorDesc tables = cos.desc();
  tables.shape[1] = kTokens;  // the same row for every token
  tables.strides[1] = 0;
  const ConstTensor cos_all{tables, cos.data()}, sin_all{tables, sin.data()};

  std::vector<TestTensor> want;
  for (const int64_t row : rows.marked()) {
    want.push_back(Packed({one, rows.Row(row)}));
    reference::Rotate({}, want.back().in(), cos.in(), sin.in(),
                      want.back().out());
  }
  const Tensor x{all, rows.data()};
  RW_ASSERT_OK(Execute(RotateRun{{}, x, cos_all, sin_all, x}));
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(SameElements({one, rows.Row(rows.marked()[i])}, want[i].in()))
        << "row " << rows.marked()[i];
  }
  // dcos and dsin, summed over all of it; x is the same row everywhere.
  TestTensor row(Dtype::kBF16, {1, 1, kHeads, kWidth}, Data::kNormal, random_);
  TensorDesc repeated = row.desc();
  repeated.shape[1] = kTokens;
  repeated.strides[1] = 0;
  const ConstTensor at{repeated, row.data()};
  reference::TableGradients exact;
  for (const TestTensor& dy : want) {
    reference::AddTableGradients({}, dy.in(), row.in(), cos.desc(), &exact);
  }
  TestTensor dcos(cos.desc()), dsin(cos.desc());
  const Tensor outs[] = {dcos.out(), dsin.out()};
  BackwardRun run{{}, x, cos.in(), sin.in(), &at};
  run.dcos = &outs[0];
  run.dsin = &outs[1];
  RW_ASSERT_OK(Execute(run));
  for (int64_t i = 0; i < kWidth; ++i) {
    const auto k = static_cast<size_t>(i);
    EXPECT_NEAR(dcos.At(i), exact.dcos[k], 8 * 0x1p-24 * exact.dcos_abs[k]);
    EXPECT_NEAR(dsin.At(i), exact.dsin[k], 8 * 0x1p-24 * exact.dsin_abs[k]);
  }
  EXPECT_TRUE(rows.OthersAreZero());
}

TEST_F(HugeTest, RotateCached) {
  const int64_t tokens = 233018, heads = 72;
  const HugeRows rows(tokens, heads * kWidth);
  rows.Fill(random_);
  TestTensor cache(Dtype::kF32, {9, kWidth}, Data::kUnit, random_);
  TestTensor positions(Dtype::kI32, {tokens});
  for (int64_t t = 0; t < tokens; ++t) {
    positions.Set(t, static_cast<double>(t % 9));
  }
  CachedRun run;
  run.options.head_size = kWidth;
  run.positions = positions.in();
  run.cache = cache.in();
  const TensorDesc one = Contiguous(Dtype::kBF16, {1, heads * kWidth});
  std::vector<TestTensor> want;
  for (const int64_t row : rows.marked()) {
    want.push_back(Packed({one, rows.Row(row)}));
    const ConstTensor position{Contiguous(Dtype::kI32, {1}),
                               positions.Address(row)};
    reference::RotateCached(run.options, position, cache.in(), want.back().in(),
                            want.back().out());
  }
  const Tensor x{Contiguous(Dtype::kBF16, {tokens, heads * kWidth}),
                 rows.data()};
  run.query = x;
  run.query_out = x;
  RW_ASSERT_OK(Execute(run));
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(SameElements({one, rows.Row(rows.marked()[i])}, want[i].in()))
        << "row " << rows.marked()[i];
  }
  EXPECT_TRUE(rows.OthersAreZero());
}

}  // namespace
}  // namespace ropewalk::test
