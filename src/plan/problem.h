// The one form that all operators are brought to: rows rotated by tables.

#ifndef ROPEWALK_SRC_PLAN_PROBLEM_H_
#define ROPEWALK_SRC_PLAN_PROBLEM_H_

#include <cstdint>

#include "core/layout.h"
#include "ropewalk/ops.h"
#include "ropewalk/plan.h"

namespace ropewalk {

/// The tensors of a problem. kIn and kX are read, kOut is written; the ones of
/// the second operand follow the first's.
enum Slot : uint8_t {
  kIn0,
  kIn1,  ///< x, or dy in a backward
  kX0,
  kX1,  ///< the forward's x, for dcos and dsin
  kOut0,
  kOut1,  ///< y, or dx
  kCos,
  kSin,
  kDcos,
  kDsin,
  kPositions,
  kCache,
  kSlots
};

/// Which Buffers belong to the plan.
enum class OpKind : uint8_t { kRotate, kRotateBackward, kRotateCached };

/// All descriptors are checked; in, x and out of an operand have equal shapes
/// and rank >= 1, the last axis being the row.
struct Problem {
  const char* op = "";
  OpKind kind = OpKind::kRotate;
  Pairing pairing = Pairing::kHalf;
  Direction direction = Direction::kForward;
  int operands = 1;

  const char* names[kSlots] = {};  ///< in messages
  bool present[kSlots] = {};
  TensorDesc desc[kSlots];
  Extent extent[kSlots];

  /// Columns of the row that rotate.
  int64_t start = 0;
  int64_t width = 0;
  /// One table value for each pair instead of one for each column.
  bool half_width = false;
  /// Rows of kCache, chosen by kPositions, instead of kCos and kSin. Then
  /// operands have rank 3, (tokens, heads, row).
  bool cached = false;
  int sections = 0;  ///< 0: one position a token
  int64_t section[4] = {};
  AxisLayout axes = AxisLayout::kSegmented;
};

/// Plans a checked problem.
Result<Plan> MakePlan(const Problem& problem);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_PROBLEM_H_
