// What ropewalk.verify is written on.

#ifndef ROPEWALK_PYTHON_SRC_VERIFY_H_
#define ROPEWALK_PYTHON_SRC_VERIFY_H_

#include <nanobind/nanobind.h>

namespace ropewalk::python {

/// Adds verify_rotate, verify_backward and verify_cached to the module. Each
/// returns the report as the command line's JSON has it, in dicts and lists.
void BindVerify(nanobind::module_& module);

}  // namespace ropewalk::python

#endif  // ROPEWALK_PYTHON_SRC_VERIFY_H_
