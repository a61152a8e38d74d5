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

/// Rows at equal steps, and the tables and sums that go with them: see RowArgs
/// and GradientArgs.
struct RowRun {
  const std::byte* in;
  const std::byte* x;
  std::byte* out;
  int64_t in_kept, x_kept, out_kept;
  int64_t in_shared, x_shared, out_shared;
  int64_t kept, shared;
  std::byte* table;
  size_t table_step;
  const kernels::TableRows* tables;
  double* sums;
  size_t sums_step;
  bool fresh;
  const kernels::SumsRows* finish;
  int64_t in_line;
  const std::byte *next_in, *next_x;  ///< of the run that follows, or null
};

/// Rotates, and adds products, for a column tile of the rows.
void RunRows(const Plan::Impl& plan, const OperandPlan& op, const RowMode& mode,
             const ColumnTile& tile, const RowRun& all, bool rotate, bool sums);

/// Copies the columns outside the slice.
void CopyRest(const Plan::Impl& plan, const OperandPlan& op, const RowRun& all);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_ROWS_H_
