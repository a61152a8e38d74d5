// The operators for Python.

#ifndef ROPEWALK_PYTHON_SRC_OPERATORS_H_
#define ROPEWALK_PYTHON_SRC_OPERATORS_H_

#include <nanobind/nanobind.h>

#include "ropewalk/status.h"

namespace ropewalk::python {

/// Throws what a refusal is in Python: TypeError for dtypes, IndexError for
/// positions, MemoryError, RuntimeError for executors, else ValueError.
void RaiseIfRefused(const Status& status);

/// Adds rotate, rotate_backward and rotate_cached to the module.
void BindOperators(nanobind::module_& module);

}  // namespace ropewalk::python

#endif  // ROPEWALK_PYTHON_SRC_OPERATORS_H_
