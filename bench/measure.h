// The speed of one work against its yardstick.

#ifndef ROPEWALK_BENCH_MEASURE_H_
#define ROPEWALK_BENCH_MEASURE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "bench/compare.h"
#include "bench/yardstick.h"
#include "ropewalk/status.h"

namespace ropewalk::bench {

struct Measurement {
  Comparison times;
  size_t bytes = 0;       ///< 0: there is no yardstick, and no fraction
  std::string yardstick;  ///< its name

  /// Bytes a nanosecond, of the work and of its yardstick.
  double gb_per_s() const { return static_cast<double>(bytes) / times.ns; }
  double yardstick_gb_per_s() const {
    return static_cast<double>(bytes) / times.yardstick_ns;
  }
};

/// Times `run`, which reads and writes `bytes`, in turns with a yardstick.
Result<Measurement> Measure(const std::function<Status()>& run, size_t bytes,
                            YardstickKind kind, int pairs);

/// "0.87", or nothing where there is no yardstick.
std::string FractionText(const Measurement& measurement);

/// "23.4", likewise.
std::string SpeedText(const Measurement& measurement);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_MEASURE_H_
