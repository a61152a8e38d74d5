// A problem becomes axes, tiles, chunks and row functions.

#ifndef ROPEWALK_SRC_PLAN_LOWER_H_
#define ROPEWALK_SRC_PLAN_LOWER_H_

#include "plan/impl.h"

namespace ropewalk {

/// Fills everything but `problem`, which is set.
void Lower(Plan::Impl& plan);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_LOWER_H_
