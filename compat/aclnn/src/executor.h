// Executors: what phase one hands to phase two.

#ifndef ROPEWALK_COMPAT_ACLNN_EXECUTOR_H_
#define ROPEWALK_COMPAT_ACLNN_EXECUTOR_H_

#include <memory>
#include <optional>

#include "aclnn/acl_meta.h"
#include "handle_table.h"
#include "op.h"
#include "ropewalk/plan.h"
#include "rotate_matrix.h"

namespace ropewalk_aclnn {

struct Executor;

// Runs the plan with the addresses of the operator's tensors, by number.
using Launch = ropewalk::Status (*)(const Executor& executor,
                                    void* const* address,
                                    const ropewalk::RunOptions& options);

// Of the workspace that a plan is given.
inline constexpr size_t kAlignment = 64;

// Where the address of a tensor comes from. It follows the descriptor while
// that lives; afterwards the last address seen holds.
struct Binding {
  uint64_t tensor = 0;  // 0: null in phase one
  void* base = nullptr;
  int64_t offset = 0;  // bytes
};

struct Executor {
  Op op = Op::kRotaryPositionEmbedding;
  Launch launch = nullptr;  // null: nothing to do
  std::optional<ropewalk::Plan> plan;
  std::unique_ptr<RotateMatrix> matrix;  // instead of a plan
  uint64_t workspace_size = 0;
  uint32_t needed = 0;  // tensors whose data must not be null, by bit
  Binding bindings[kMaxTensors];
};

using ExecutorTable = HandleTable<Executor>;
extern constinit ExecutorTable all_executors;

// Phase two of every operator.
aclnnStatus Run(Op op, void* workspace, uint64_t workspace_size,
                aclOpExecutor* executor, aclrtStream stream) noexcept;

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_EXECUTOR_H_
