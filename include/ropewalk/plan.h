// A plan: an operator checked and prepared once, run many times.

#ifndef ROPEWALK_PLAN_H_
#define ROPEWALK_PLAN_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "ropewalk/executor.h"
#include "ropewalk/export.h"
#include "ropewalk/status.h"

namespace ropewalk {

/// Addresses for a plan of MakeRotatePlan. x2 and y2 only with two operands.
struct RotateBuffers {
  const void* x = nullptr;
  const void* cos = nullptr;
  const void* sin = nullptr;
  void* y = nullptr;
  const void* x2 = nullptr;
  void* y2 = nullptr;
};

/// Addresses for a plan of MakeRotateBackwardPlan. Tensors that the plan was
/// made without stay null and are not looked at.
struct RotateBackwardBuffers {
  const void* dy = nullptr;
  const void* cos = nullptr;
  const void* sin = nullptr;
  const void* x = nullptr;
  void* dx = nullptr;
  void* dcos = nullptr;
  void* dsin = nullptr;
  const void* dy2 = nullptr;
  const void* x2 = nullptr;
  void* dx2 = nullptr;
};

/// Addresses for a plan of MakeRotateCachedPlan. In a backward plan query and
/// key are the gradients of the rotated tensors.
struct RotateCachedBuffers {
  const void* positions = nullptr;
  const void* cache = nullptr;
  const void* query = nullptr;
  void* query_out = nullptr;
  const void* key = nullptr;
  void* key_out = nullptr;
};

/// How a plan is run.
struct RunOptions {
  /// Null: DefaultExecutor().
  Executor* executor = nullptr;
  /// At least Plan::workspace_bytes(), 64-byte aligned; contents do not matter.
  std::span<std::byte> workspace = {};
};

/// An operator with all descriptors checked. Immutable: any number of threads
/// may run one plan at once, each with buffers and workspace of its own.
/// Movable, not copyable; a moved-from plan may only be destroyed or assigned.
class ROPEWALK_EXPORT Plan {
 public:
  struct Impl;

  explicit Plan(std::unique_ptr<const Impl> impl) noexcept;
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  /// Bytes of workspace that a run needs; 0 for most plans.
  size_t workspace_bytes() const noexcept;

  /// Computes. Before the first write it checks what only addresses tell: null
  /// pointers (of tensors that are not empty), overlap (an output may coincide
  /// exactly with its own input, nothing else), position values, and that the
  /// plan is of the operator that the buffers belong to. On any refusal nothing
  /// has been written. Allocates nothing and takes no lock.
  Status Run(const RotateBuffers& buffers,
             const RunOptions& options = {}) const noexcept;
  Status Run(const RotateBackwardBuffers& buffers,
             const RunOptions& options = {}) const noexcept;
  Status Run(const RotateCachedBuffers& buffers,
             const RunOptions& options = {}) const noexcept;

  /// One line for logs and bug reports: what will run, and how.
  std::string Describe() const;

 private:
  std::unique_ptr<const Impl> impl_;
};

}  // namespace ropewalk

#endif  // ROPEWALK_PLAN_H_
