// Who runs the tasks of a plan: the library's own threads, the calling thread,
// or a parallel-for of the host program.

#ifndef ROPEWALK_EXECUTOR_H_
#define ROPEWALK_EXECUTOR_H_

#include <cstddef>
#include <memory>

#include "ropewalk/export.h"

namespace ropewalk {

/// A parallel-for. Derive from it to run on the host program's own threads.
class ROPEWALK_EXPORT Executor {
 public:
  /// `worker` is below `workers`; no two tasks run at once with the same one.
  using Task = void (*)(void* context, size_t task, size_t worker,
                        size_t workers) noexcept;

  virtual ~Executor() = default;

  /// How many tasks may run at once; at least 1.
  virtual size_t max_workers() const noexcept = 0;

  /// Calls `task(context, i, worker, workers)` once for each i below `count`,
  /// in any order, on any threads, and returns when all calls have returned.
  /// An exception that leaves it is reported as Code::kExecutor.
  virtual void ParallelFor(size_t count, Task task, void* context) = 0;
};

/// Runs everything on the calling thread.
ROPEWALK_EXPORT Executor& InlineExecutor() noexcept;

/// The library's pool, made at first use with NumThreads() threads, the caller
/// among them. Idle threads block. A call from inside one of its tasks, or
/// while another thread uses it, runs on the calling thread. In a child made by
/// fork() it starts anew.
ROPEWALK_EXPORT Executor& DefaultExecutor() noexcept;

/// A pool of its own with `threads` threads (at least 1), the caller among
/// them; the rules of DefaultExecutor() hold. Never null: where threads cannot
/// be started it runs with fewer.
ROPEWALK_EXPORT std::unique_ptr<Executor> MakePool(size_t threads);

/// Threads of the default executor: what SetNumThreads() said, else the
/// environment variable ROPEWALK_NUM_THREADS, else the CPUs that this process
/// may use (affinity and cgroup quota).
ROPEWALK_EXPORT size_t NumThreads() noexcept;

/// Sets the number for later runs on the default executor; 0 goes back to the
/// environment's. Runs in progress keep the threads they have.
ROPEWALK_EXPORT void SetNumThreads(size_t threads) noexcept;

}  // namespace ropewalk

#endif  // ROPEWALK_EXECUTOR_H_
