#include "bench/compare.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace ropewalk::bench {
namespace {

constexpr double kSampleNs = 1e6;  // far above the clock's own cost
constexpr double kMaxCalls = 1e5;

using Clock = std::chrono::steady_clock;

double NsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double TimeCalls(const std::function<void()>& call, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return NsSince(start) / calls;
}

int CallsPerSample(const std::function<void()>& call) {
  call();
  const double ns = std::max(TimeCalls(call, 1), 1.0);
  return static_cast<int>(std::clamp(kSampleNs / ns, 1.0, kMaxCalls));
}

Quantiles QuantilesOf(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&values](double q) {
    const auto index = std::lround(q * static_cast<double>(values.size() - 1));
    return values[static_cast<size_t>(index)];
  };
  return {at(0.1), at(0.5), at(0.9)};
}

}  // namespace

Comparison Compare(const std::function<void()>& work,
                   const std::function<void()>& yardstick,
                   const Effort& effort) {
  const auto start = Clock::now();
  const int work_calls = CallsPerSample(work);
  const int yardstick_calls = CallsPerSample(yardstick);
  std::vector<double> work_ns, yardstick_ns, fractions;
  for (int i = 0; i < effort.pairs; ++i) {
    if (i >= effort.least_pairs && NsSince(start) > effort.ns) break;
    work_ns.push_back(TimeCalls(work, work_calls));
    yardstick_ns.push_back(TimeCalls(yardstick, yardstick_calls));
    fractions.push_back(yardstick_ns.back() / work_ns.back());
  }
  return {QuantilesOf(work_ns), QuantilesOf(yardstick_ns),
          QuantilesOf(fractions), static_cast<int>(fractions.size())};
}

}  // namespace ropewalk::bench
