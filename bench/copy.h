// Plain moves of memory by an executor's threads: what the speed of operators
// is measured against.

#ifndef ROPEWALK_BENCH_COPY_H_
#define ROPEWALK_BENCH_COPY_H_

#include <cstddef>
#include <cstdint>

#include "ropewalk/executor.h"

namespace ropewalk::bench {

/// Which stores write the result.
enum class Stores : uint8_t {
  kCached,     ///< ordinary ones; a copy is memcpy
  kStreaming,  ///< non-temporal: around the caches
};

/// to = from. Each of the executor's threads moves one contiguous range. `to`
/// is at a 64-byte boundary.
void Copy(void* to, const void* from, size_t bytes, Stores stores,
          Executor& executor);

/// to = a ^ b, in the same way: two reads and a write.
void Triad(void* to, const void* a, const void* b, size_t bytes, Stores stores,
           Executor& executor);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_COPY_H_
