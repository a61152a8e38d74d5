// Runs of rows of one operand: straight to the kernel, or through buffers where
// columns are strided or the operand is interleave-half in place.

#ifndef ROPEWALK_SRC_PLAN_ROWS_H_
#define ROPEWALK_SRC_PLAN_ROWS_H_

#include "plan/impl.h"
#include "plan/table.h"

namespace ropewalk {

/// How an operand runs, decided when the addresses are known.
struct RowMode {
  kernels::StoreKind store = kernels::StoreKind::kPlain;
  bool in_place = false;
  /// Interleave-half in place: a row is copied before it is overwritten.
  bool buffered = false;
  std::byte* row_buffer = nullptr;  ///< in workspace; null: on the stack
};

/// Rows at equal steps, and the tables and sums that go with them: what a
/// kernel takes, but that in, x and out are the rows' first columns, before the
/// slice, and that the parts are not set.
using RowRun = kernels::GradientArgs;

/// A run with what it has from operand and tile; no rows yet.
inline RowRun EmptyRun(const OperandPlan& op, const ColumnTile& tile) {
  RowRun run = {};
  run.row.shared_inside = op.shared_inside;
  run.row.pairs = static_cast<size_t>(tile.pairs);
  run.row.segments = static_cast<size_t>(tile.segments);
  run.line = static_cast<size_t>(op.line);
  return run;
}

/// Rotates, and adds products, for a column tile of the rows. `run` is used up:
/// a copy of what was just written would have to wait for the writes.
void RunRows(const Plan::Impl& plan, const OperandPlan& op, const RowMode& mode,
             const ColumnTile& tile, RowRun& run, bool rotate, bool sums);

/// Copies the columns outside the slice.
void CopyRest(const Plan::Impl& plan, const OperandPlan& op, const RowRun& all);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_ROWS_H_
