#include "bench/compare.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace ropewalk::bench {
namespace {

constexpr double kSampleNs = 1e6;  // far above the clock's own cost
constexpr double kMaxCalls = 1e5;

double TimeCalls(const std::function<void()>& call, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const std::chrono::duration<double, std::nano> time =
      std::chrono::steady_clock::now() - start;
  return time.count() / calls;
}

int CallsPerSample(const std::function<void()>& call) {
  call();
  const double ns = std::max(TimeCalls(call, 1), 1.0);
  return static_cast<int>(std::clamp(kSampleNs / ns, 1.0, kMaxCalls));
}

double Quantile(std::vector<double> values, double q) {
  const auto index = std::lround(q * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + index);
  return values[static_cast<size_t>(index)];
}

}  // namespace

Comparison Compare(const std::function<void()>& work,
                   const std::function<void()>& yardstick, int pairs) {
  const int work_calls = CallsPerSample(work);
  const int yardstick_calls = CallsPerSample(yardstick);
  std::vector<double> work_ns, yardstick_ns, fractions;
  for (int i = 0; i < pairs; ++i) {
    work_ns.push_back(TimeCalls(work, work_calls));
    yardstick_ns.push_back(TimeCalls(yardstick, yardstick_calls));
    fractions.push_back(yardstick_ns.back() / work_ns.back());
  }
  return {Quantile(work_ns, 0.5), Quantile(yardstick_ns, 0.5),
          Quantile(fractions, 0.5), Quantile(fractions, 0.1),
          Quantile(fractions, 0.9)};
}

}  // namespace ropewalk::bench
