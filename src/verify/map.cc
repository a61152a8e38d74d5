#include "verify/map.h"

#include <algorithm>
#include <cmath>

namespace ropewalk::verify {
namespace {

constexpr int64_t kPositionBins = 96;
constexpr int64_t kColumnBins = 128;
constexpr int64_t kHeadBins = 64;

size_t Bin(int64_t index, int64_t count, size_t bins) {
  return static_cast<size_t>(static_cast<double>(index) /
                             static_cast<double>(count) *
                             static_cast<double>(bins));
}

size_t HistogramBin(double ulp) {
  if (ulp == 0) return 0;
  if (!(ulp <= std::ldexp(1.0, ErrorMap::kHighest))) {
    return 2 + (ErrorMap::kHighest - ErrorMap::kLowest) / ErrorMap::kStep;
  }
  const double exponent = std::ceil(std::log2(ulp));
  const double step =
      std::ceil((exponent - ErrorMap::kLowest) / ErrorMap::kStep);
  return 1 + static_cast<size_t>(std::max(step, 0.0));
}

}  // namespace

ErrorMap MakeMap(int64_t positions, int64_t columns, int64_t heads) {
  ErrorMap map;
  map.positions = positions;
  map.columns = columns;
  map.heads = heads;
  map.position_bins = static_cast<size_t>(std::min(positions, kPositionBins));
  map.column_bins = static_cast<size_t>(std::min(columns, kColumnBins));
  map.head_bins = static_cast<size_t>(std::min(heads, kHeadBins));
  map.by_position_and_column.assign(map.position_bins * map.column_bins, 0);
  map.by_head.assign(map.head_bins, 0);
  map.histogram.assign(
      3 + (ErrorMap::kHighest - ErrorMap::kLowest) / ErrorMap::kStep, 0);
  return map;
}

void AddToMap(int64_t position, int64_t head, const double* ulp,
              ErrorMap* map) {
  double largest = 0;
  double* row =
      map->by_position_and_column.data() +
      Bin(position, map->positions, map->position_bins) * map->column_bins;
  for (int64_t c = 0; c < map->columns; ++c) {
    double& cell = row[Bin(c, map->columns, map->column_bins)];
    cell = std::max(cell, ulp[c]);
    largest = std::max(largest, ulp[c]);
    ++map->histogram[HistogramBin(ulp[c])];
  }
  double& bar = map->by_head[Bin(head, map->heads, map->head_bins)];
  bar = std::max(bar, largest);
}

void MergeMap(const ErrorMap& from, ErrorMap* map) {
  const auto merge = [](const auto& a, auto& b, const auto& how) {
    for (size_t i = 0; i < a.size(); ++i) b[i] = how(a[i], b[i]);
  };
  const auto max = [](double a, double b) { return std::max(a, b); };
  merge(from.by_position_and_column, map->by_position_and_column, max);
  merge(from.by_head, map->by_head, max);
  merge(from.histogram, map->histogram,
        [](int64_t a, int64_t b) { return a + b; });
}

}  // namespace ropewalk::verify
