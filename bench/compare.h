// Timing: a work and its yardstick, by turns, so that a machine whose speed
// drifts treats both alike.

#ifndef ROPEWALK_BENCH_COMPARE_H_
#define ROPEWALK_BENCH_COMPARE_H_

#include <functional>

namespace ropewalk::bench {

/// Nanoseconds of one call: medians. The fraction is yardstick / work, taken
/// pair by pair: its median, and what 10 % and 90 % of the pairs stay below.
struct Comparison {
  double ns = 0;
  double yardstick_ns = 0;
  double fraction = 0;
  double p10 = 0;
  double p90 = 0;
};

/// Calls both once to warm up, then times `pairs` pairs. Short calls are
/// repeated within a pair.
Comparison Compare(const std::function<void()>& work,
                   const std::function<void()>& yardstick, int pairs);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_COMPARE_H_
