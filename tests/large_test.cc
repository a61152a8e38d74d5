// Tensors around and beyond the last-level cache, where stores may pass it by:
// the same bits as in small pieces, for any alignment and number of threads.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "support/cases.h"
#include "support/executors.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

constexpr int64_t kHeads = 8, kWidth = 128;

int64_t CacheBytes() {
  const int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp<int64_t>(bytes, 8 << 20, 48 << 20);
}

// Fills fast: the same 4096 random elements over and over, each time shifted.
void FillFast(const TestTensor& tensor, Random& random) {
  const size_t element = DtypeSize(tensor.desc().dtype);
  TestTensor pattern(tensor.desc().dtype, {4099}, Data::kNormal, random);
  auto* to = static_cast<std::byte*>(tensor.data());
  size_t left = static_cast<size_t>(Count(tensor.desc())) * element;
  while (left > 0) {
    const size_t count = std::min(left, 4099 * element);
    std::memcpy(to, pattern.data(), count);
    to += count;
    left -= count;
  }
}

struct Large {
  Large(Dtype dtype, Dtype table, int64_t rows, Pairing pairing)
      : random(1),
        x(dtype, {rows, kHeads, kWidth}),
        cos(table, {rows, 1, kWidth}),
        sin(table, {rows, 1, kWidth}),
        options{pairing, {}} {
    FillFast(x, random);
    FillFast(cos, random);
    FillFast(sin, random);
  }

  // What pieces far below the cache's size give.
  void RunInPieces(Direction direction, const TestTensor& y) const {
    const int64_t rows = x.desc().shape[0];
    for (int64_t row = 0; row < rows; row += 64) {
      const int64_t count = std::min<int64_t>(64, rows - row);
      const auto piece = [&](const TestTensor& tensor) {
        TensorDesc desc = tensor.desc();
        desc.shape[0] = count;
        return Tensor{desc, tensor.Address(row * desc.shape[1] * kWidth)};
      };
      Turn turn{options, direction, piece(x), piece(cos), piece(sin), piece(y)};
      turn.executor = &InlineExecutor();
      RW_ASSERT_OK(Execute(turn));
    }
  }

  Random random;
  TestTensor x, cos, sin;
  RotateOptions options;
};

int64_t RowsFor(int64_t bytes, Dtype dtype) {
  return bytes / (2 * kHeads * kWidth * static_cast<int64_t>(DtypeSize(dtype)));
}

TEST(LargeTest, SameBitsAsInPieces) {
  const std::vector<Dtypes> dtypes = {{Dtype::kF32, Dtype::kF32},
                                      {Dtype::kBF16, Dtype::kF32},
                                      {Dtype::kF16, Dtype::kF16}};
  for (const Dtypes& d : dtypes) {
    for (Pairing pairing : AllPairings()) {
      // Bytes of x and y together: beyond the cache.
      const int64_t rows = RowsFor(CacheBytes() + (8 << 20), d.data);
      const Large large(d.data, d.table, rows, pairing);
      for (Direction direction : kDirections) {
        TestTensor want(large.x.desc());
        large.RunInPieces(direction, want);
        ForEachTarget([&] {
          const TestTensor y(large.x.desc());
          RW_ASSERT_OK(Execute(Turn{large.options, direction, large.x.in(),
                                    large.cos.in(), large.sin.in(), y.out()}));
          ASSERT_TRUE(SameElements(y.in(), want.in()));
          ASSERT_TRUE(y.memory().PaddingIntact());
        });
        ASSERT_FALSE(HasFailure()) << Name(d) << PairingName(pairing);
      }
    }
  }
}

TEST(LargeTest, SizesAroundTheCache) {
  for (int64_t off : {-1, 0, 1}) {
    for (int64_t share : {1, 2}) {  // y alone, or x and y, of the cache's size
      const int64_t rows = RowsFor(CacheBytes() * 2 / share, Dtype::kF32) + off;
      const Large large(Dtype::kF32, Dtype::kF32, rows, Pairing::kHalf);
      TestTensor want(large.x.desc());
      large.RunInPieces(Direction::kForward, want);
      TestTensor y(large.x.desc());
      RW_ASSERT_OK(
          Execute(Turn{large.options, Direction::kForward, large.x.in(),
                       large.cos.in(), large.sin.in(), y.out()}));
      ASSERT_TRUE(SameElements(y.in(), want.in()));
    }
  }
}

TEST(LargeTest, AnyAlignmentThreadsAndInPlace) {
  const int64_t rows = RowsFor(CacheBytes() + (8 << 20), Dtype::kBF16);
  const Large large(Dtype::kBF16, Dtype::kF32, rows, Pairing::kInterleave);
  TestTensor want(large.x.desc());
  large.RunInPieces(Direction::kForward, want);
  ReverseExecutor reverse(5);
  const auto pool = MakePool(3);
  for (int64_t shift : {0, 1, 8, 16, 31}) {
    // y at an odd place, rows apart by more than their length.
    TensorDesc desc = large.x.desc();
    const int64_t gap = shift == 16 ? 32 : shift % 5;
    desc.strides[0] += gap;
    TestTensor room(Dtype::kBF16, {rows * (kHeads * kWidth + gap) + 32});
    const Tensor y{desc, room.Address(shift)};
    Turn turn{large.options,  Direction::kForward, large.x.in(),
              large.cos.in(), large.sin.in(),      y};
    turn.executor = shift == 8 ? static_cast<Executor*>(&reverse) : pool.get();
    RW_ASSERT_OK(Execute(turn));
    ASSERT_TRUE(SameElements(y, want.in()));
  }
  TestTensor y = large.x;
  RW_ASSERT_OK(Execute(Turn{large.options, Direction::kForward, y.in(),
                            large.cos.in(), large.sin.in(), y.out()}));
  ASSERT_TRUE(SameElements(y.in(), want.in()));
}

// dx written past the cache, together with dcos and dsin.
TEST(LargeTest, BackwardWithTables) {
  const int64_t rows = RowsFor(CacheBytes() + (8 << 20), Dtype::kF32);
  const Large large(Dtype::kF32, Dtype::kF32, rows, Pairing::kHalf);
  TestTensor dy(large.x.desc());
  Random random(2);
  FillFast(dy, random);
  const ConstTensor x = large.x.in();
  const auto run = [&](const TestTensor* dx, const TestTensor& dcos,
                       const TestTensor& dsin, Executor* executor) {
    const Tensor dcos_out = dcos.out(), dsin_out = dsin.out();
    BackwardRun run{large.options, dy.in(), large.cos.in(), large.sin.in()};
    run.x = &x;
    run.dcos = &dcos_out;
    run.dsin = &dsin_out;
    run.executor = executor;
    const Tensor dx_out = dx != nullptr ? dx->out() : Tensor{};
    if (dx != nullptr) run.dx = &dx_out;
    return Execute(run);
  };
  const TestTensor want_dcos(large.cos.desc()), want_dsin(large.cos.desc());
  RW_ASSERT_OK(run(nullptr, want_dcos, want_dsin, &InlineExecutor()));
  TestTensor want(large.x.desc());
  RW_ASSERT_OK(Execute(Turn{large.options, Direction::kBackward, dy.in(),
                            large.cos.in(), large.sin.in(), want.out()}));
  ForEachTarget([&] {
    const TestTensor dx(large.x.desc());
    const TestTensor dcos(large.cos.desc()), dsin(large.cos.desc());
    RW_ASSERT_OK(run(&dx, dcos, dsin, nullptr));
    ASSERT_TRUE(SameElements(dx.in(), want.in()));
    ASSERT_TRUE(SameElements(dcos.in(), want_dcos.in()));
    ASSERT_TRUE(SameElements(dsin.in(), want_dsin.in()));
  });
}

}  // namespace
}  // namespace ropewalk::test
