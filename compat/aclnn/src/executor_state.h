// Who may use an executor. The state word of its slot holds, beside the
// generation: whether it is repeatable, whether it was used or destroyed, and
// how many calls are using it. The last user of one that is used up or
// destroyed gives the slot back.

#ifndef ROPEWALK_COMPAT_ACLNN_EXECUTOR_STATE_H_
#define ROPEWALK_COMPAT_ACLNN_EXECUTOR_STATE_H_

#include "executor.h"

namespace ropewalk_aclnn {

// For one phase two; null if the executor is gone or used up.
ExecutorTable::Slot* Acquire(const aclOpExecutor* executor) noexcept;
// Ends what Acquire began. One that is not repeatable is gone then.
void Release(ExecutorTable::Slot* slot) noexcept;
// Ends it as if it had not been.
void PutBack(ExecutorTable::Slot* slot) noexcept;

// For changing it between runs; null if the executor is gone or used up. Ends
// with PutBack().
ExecutorTable::Slot* Borrow(const aclOpExecutor* executor) noexcept;

// These are false if the executor is gone or used up.
bool SetRepeatable(const aclOpExecutor* executor) noexcept;
bool Destroy(const aclOpExecutor* executor) noexcept;

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_EXECUTOR_STATE_H_
