// Sizes of the CPU's data caches.

#ifndef ROPEWALK_BENCH_CACHES_H_
#define ROPEWALK_BENCH_CACHES_H_

#include <cstddef>

namespace ropewalk::bench {

/// Bytes, of the first CPU; 0 where there is none, or it is not known.
struct Caches {
  size_t l1d = 0;
  size_t l2 = 0;
  size_t l3 = 0;

  size_t last_level() const { return l3 != 0 ? l3 : l2; }
};

/// Reads them from the system.
Caches ReadCaches();

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_CACHES_H_
