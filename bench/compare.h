// Timing: a work and its yardstick, by turns, so that a machine whose speed
// drifts treats both alike.

#ifndef ROPEWALK_BENCH_COMPARE_H_
#define ROPEWALK_BENCH_COMPARE_H_

#include <functional>

namespace ropewalk::bench {

/// What 10, 50 and 90 % of some numbers stay below.
struct Quantiles {
  double p10 = 0;
  double median = 0;
  double p90 = 0;
};

/// Nanoseconds of one call, and yardstick / work, taken pair by pair.
struct Comparison {
  Quantiles ns;
  Quantiles yardstick_ns;
  Quantiles fraction;
  int pairs = 0;
};

/// How long to measure: `pairs`, or fewer, but not below `least_pairs`, once
/// `ns` are over.
struct Effort {
  int pairs = 21;
  int least_pairs = 7;
  double ns = 1e9;
};

/// Calls both once to warm up, then times pairs. Short calls are repeated
/// within a pair.
Comparison Compare(const std::function<void()>& work,
                   const std::function<void()>& yardstick,
                   const Effort& effort);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_COMPARE_H_
