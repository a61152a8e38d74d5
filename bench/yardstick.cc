#include "bench/yardstick.h"

#include <cstring>
#include <utility>
#include <vector>

#include "bench/caches.h"
#include "bench/compare.h"
#include "ropewalk/executor.h"

namespace ropewalk::bench {
namespace {

constexpr Effort kTry = {.pairs = 5, .least_pairs = 5};

// Touched, so that its pages are there.
Result<Block> FilledBlock(size_t bytes, io::Pages pages) {
  Result<Block> block = Block::Allocate(bytes, pages);
  if (block.ok()) std::memset(block->data(), 1, bytes);
  return block;
}

}  // namespace

Result<Yardstick> Yardstick::Make(YardstickKind kind, size_t bytes,
                                  io::Pages pages) {
  Yardstick yardstick;
  yardstick.kind_ = kind;
  const bool streaming = bytes >= ReadCaches().last_level();
  yardstick.stores_ = streaming ? Stores::kStreaming : Stores::kCached;
  std::vector<Block*> blocks = {&yardstick.to_, &yardstick.a_};
  if (kind == YardstickKind::kTriad) blocks.push_back(&yardstick.b_);
  for (Block* block : blocks) {
    Result<Block> filled = FilledBlock(bytes / blocks.size(), pages);
    if (!filled.ok()) return filled.status();
    *block = std::move(*filled);
  }
  if (!streaming) {
    const Comparison comparison =
        Compare([&yardstick] { yardstick.RunOn(DefaultExecutor()); },
                [&yardstick] { yardstick.RunOn(InlineExecutor()); }, kTry);
    yardstick.one_thread_ = comparison.fraction.median < 1;
  }
  return yardstick;
}

void Yardstick::Run() const {
  RunOn(one_thread_ ? InlineExecutor() : DefaultExecutor());
}

void Yardstick::RunOn(Executor& executor) const {
  if (kind_ == YardstickKind::kCopy) {
    Copy(to_.data(), a_.data(), to_.size(), stores_, executor);
  } else {
    Triad(to_.data(), a_.data(), b_.data(), to_.size(), stores_, executor);
  }
}

const char* Yardstick::name() const {
  const bool streaming = stores_ == Stores::kStreaming;
  if (kind_ == YardstickKind::kTriad) {
    return streaming ? "triad (streaming)" : "triad (cached)";
  }
  return streaming ? "copy (streaming)" : "copy (memcpy)";
}

}  // namespace ropewalk::bench
