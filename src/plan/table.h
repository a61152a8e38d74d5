// Rows of cos and sin in kernel order, wherever they come from: tensors of any
// strides, or rows of a cache chosen by positions and put together by sections.

#ifndef ROPEWALK_SRC_PLAN_TABLE_H_
#define ROPEWALK_SRC_PLAN_TABLE_H_

#include "plan/impl.h"

namespace ropewalk {

/// A piece of a row: pairs [first, first + pairs) of `segments` segments from
/// segment `segment` on.
struct ColumnTile {
  int64_t segment;
  int64_t segments;
  int64_t first;
  int64_t pairs;
};

/// Table rows at equal steps: of cos and sin, or tokens of the positions.
/// Steps count bytes.
struct RawTables {
  const std::byte *cos, *sin, *positions;
  int64_t cos_step, sin_step, positions_step;
  int64_t count;
};

/// Can a kernel read table rows as they lie?
bool TablesDirect(const Problem& problem);

/// What TableRows points to.
struct TableRoom {
  const std::byte* at[4 * kMostTableRows];  ///< cache rows, axis by axis
  uint8_t axis[kTilePairs];                 ///< of each pair
};

/// The rows for a kernel to prepare.
kernels::TableRows DirectTables(const Plan::Impl& plan,
                                const kernels::RowKernel& kernel,
                                const Addresses& addresses,
                                const RawTables& raw, const ColumnTile& tile,
                                TableRoom& room);

/// Writes a tile of each table row in the order of `kernel` to `table` and then
/// `table_step` bytes further.
void PrepareTables(const Plan::Impl& plan, const kernels::RowKernel& kernel,
                   const Addresses& addresses, const RawTables& raw,
                   const ColumnTile& tile, std::byte* table, size_t table_step);

/// The first position outside the cache, if any. -1: none. Sets what it is.
struct BadPosition {
  int64_t row;
  int64_t token;
  int64_t value;
};
bool FindBadPosition(const Problem& problem, const void* positions,
                     BadPosition* bad);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_TABLE_H_
