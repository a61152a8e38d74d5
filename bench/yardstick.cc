#include "bench/yardstick.h"

#include <cstring>
#include <utility>
#include <vector>

#include "bench/caches.h"
#include "bench/compare.h"
#include "ropewalk/executor.h"

namespace ropewalk::bench {
namespace {

constexpr int kTryPairs = 5;

// Touched, so that its pages are there.
Result<io::Buffer> FilledBuffer(size_t bytes) {
  Result<io::Buffer> buffer = io::Buffer::Allocate(bytes);
  if (buffer.ok()) std::memset(buffer->data(), 1, bytes);
  return buffer;
}

}  // namespace

Result<Yardstick> Yardstick::Make(YardstickKind kind, size_t bytes) {
  Yardstick yardstick;
  yardstick.kind_ = kind;
  const bool streaming = bytes >= ReadCaches().last_level();
  yardstick.stores_ = streaming ? Stores::kStreaming : Stores::kCached;
  std::vector<io::Buffer*> buffers = {&yardstick.to_, &yardstick.a_};
  if (kind == YardstickKind::kTriad) buffers.push_back(&yardstick.b_);
  for (io::Buffer* buffer : buffers) {
    Result<io::Buffer> filled = FilledBuffer(bytes / buffers.size());
    if (!filled.ok()) return filled.status();
    *buffer = std::move(*filled);
  }
  if (!streaming) {
    const Comparison comparison =
        Compare([&yardstick] { yardstick.RunOn(DefaultExecutor()); },
                [&yardstick] { yardstick.RunOn(InlineExecutor()); }, kTryPairs);
    yardstick.one_thread_ = comparison.fraction < 1;
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
