// From a row of the list of works to something that runs.

#ifndef ROPEWALK_BENCH_PREPARE_H_
#define ROPEWALK_BENCH_PREPARE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "bench/works.h"
#include "bench/yardstick.h"
#include "io/buffer.h"
#include "ropewalk/status.h"

namespace ropewalk::bench {

/// A work with its memory and its plan.
struct Prepared {
  std::function<Status()> run;
  /// LeastBytes(); 0 if there is nothing to compare.
  size_t bytes = 0;
  YardstickKind yardstick = YardstickKind::kCopy;
  /// Compared with this instead, if there is one.
  std::function<Status()> rival;
  std::string shape;     ///< "1x2048x32x128"
  std::string describe;  ///< what the plan says of itself
};

/// The plan is made for the number of threads of now.
Result<Prepared> Prepare(const Work& work,
                         io::Pages pages = io::Pages::kSystem);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_PREPARE_H_
