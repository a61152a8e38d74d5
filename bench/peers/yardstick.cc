// The copy and the triad of `ropewalk bench`, for the Python side.

#include <cstddef>

#include "bench/copy.h"
#include "ropewalk/executor.h"

namespace {

using ropewalk::bench::Stores;

Stores StoresOf(int streaming) {
  return streaming != 0 ? Stores::kStreaming : Stores::kCached;
}

}  // namespace

extern "C" {

/// `times` copies by the library's threads.
ROPEWALK_EXPORT void ropewalk_bench_copy(void* to, const void* from,
                                         size_t bytes, int streaming,
                                         size_t times) {
  for (size_t i = 0; i < times; ++i) {
    ropewalk::bench::Copy(to, from, bytes, StoresOf(streaming),
                          ropewalk::DefaultExecutor());
  }
}

/// Likewise to = a ^ b.
ROPEWALK_EXPORT void ropewalk_bench_triad(void* to, const void* a,
                                          const void* b, size_t bytes,
                                          int streaming, size_t times) {
  for (size_t i = 0; i < times; ++i) {
    ropewalk::bench::Triad(to, a, b, bytes, StoresOf(streaming),
                           ropewalk::DefaultExecutor());
  }
}
}
