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

/// Where a table row starts: cos and sin, or token `token` of the positions.
struct TableRow {
  const std::byte* cos;
  const std::byte* sin;
  const std::byte* positions;
};

/// Writes a tile of one table row, segment by segment, in the order of
/// `kernel`, to `table`.
void PrepareTableRow(const Plan::Impl& plan, const kernels::RowKernel& kernel,
                     const Addresses& addresses, const TableRow& row,
                     const ColumnTile& tile, std::byte* table);

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
