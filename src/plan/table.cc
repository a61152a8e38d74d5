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

// Which position row each pair of [first, first + pairs) takes its angle from.
void FillAxes(const Problem& p, int64_t first, int64_t pairs, uint8_t* axis) {
  if (p.axes == AxisLayout::kInterleaved) {
    for (int64_t i = first; i < first + pairs; ++i) {
      const auto third = static_cast<uint8_t>(i % 3);
      *axis++ = third != 0 && i / 3 < p.section[third] ? third : uint8_t{0};
    }
    return;
  }
  int64_t begin = 0;
  for (int k = 0; k < p.sections; ++k) {
    const int64_t from = std::max(begin, first);
    begin += p.section[k];
    const int64_t to = std::min(begin, first + pairs);
    if (from < to) {
      memset(axis + (from - first), k, static_cast<size_t>(to - from));
    }
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

// The cache rows of a token, one for each axis; how many.
int CacheRows(const Plan::Impl& plan, const std::byte* cache,
              const std::byte* token, const std::byte** rows) {
  const TensorDesc& positions = plan.problem.desc[kPositions];
  const int axes = std::max(plan.problem.sections, 1);
  const int64_t list =
      axes == 1 ? 0
                : positions.strides[0] *
                      static_cast<int64_t>(DtypeSize(positions.dtype));
  for (int i = 0; i < axes; ++i) {
    rows[i] = CacheRow(plan, cache, token + i * list);
  }
  return axes;
}

// A row of a cache with strided columns.
void GatherCache(const Plan::Impl& plan, const std::byte* const* rows,
                 const uint8_t* axis, const ColumnTile& tile,
                 Gathered& gathered) {
  const auto size = static_cast<int64_t>(plan.table_element);
  const int64_t stride = plan.problem.desc[kCache].strides[1] * size;
  for (int half = 0; half < 2; ++half) {
    const int64_t offset = (half * plan.pairs + tile.first) * stride;
    std::byte* to = gathered.values[2 * half];
    if (plan.problem.sections == 0) {
      Gather(plan.table_element, rows[0] + offset, stride, tile.pairs, to);
      continue;
    }
    for (int64_t i = 0; i < tile.pairs; ++i) {
      memcpy(to + i * size, rows[axis[i]] + offset + i * stride,
             plan.table_element);
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
  if (p.cached) return p.desc[kCache].strides[1] == 1;
  const TensorDesc& cos = p.desc[kCos];
  const TensorDesc& sin = p.desc[kSin];
  return cos.strides[cos.rank - 1] == 1 && sin.strides[sin.rank - 1] == 1;
}

kernels::TableRows DirectTables(const Plan::Impl& plan,
                                const kernels::RowKernel& kernel,
                                const Addresses& addresses,
                                const RawTables& raw, const ColumnTile& tile,
                                TableRoom& room) {
  const auto element = static_cast<int64_t>(plan.table_element);
  const auto dtype = static_cast<size_t>(plan.table_dtype);
  kernels::TableRows rows = {};
  rows.prepare = kernel.table[dtype];
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
  const std::byte* cache = addresses.at[kCache] + tile.first * element;
  const std::byte** at = room.at;
  for (int64_t i = 0; i < raw.count; ++i) {
    at += CacheRows(plan, cache, raw.positions + i * raw.positions_step, at);
  }
  rows.at = room.at;
  rows.cos = room.at[0];
  rows.sin = room.at[0] + plan.pairs * element;
  if (plan.problem.sections != 0) {
    FillAxes(plan.problem, tile.first, tile.pairs, room.axis);
    rows.prepare_axes = kernel.axes[dtype];
    rows.shape.axes = plan.problem.sections;
    rows.shape.axis = room.axis;
  }
  return rows;
}

namespace {

// Rows that can be read as they lie.
void PrepareDirect(const kernels::TableRows& rows, int64_t count,
                   std::byte* table, size_t table_step) {
  const ptrdiff_t sin = rows.sin - rows.cos;
  for (int64_t i = 0; i < count; ++i, table += table_step) {
    if (rows.shape.axes != 0) {
      rows.prepare_axes(rows.shape, rows.at + i * rows.shape.axes, sin, table);
    } else if (rows.at != nullptr) {
      rows.prepare(rows.shape, rows.at[i], rows.at[i] + sin, table);
    } else {
      rows.prepare(rows.shape, rows.cos + i * rows.cos_step,
                   rows.sin + i * rows.sin_step, table);
    }
  }
}

}  // namespace

void PrepareTables(const Plan::Impl& plan, const kernels::RowKernel& kernel,
                   const Addresses& addresses, const RawTables& raw,
                   const ColumnTile& tile, std::byte* table,
                   size_t table_step) {
  const Problem& p = plan.problem;
  TableRoom room = {};
  if (TablesDirect(p)) {
    PrepareDirect(DirectTables(plan, kernel, addresses, raw, tile, room),
                  raw.count, table, table_step);
    return;
  }
  if (p.sections != 0) FillAxes(p, tile.first, tile.pairs, room.axis);
  const auto prepare = kernel.table[static_cast<size_t>(plan.table_dtype)];
  const kernels::TableShape shape = GatheredShape(plan, tile);
  const size_t segment_bytes =
      kernel.SegmentNumbers(static_cast<size_t>(tile.pairs)) * plan.compute;
  Gathered gathered;
  for (int64_t i = 0; i < raw.count; ++i, table += table_step) {
    for (int64_t s = 0; s < tile.segments; ++s) {
      if (p.cached) {
        CacheRows(plan, addresses.at[kCache],
                  raw.positions + i * raw.positions_step, room.at);
        GatherCache(plan, room.at, room.axis, tile, gathered);
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
