// Executors for Python: threads of our own, or those of a host library.

#ifndef ROPEWALK_PYTHON_SRC_THREADS_H_
#define ROPEWALK_PYTHON_SRC_THREADS_H_

#include <nanobind/nanobind.h>

#include "ropewalk/executor.h"

namespace ropewalk::python {

/// Adds the class Threads, and num_threads and set_num_threads, to the module.
void BindThreads(nanobind::module_& module);

}  // namespace ropewalk::python

#endif  // ROPEWALK_PYTHON_SRC_THREADS_H_
