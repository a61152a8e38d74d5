#ifndef ROPEWALK_SRC_EXEC_CPUS_H_
#define ROPEWALK_SRC_EXEC_CPUS_H_

#include <cstddef>

namespace ropewalk {

/// More threads than this are never made.
inline constexpr size_t kMostThreads = 1024;

/// ROPEWALK_NUM_THREADS if it is a number from 1, else the CPUs that this
/// process may use: its affinity mask, and the quota of its cgroup rounded up.
size_t ThreadsFromEnvironment() noexcept;

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_EXEC_CPUS_H_
