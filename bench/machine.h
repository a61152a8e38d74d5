// What a result was measured on and made with.

#ifndef ROPEWALK_BENCH_MACHINE_H_
#define ROPEWALK_BENCH_MACHINE_H_

#include <cstddef>
#include <string>

#include "bench/caches.h"

namespace ropewalk::bench {

/// Text is "unknown" where the system does not say.
struct Machine {
  std::string cpu;     ///< "AMD EPYC 7B13"
  std::string system;  ///< "Linux 6.1.0"
  size_t cpus = 0;
  size_t memory_bytes = 0;
  Caches caches;
};

Machine ReadMachine();

/// Of this program: "GCC 12.2.0", and the commit it was built from, with
/// "-dirty" where files differed.
const char* Compiler();
const char* Commit();

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_MACHINE_H_
