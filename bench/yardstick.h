// The copy or triad that an operator's time is compared with.

#ifndef ROPEWALK_BENCH_YARDSTICK_H_
#define ROPEWALK_BENCH_YARDSTICK_H_

#include <cstddef>
#include <cstdint>

#include "bench/block.h"
#include "bench/copy.h"
#include "io/buffer.h"
#include "ropewalk/status.h"

namespace ropewalk::bench {

enum class YardstickKind : uint8_t {
  kCopy,   ///< one read, one write
  kTriad,  ///< two reads, one write
  kNone,   ///< no comparison
};

/// Moves a number of bytes, with memory of its own. Stores are non-temporal
/// from the size of the last-level cache up, ordinary below. It runs on the
/// threads of the default executor, or on one where that is faster.
class Yardstick {
 public:
  /// `bytes`: read and written together.
  static Result<Yardstick> Make(YardstickKind kind, size_t bytes,
                                io::Pages pages = io::Pages::kSystem);

  void Run() const;

  /// "copy (streaming)", "copy (memcpy)", ...
  const char* name() const;

 private:
  void RunOn(Executor& executor) const;

  YardstickKind kind_ = YardstickKind::kCopy;
  Stores stores_ = Stores::kCached;
  bool one_thread_ = false;
  Block to_, a_, b_;
};

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_YARDSTICK_H_
