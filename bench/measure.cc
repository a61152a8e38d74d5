#include "bench/measure.h"

#include <fmt/format.h>

namespace ropewalk::bench {

Result<Measurement> Measure(const std::function<Status()>& run, size_t bytes,
                            YardstickKind kind, int pairs) {
  Measurement measurement;
  measurement.bytes = bytes;
  Status status;
  const auto work = [&] { status = run(); };
  if (bytes == 0) {
    measurement.times = Compare(
        work, [] {}, pairs);
    return status.ok() ? Result<Measurement>(measurement) : status;
  }
  const Result<Yardstick> yardstick = Yardstick::Make(kind, bytes);
  if (!yardstick.ok()) return yardstick.status();
  measurement.yardstick = yardstick->name();
  measurement.times = Compare(
      work, [&] { yardstick->Run(); }, pairs);
  return status.ok() ? Result<Measurement>(measurement) : status;
}

std::string FractionText(const Measurement& measurement) {
  if (measurement.bytes == 0) return "";
  return fmt::format("{:.2f}", measurement.times.fraction);
}

std::string SpeedText(const Measurement& measurement) {
  if (measurement.bytes == 0) return "";
  return fmt::format("{:.1f}", measurement.gb_per_s());
}

}  // namespace ropewalk::bench
