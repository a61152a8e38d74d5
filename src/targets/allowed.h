// Which targets a new plan may use.

#ifndef ROPEWALK_SRC_TARGETS_ALLOWED_H_
#define ROPEWALK_SRC_TARGETS_ALLOWED_H_

#include <cstdint>

namespace ropewalk {

/// A mask of Highway's target bits: those that this CPU can run, or the forced
/// one alone.
int64_t AllowedTargets() noexcept;

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_TARGETS_ALLOWED_H_
