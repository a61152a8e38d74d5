#include "plan/table.h"

#include <algorithm>
#include <cstring>

#include "core/dtype.h"

namespace ropewalk {
namespace {

int64_t ReadPosition(Dtype dtype, const std::byte* p) {
  if (dtype == Dtype::kI64) {
    int64_t value;
    memcpy(&value, p, sizeof(value));
    return value;
  }
  int32_t value;
  memcpy(&value, p, sizeof(value));
  return value;
}

// Copies `count` elements that lie `stride` bytes apart.
template <class Bits>
void GatherAs(const std::byte* from, int64_t stride, int64_t count,
              std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    memcpy(to + i * sizeof(Bits), from + i * stride, sizeof(Bits));
  }
}

void Gather(size_t element, const std::byte* from, int64_t stride,
            int64_t count, std::byte* to) {
  if (element == 2) {
    GatherAs<uint16_t>(from, stride, count, to);
  } else if (element == 4) {
    GatherAs<uint32_t>(from, stride, count, to);
  } else {
    GatherAs<uint64_t>(from, stride, count, to);
  }
}

// cos_a, cos_b, sin_a, sin_b of a column tile where they are not side by side.
struct Gathered {
  alignas(64) std::byte values[4][kTilePairs * sizeof(double)];
};

// Address of the table value of a pair's first (or second) element.
int64_t TableColumn(const Plan::Impl& plan, int64_t segment, int64_t pair,
                    bool second) {
  if (plan.problem.half_width) return segment * plan.pairs + pair;
  const int64_t start = segment * 2 * plan.pairs;
  if (Info(plan.problem.pairing).y_joined) {
    return start + 2 * pair + (second ? 1 : 0);
  }
  return start + pair + (second ? plan.pairs : 0);
}

kernels::TableArgs FromTensors(const Plan::Impl& plan, const TableRow& row,
                               int64_t segment, int64_t first, int64_t pairs,
                               Gathered& gathered) {
  const Problem& p = plan.problem;
  const bool joined = Info(p.pairing).y_joined && !p.half_width;
  const std::byte* bases[2] = {row.cos, row.sin};
  const Slot slots[2] = {kCos, kSin};
  const std::byte* at[4];
  bool any_strided = false;
  for (const Slot slot : slots) {
    const TensorDesc& desc = p.desc[slot];
    any_strided = any_strided || desc.strides[desc.rank - 1] != 1;
  }
  for (int t = 0; t < 2; ++t) {
    const TensorDesc& desc = p.desc[slots[t]];
    const int64_t stride =
        desc.strides[desc.rank - 1] * static_cast<int64_t>(plan.table_element);
    for (int second = 0; second < 2; ++second) {
      const std::byte* from =
          bases[t] + TableColumn(plan, segment, first, second != 0) * stride;
      const int i = 2 * t + second;
      at[i] = from;
      if (any_strided) {
        Gather(plan.table_element, from, joined ? 2 * stride : stride, pairs,
               gathered.values[i]);
        at[i] = gathered.values[i];
      }
    }
  }
  return {at[0],
          at[1],
          at[2],
          at[3],
          joined && !any_strided,
          p.direction,
          static_cast<size_t>(pairs),
          nullptr};
}

// Which position row pair i takes its angle from.
int SectionOf(const Problem& p, int64_t i) {
  if (p.axes == AxisLayout::kInterleaved) {
    const auto axis = static_cast<int>(i % 3);
    return axis != 0 && i / 3 < p.section[axis] ? axis : 0;
  }
  int axis = 0;
  for (int64_t end = p.section[0]; i >= end; end += p.section[axis]) ++axis;
  return axis;
}

// Overwrites the pairs of [first, first + pairs) that belong to `axis` when the
// axes are interleaved: every third, from `axis` on.
template <class Bits>
void OverwriteThirds(const Problem& p, int axis, int64_t first, int64_t pairs,
                     const std::byte* from, std::byte* to) {
  const int64_t end = std::min(3 * p.section[axis], first + pairs);
  int64_t i = first + (axis - first % 3 + 3) % 3;
  for (; i < end; i += 3) {
    memcpy(to + (i - first) * sizeof(Bits), from + i * sizeof(Bits),
           sizeof(Bits));
  }
}

// Copies the columns [column, column + pairs) of a cache row's half.
void CopyColumns(const Plan::Impl& plan, const std::byte* row, int64_t column,
                 int64_t pairs, std::byte* to) {
  const TensorDesc& cache = plan.problem.desc[kCache];
  const auto element = static_cast<int64_t>(plan.table_element);
  const int64_t stride = cache.strides[1] * element;
  if (cache.strides[1] == 1) {
    memcpy(to, row + column * element, static_cast<size_t>(pairs * element));
  } else {
    Gather(plan.table_element, row + column * stride, stride, pairs, to);
  }
}

// One half (cos or sin) of the angles of a token with sections.
void AssembleSections(const Plan::Impl& plan, const std::byte* const* rows,
                      int64_t half, int64_t first, int64_t pairs,
                      std::byte* to) {
  const Problem& p = plan.problem;
  const auto element = static_cast<int64_t>(plan.table_element);
  const int64_t offset = half * plan.pairs;
  const bool thirds =
      p.axes == AxisLayout::kInterleaved && p.desc[kCache].strides[1] == 1;
  if (thirds) {
    CopyColumns(plan, rows[0], offset + first, pairs, to);
    for (int axis = 1; axis < 3; ++axis) {
      const std::byte* from = rows[axis] + offset * element;
      if (element == 2) {
        OverwriteThirds<uint16_t>(p, axis, first, pairs, from, to);
      } else if (element == 4) {
        OverwriteThirds<uint32_t>(p, axis, first, pairs, from, to);
      } else {
        OverwriteThirds<uint64_t>(p, axis, first, pairs, from, to);
      }
    }
    return;
  }
  for (int64_t i = first; i < first + pairs;) {
    const int axis = SectionOf(p, i);
    int64_t run = 1;
    while (i + run < first + pairs && SectionOf(p, i + run) == axis) ++run;
    CopyColumns(plan, rows[axis], offset + i, run, to + (i - first) * element);
    i += run;
  }
}

kernels::TableArgs FromCache(const Plan::Impl& plan, const std::byte* cache,
                             const TableRow& row, int64_t first, int64_t pairs,
                             Gathered& gathered) {
  const Problem& p = plan.problem;
  const auto element = static_cast<int64_t>(plan.table_element);
  const TensorDesc& positions = p.desc[kPositions];
  const auto position_size = static_cast<int64_t>(DtypeSize(positions.dtype));
  const std::byte* rows[4] = {};
  for (int i = 0; i < std::max(p.sections, 1); ++i) {
    const int64_t offset =
        p.sections == 0 ? 0 : i * positions.strides[0] * position_size;
    rows[i] = cache + ReadPosition(positions.dtype, row.positions + offset) *
                          p.desc[kCache].strides[0] * element;
  }
  const std::byte* cos = rows[0] + first * element;
  const std::byte* sin = cos + plan.pairs * element;
  if (p.sections != 0 || p.desc[kCache].strides[1] != 1) {
    cos = gathered.values[0];
    sin = gathered.values[2];
    for (int half = 0; half < 2; ++half) {
      if (p.sections != 0) {
        AssembleSections(plan, rows, half, first, pairs,
                         gathered.values[2 * half]);
      } else {
        CopyColumns(plan, rows[0], half * plan.pairs + first, pairs,
                    gathered.values[2 * half]);
      }
    }
  }
  return {cos,    cos, sin, sin, false, p.direction, static_cast<size_t>(pairs),
          nullptr};
}

template <class T>
bool FindBad(const Problem& p, const std::byte* data, BadPosition* bad) {
  const TensorDesc& desc = p.desc[kPositions];
  const auto rows = static_cast<uint64_t>(p.desc[kCache].shape[0]);
  const int64_t lists = desc.rank == 2 ? desc.shape[0] : 1;
  const int64_t tokens = desc.shape[desc.rank - 1];
  const int64_t step = desc.strides[desc.rank - 1];
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  if (tokens == 0) return false;
  for (int64_t list = 0; list < lists; ++list) {
    const std::byte* from =
        data + (desc.rank == 2 ? list * desc.strides[0] * kSize : 0);
    for (int64_t i = 0; i < tokens; ++i) {
      T value;
      memcpy(&value, from + i * step * kSize, sizeof(value));
      if (static_cast<uint64_t>(int64_t{value}) < rows) continue;
      *bad = {list, i, value};
      return true;
    }
  }
  return false;
}

}  // namespace

void PrepareTableRow(const Plan::Impl& plan, const kernels::RowKernel& kernel,
                     const Addresses& addresses, const TableRow& row,
                     const ColumnTile& tile, std::byte* table) {
  const auto prepare = kernel.table[static_cast<size_t>(plan.table_dtype)];
  const size_t numbers = kernel.SegmentNumbers(static_cast<size_t>(tile.pairs));
  Gathered gathered;
  for (int64_t s = tile.segment; s < tile.segment + tile.segments; ++s) {
    kernels::TableArgs args =
        plan.problem.cached
            ? FromCache(plan, addresses.at[kCache], row, tile.first, tile.pairs,
                        gathered)
            : FromTensors(plan, row, s, tile.first, tile.pairs, gathered);
    args.table = table;
    prepare(args);
    table += numbers * plan.compute;
  }
}

bool FindBadPosition(const Problem& problem, const void* positions,
                     BadPosition* bad) {
  const auto* data = static_cast<const std::byte*>(positions);
  return problem.desc[kPositions].dtype == Dtype::kI64
             ? FindBad<int64_t>(problem, data, bad)
             : FindBad<int32_t>(problem, data, bad);
}

}  // namespace ropewalk
