// The rows of one operand that share the table rows of a unit.

#ifndef ROPEWALK_SRC_PLAN_WALK_H_
#define ROPEWALK_SRC_PLAN_WALK_H_

#include "plan/unit.h"

namespace ropewalk {

/// Rotates, and adds products, for a column tile of the rows [begin, end) of
/// those that share the unit's table rows, in that order. Copies what lies
/// outside of the slice with the first column tile.
void WalkRows(const Context& context, int operand, const ColumnTile& tile,
              const Unit& unit, bool rotate, bool sums, int64_t begin,
              int64_t end);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_WALK_H_
