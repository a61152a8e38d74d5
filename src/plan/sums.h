// dcos and dsin: from the sums of a unit to the tensors, by way of workspace
// where chunks share a table row.

#ifndef ROPEWALK_SRC_PLAN_SUMS_H_
#define ROPEWALK_SRC_PLAN_SUMS_H_

#include "plan/unit.h"

namespace ropewalk {

/// Can a kernel store rows of dcos and dsin itself? Where one operand's rows
/// are all summed in one unit, and each column has a place of its own.
bool SumsDirect(const Plan::Impl& plan);

/// The rows of the unit for a kernel to store. `stream`: past the caches, if
/// they are aligned and do not fit there.
kernels::SumsRows DirectSums(const Context& context, const ColumnTile& tile,
                             const Unit& unit, bool stream);

/// Sums of one operand for table row `t` of the unit, from kernel order into
/// table order; set, or added to what `total` holds.
void FinishOperand(const Context& context, const OperandPlan& op,
                   const ColumnTile& tile, const Unit& unit, int64_t t,
                   bool add, double* total);

/// Stores the totals of table row `t`: in workspace, or rounded in dcos and
/// dsin.
void StoreTotal(const Context& context, const ColumnTile& tile,
                const Unit& unit, int64_t t, double* total);

/// Adds the sums of the chunks in their order, and rounds.
void CombineChunks(const Context& context);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_SUMS_H_
