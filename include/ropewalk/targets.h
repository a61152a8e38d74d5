// Which SIMD instruction set the kernels use. The bits of all results are the
// same on each; only the speed differs.

#ifndef ROPEWALK_TARGETS_H_
#define ROPEWALK_TARGETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "ropewalk/export.h"
#include "ropewalk/status.h"

namespace ropewalk {

/// Names of the targets in this build, best first, as Highway spells them:
/// "AVX3", "AVX2", "SSE4", "SSE2", "SVE", "NEON", ...
ROPEWALK_EXPORT std::vector<std::string> CompiledTargets();

/// Those of them that this CPU can run, best first.
ROPEWALK_EXPORT std::vector<std::string> UsableTargets();

/// The target that the next plan will use: the forced one, else the best.
ROPEWALK_EXPORT std::string CurrentTarget();

/// Forces a target for plans made from now on; plans that exist keep theirs.
/// "" goes back to the best. The environment variable ROPEWALK_TARGET does the
/// same at start, where it names a target that this CPU can run. An unknown or
/// unusable name is refused (Code::kOption) and changes nothing.
ROPEWALK_EXPORT Status ForceTarget(std::string_view name);

}  // namespace ropewalk

#endif  // ROPEWALK_TARGETS_H_
