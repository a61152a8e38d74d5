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

// Tables without gaps, or rows of a cache.
kernels::TableShape DirectShape(const Plan::Impl& plan,
                                const ColumnTile& tile) {
  const Problem& p = plan.problem;
  const auto element = static_cast<int64_t>(plan.table_element);
  kernels::TableShape shape = {};
  shape.direction = p.direction;
  shape.pairs = static_cast<size_t>(tile.pairs);
  shape.segments = static_cast<size_t>(tile.segments);
  if (p.half_width || p.cached) {
    shape.segment = plan.pairs * element;
    return shape;
  }
  shape.joined = Info(p.pairing).y_joined;
  shape.second = plan.pairs * element;
  shape.segment = 2 * plan.pairs * element;
  return shape;
}

// One segment at a time, gathered.
kernels::TableShape GatheredShape(const Plan::Impl& plan,
                                  const ColumnTile& tile) {
  kernels::TableShape shape = {};
  shape.direction = plan.problem.direction;
  shape.pairs = static_cast<size_t>(tile.pairs);
  shape.segments = 1;
  if (!plan.problem.half_width && !plan.problem.cached) {
    shape.second = sizeof(Gathered::values[0]);
  }
  return shape;
}

// One segment of a row of strided tables.
void GatherTables(const Plan::Impl& plan, const std::byte* cos,
                  const std::byte* sin, const ColumnTile& tile, int64_t segment,
                  Gathered& gathered) {
  const Problem& p = plan.problem;
  const bool joined = Info(p.pairing).y_joined && !p.half_width;
  const std::byte* bases[2] = {cos, sin};
  const Slot slots[2] = {kCos, kSin};
  for (int t = 0; t < 2; ++t) {
    const TensorDesc& desc = p.desc[slots[t]];
    const int64_t stride =
        desc.strides[desc.rank - 1] * static_cast<int64_t>(plan.table_element);
    for (int second = 0; second < (p.half_width ? 1 : 2); ++second) {
      const int64_t column =
          TableColumn(plan, segment, tile.first, second != 0);
      Gather(plan.table_element, bases[t] + column * stride,
             joined ? 2 * stride : stride, tile.pairs,
             gathered.values[2 * t + second]);
    }
  }
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

// Where the cache row of a position is.
const std::byte* CacheRow(const Plan::Impl& plan, const std::byte* cache,
                          const std::byte* position) {
  const Problem& p = plan.problem;
  return cache + ReadPosition(p.desc[kPositions].dtype, position) *
                     p.desc[kCache].strides[0] *
                     static_cast<int64_t>(plan.table_element);
}

// A row put together by sections, or from a cache with strided columns.
void GatherCache(const Plan::Impl& plan, const std::byte* cache,
                 const std::byte* token, const ColumnTile& tile,
                 Gathered& gathered) {
  const Problem& p = plan.problem;
  const TensorDesc& positions = p.desc[kPositions];
  const auto position_size = static_cast<int64_t>(DtypeSize(positions.dtype));
  const std::byte* rows[4] = {};
  for (int i = 0; i < std::max(p.sections, 1); ++i) {
    const int64_t offset =
        p.sections == 0 ? 0 : i * positions.strides[0] * position_size;
    rows[i] = CacheRow(plan, cache, token + offset);
  }
  for (int half = 0; half < 2; ++half) {
    if (p.sections != 0) {
      AssembleSections(plan, rows, half, tile.first, tile.pairs,
                       gathered.values[2 * half]);
    } else {
      CopyColumns(plan, rows[0], half * plan.pairs + tile.first, tile.pairs,
                  gathered.values[2 * half]);
    }
  }
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

bool TablesDirect(const Problem& p) {
  if (p.cached) return p.sections == 0 && p.desc[kCache].strides[1] == 1;
  const TensorDesc& cos = p.desc[kCos];
  const TensorDesc& sin = p.desc[kSin];
  return cos.strides[cos.rank - 1] == 1 && sin.strides[sin.rank - 1] == 1;
}

kernels::TableRows DirectTables(const Plan::Impl& plan,
                                const kernels::RowKernel& kernel,
                                const Addresses& addresses,
                                const RawTables& raw, const ColumnTile& tile,
                                const std::byte** at) {
  const auto element = static_cast<int64_t>(plan.table_element);
  kernels::TableRows rows = {};
  rows.prepare = kernel.table[static_cast<size_t>(plan.table_dtype)];
  rows.shape = DirectShape(plan, tile);
  if (!plan.problem.cached) {
    const int64_t offset =
        TableColumn(plan, tile.segment, tile.first, false) * element;
    rows.cos = raw.cos + offset;
    rows.sin = raw.sin + offset;
    rows.cos_step = raw.cos_step;
    rows.sin_step = raw.sin_step;
    return rows;
  }
  for (int64_t i = 0; i < raw.count; ++i) {
    at[i] = CacheRow(plan, addresses.at[kCache],
                     raw.positions + i * raw.positions_step) +
            tile.first * element;
  }
  rows.at = at;
  rows.cos = at[0];
  rows.sin = at[0] + plan.pairs * element;
  return rows;
}

void PrepareTables(const Plan::Impl& plan, const kernels::RowKernel& kernel,
                   const Addresses& addresses, const RawTables& raw,
                   const ColumnTile& tile, std::byte* table,
                   size_t table_step) {
  const Problem& p = plan.problem;
  if (TablesDirect(p)) {
    const std::byte* at[kMostTableRows] = {};
    const kernels::TableRows rows =
        DirectTables(plan, kernel, addresses, raw, tile, at);
    for (int64_t i = 0; i < raw.count; ++i, table += table_step) {
      const std::byte* cos = p.cached ? at[i] : rows.cos + i * rows.cos_step;
      const std::byte* sin = p.cached ? at[i] + (rows.sin - rows.cos)
                                      : rows.sin + i * rows.sin_step;
      rows.prepare(rows.shape, cos, sin, table);
    }
    return;
  }
  const auto prepare = kernel.table[static_cast<size_t>(plan.table_dtype)];
  const kernels::TableShape shape = GatheredShape(plan, tile);
  const size_t segment_bytes =
      kernel.SegmentNumbers(static_cast<size_t>(tile.pairs)) * plan.compute;
  Gathered gathered;
  for (int64_t i = 0; i < raw.count; ++i, table += table_step) {
    for (int64_t s = 0; s < tile.segments; ++s) {
      if (p.cached) {
        GatherCache(plan, addresses.at[kCache],
                    raw.positions + i * raw.positions_step, tile, gathered);
      } else {
        GatherTables(plan, raw.cos + i * raw.cos_step,
                     raw.sin + i * raw.sin_step, tile, tile.segment + s,
                     gathered);
      }
      prepare(shape, gathered.values[0], gathered.values[2],
              table + static_cast<size_t>(s) * segment_bytes);
    }
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
