// What is measured: the list of works, and the bytes that each must move.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "bench/block.h"
#include "bench/compare.h"
#include "bench/prepare.h"
#include "bench/shapes.h"
#include "bench/works.h"

namespace ropewalk::bench {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(BenchTest, NamesDiffer) {
  std::set<std::string> names;
  for (const Work& work : AllWorks()) {
    EXPECT_TRUE(names.insert(WorkName(work)).second) << WorkName(work);
    EXPECT_FALSE(work.group.empty()) << WorkName(work);
  }
}

TEST(BenchTest, BytesOfRowsAndTables) {
  // x and y of 32 MiB, two tables of 1 MiB.
  EXPECT_EQ(LeastBytes({}), 66 * kMiB);
  EXPECT_EQ(LeastBytes({.dtype = Dtype::kBF16}), 34 * kMiB);
  EXPECT_EQ(LeastBytes({.dtype = Dtype::kBF16, .table_dtype = Dtype::kBF16}),
            33 * kMiB);
  // Tables once, however many batches share them; dcos and dsin are theirs.
  EXPECT_EQ(LeastBytes({.batch = 4}), 258 * kMiB);
  EXPECT_EQ(LeastBytes({.table_axes = "BS", .batch = 4}), 264 * kMiB);
  EXPECT_EQ(LeastBytes({.kind = Kind::kGradients}), 100 * kMiB);
  EXPECT_EQ(LeastBytes({.kind = Kind::kGradients, .table_axes = "BSN"}),
            224 * kMiB);
  EXPECT_EQ(LeastBytes({.kind = Kind::kPlan}), 0);
}

TEST(BenchTest, BytesOfSlicesAreWholeLines) {
  const Work half_lines = {
      .kind = Kind::kInPlace, .tokens = 1, .width = 24, .rotated = 8};
  // Rows of 96 bytes, their last 32 rotate: 64-96 of each 192 bytes and
  // 160-192, two lines of three.
  EXPECT_EQ(LeastBytes(half_lines), (2U * 32 * 64) + (2U * 8 * 4));
  // Rows of 32 bytes, their last 16 rotate: all lines, each once.
  const Work shared = {
      .kind = Kind::kInPlace, .tokens = 1, .width = 8, .rotated = 4};
  EXPECT_EQ(LeastBytes(shared), (2U * 32 * 32) + (2U * 4 * 4));
}

TEST(BenchTest, BytesByPosition) {
  // 40 heads in and out, positions, one row of the cache for each token.
  EXPECT_EQ(LeastBytes({.kind = Kind::kCached}),
            2048U * (2 * 40 * 128 * 4 + 8 + 128 * 4));
  EXPECT_EQ(
      LeastBytes({.kind = Kind::kCached, .positions = Positions::kSegmented}),
      2048U * (2 * 40 * 128 * 4 + 24 + 128 * 4));
}

TEST(BenchTest, ViewsHaveTheirBuffersStrides) {
  const TensorDesc desc = DataDesc({.layout = "BSND", .view = "BNSD"});
  EXPECT_EQ(desc.shape[1], 32);
  EXPECT_EQ(desc.strides[1], 128);
  EXPECT_EQ(desc.strides[2], 32 * 128);
}

// Small ones of each kind of work; the rest differ by sizes.
TEST(BenchTest, WorksRun) {
  for (const Work& listed : AllWorks()) {
    Work work = listed;
    work.tokens = std::min<int64_t>(work.tokens, 3);
    const Result<Prepared> prepared = Prepare(work);
    ASSERT_TRUE(prepared.ok())
        << WorkName(work) << ": " << prepared.status().message();
    EXPECT_TRUE(prepared->run().ok()) << WorkName(work);
  }
}

TEST(BenchTest, BlocksAreUsedAgain) {
  const std::byte* first = nullptr;
  {
    Result<Block> block = Block::Allocate(kMiB, io::Pages::kSmall);
    ASSERT_TRUE(block.ok());
    first = block->data();
  }
  const Result<Block> again = Block::Allocate(kMiB, io::Pages::kSmall);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->data(), first);
  const Result<Block> beside = Block::Allocate(kMiB, io::Pages::kSmall);
  ASSERT_TRUE(beside.ok());
  EXPECT_NE(beside->data(), first);
}

TEST(BenchTest, ComparesByTurns) {
  std::string order;
  const Comparison comparison =
      Compare([&order] { order += 'w'; }, [&order] { order += 'y'; },
              {.pairs = 3, .least_pairs = 3});
  EXPECT_EQ(comparison.pairs, 3);
  EXPECT_LE(comparison.fraction.p10, comparison.fraction.median);
  EXPECT_LE(comparison.fraction.median, comparison.fraction.p90);
  std::string turns = order;
  turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
  EXPECT_EQ(turns, "wywywywy");  // the first of each warms up
}

}  // namespace
}  // namespace ropewalk::bench
