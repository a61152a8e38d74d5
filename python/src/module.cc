// The module ropewalk._core: what ropewalk's Python files are written on.

#include <nanobind/nanobind.h>

#include "operators.h"
#include "ropewalk/version.h"
#include "threads.h"
#include "verify.h"
#include "view.h"

NB_MODULE(_core, module) {
  module.doc() = "The operators on memory: no allocation of results, no copy.";
  module.attr("version") = ROPEWALK_VERSION_STRING;
  ropewalk::python::BindView(module);
  ropewalk::python::BindThreads(module);
  ropewalk::python::BindOperators(module);
  ropewalk::python::BindVerify(module);
}
