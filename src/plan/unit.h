// A unit of work: a tile of table rows with all (or a chunk) of the rows that
// share them.

#ifndef ROPEWALK_SRC_PLAN_UNIT_H_
#define ROPEWALK_SRC_PLAN_UNIT_H_

#include "plan/impl.h"
#include "plan/rows.h"
#include "plan/table.h"

namespace ropewalk {

/// A run of a plan, as its units see it.
struct Context {
  const Plan::Impl& plan;
  const Addresses& addresses;
  RowMode mode[2];
  double* partials = nullptr;  ///< sums of chunks
};

/// Which table rows, and where their tables and sums are on the stack.
struct Unit {
  int64_t kept_first;  ///< flat index of the outer kept axes
  int64_t first;       ///< on the tiled axis
  int64_t count;
  int64_t chunk;  ///< -1: all rows of all operands
  std::byte* table;
  double* sums;
  double* total;                          ///< in table order
  size_t row_table, row_sums, row_total;  ///< bytes for a table row
  /// Table rows that the first run of rows prepares; null: they are ready.
  const kernels::TableRows* tables;
  /// Rows of dcos and dsin that the last run stores; null: FinishOperand does.
  const kernels::SumsRows* finish;
};

/// Bytes from a tensor's start to the unit's first table row.
inline int64_t KeptOffset(const Plan::Impl& plan, int slot, const Unit& unit) {
  const int last = plan.kept.rank - 1;
  return plan.kept.Offset(slot, unit.kept_first, 0, last) +
         unit.first * plan.kept.stride[slot][last];
}

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_UNIT_H_
