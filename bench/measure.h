// The speed of one work against its yardstick.

#ifndef ROPEWALK_BENCH_MEASURE_H_
#define ROPEWALK_BENCH_MEASURE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "bench/compare.h"
#include "bench/yardstick.h"
#include "io/buffer.h"
#include "ropewalk/status.h"

namespace ropewalk::bench {

struct Measurement {
  Comparison times;
  size_t bytes = 0;       ///< 0: none that would be worth a figure
  std::string yardstick;  ///< its name; empty: none, and no fraction

  bool compared() const { return !yardstick.empty(); }

  /// Bytes a nanosecond, of the work and of its yardstick.
  double gb_per_s() const {
    return static_cast<double>(bytes) / times.ns.median;
  }
  double yardstick_gb_per_s() const {
    return static_cast<double>(bytes) / times.yardstick_ns.median;
  }
};

/// What a work is compared with: a yardstick on such pages, or, where there is
/// one, a rival.
struct Against {
  YardstickKind yardstick = YardstickKind::kCopy;
  io::Pages pages = io::Pages::kSystem;
  std::function<Status()> rival = {};
};

/// Times `run`, which reads and writes `bytes`, in turns with a yardstick.
Result<Measurement> Measure(const std::function<Status()>& run, size_t bytes,
                            const Against& against, const Effort& effort);

/// "0.87", or nothing where nothing was compared.
std::string FractionText(const Measurement& measurement);

/// "23.4", or nothing where no bytes are counted.
std::string SpeedText(const Measurement& measurement);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_MEASURE_H_
