// The operators for Python.

#ifndef ROPEWALK_PYTHON_SRC_OPERATORS_H_
#define ROPEWALK_PYTHON_SRC_OPERATORS_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ropewalk/ops.h"
#include "ropewalk/status.h"

namespace ropewalk::python {

/// Throws what a refusal is in Python: TypeError for dtypes, IndexError for
/// positions, MemoryError, RuntimeError for executors, else ValueError.
void RaiseIfRefused(const Status& status);

/// The columns that rotate.
using Columns = std::optional<std::pair<int64_t, int64_t>>;

/// Options by name; `op` starts the messages. A span of `sections` is kept.
RotateOptions RotateOptionsOf(const char* op, const char* pairing,
                              const Columns& slice);
RotateCachedOptions CachedOptionsOf(
    int64_t head_size, const char* style,
    const std::optional<std::vector<int64_t>>& sections, const char* axes,
    bool backward);

/// Adds rotate, rotate_backward and rotate_cached to the module.
void BindOperators(nanobind::module_& module);

}  // namespace ropewalk::python

#endif  // ROPEWALK_PYTHON_SRC_OPERATORS_H_
