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

/// Groups of rows at equal steps, and the tables and sums that go with them:
/// see RowArgs and GradientArgs.
struct RowRun {
  const std::byte* in;
  const std::byte* x;
  std::byte* out;
  int64_t in_step, x_step, out_step;     ///< from row to row
  int64_t in_group, x_group, out_group;  ///< from group to group
  int64_t rows, groups;
  std::byte* table;
  size_t table_step, table_group;
  const kernels::TableRows* tables;
  std::byte* block;
  double* sums;
  size_t block_step, block_group;
  size_t sums_step, sums_group;
  unsigned phase, phase_step, phase_group;
  const std::byte *next_in, *next_x;  ///< of the run that follows, or null
};

/// Rotates, and adds products, for a column tile of the rows.
void RunRows(const Plan::Impl& plan, const OperandPlan& op, const RowMode& mode,
             const ColumnTile& tile, const RowRun& all, bool rotate, bool sums);

/// Copies the columns outside the slice.
void CopyRest(const Plan::Impl& plan, const OperandPlan& op, const RowRun& run);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_ROWS_H_
