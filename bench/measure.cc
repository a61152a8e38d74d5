#include "bench/measure.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace ropewalk::bench {

namespace {

Result<Measurement> MeasureAgainst(const std::function<Status()>& run,
                                   const std::function<Status()>& other,
                                   const Effort& effort) {
  Measurement measurement;
  Status status, other_status;
  measurement.times =
      Compare([&] { status = run(); }, [&] { other_status = other(); }, effort);
  if (!status.ok()) return status;
  if (!other_status.ok()) return other_status;
  return measurement;
}

}  // namespace

Result<Measurement> Measure(const std::function<Status()>& run, size_t bytes,
                            const Against& against, const Effort& effort) {
  std::function<Status()> other = [] { return Status(); };
  std::string name;
  if (against.rival != nullptr) {
    other = against.rival;
    name = "rope";
  } else if (bytes != 0 && against.yardstick != YardstickKind::kNone) {
    Result<Yardstick> made =
        Yardstick::Make(against.yardstick, bytes, against.pages);
    if (!made.ok()) return made.status();
    name = made->name();
    const auto yardstick = std::make_shared<Yardstick>(std::move(*made));
    other = [yardstick] {
      yardstick->Run();
      return Status();
    };
  }
  Result<Measurement> measurement = MeasureAgainst(run, other, effort);
  if (!measurement.ok()) return measurement;
  measurement->bytes = bytes;
  measurement->yardstick = name;
  return measurement;
}

std::string FractionText(const Measurement& measurement) {
  if (!measurement.compared()) return "";
  return fmt::format("{:.2f}", measurement.times.fraction.median);
}

std::string SpeedText(const Measurement& measurement) {
  if (measurement.bytes == 0) return "";
  return fmt::format("{:.1f}", measurement.gb_per_s());
}

}  // namespace ropewalk::bench
