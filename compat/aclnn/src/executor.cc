// Phase two.

#include "executor.h"

#include "aclnn/opdev/op_errno.h"
#include "error.h"
#include "executor_state.h"
#include "rules.h"
#include "streams.h"
#include "tensor.h"

namespace ropewalk_aclnn {

constinit ExecutorTable all_executors(11);

namespace {

using Slot = ExecutorTable::Slot;

// The address that the descriptor has now. The generation is looked at again
// afterwards: the slot may have gone to another descriptor meanwhile.
void* Follow(const Binding& binding) noexcept {
  std::atomic_ref<void*> base(const_cast<void*&>(binding.base));
  auto* slot = all_tensors.Find(
      std::atomic_ref<uint64_t>(const_cast<uint64_t&>(binding.tensor))
          .load(std::memory_order_relaxed));
  void* last = base.load(std::memory_order_relaxed);
  if (slot != nullptr) {
    void* now = slot->value.Address();
    std::atomic_thread_fence(std::memory_order_acquire);
    if (now != last && all_tensors.Find(binding.tensor) == slot) [[unlikely]] {
      base.store(now, std::memory_order_relaxed);
      last = now;
    }
  }
  return last;
}

int Explain(Op op, Rule rule, const char* argument, const char* fact) {
  const RuleRow& row = *FindRule(op, rule);
  return Fail(row.status, "%s: %s: %s, but %s [rule %s, phase two]",
              Info(op).name, argument, row.need, fact, row.name);
}

// A refusal by the plan, in the words of the native API.
int Refused(Op op, const ropewalk::Status& status) {
  int code = ACLNN_ERR_INNER;
  switch (status.code()) {
    case ropewalk::Code::kNullPointer:
      code = ACLNN_ERR_PARAM_NULLPTR;
      break;
    case ropewalk::Code::kPosition:
    case ropewalk::Code::kOverlap:
      code = ACLNN_ERR_PARAM_INVALID;
      break;
    case ropewalk::Code::kExecutor:
      code = ACLNN_ERR_RUNTIME_ERROR;
      break;
    default:
      break;
  }
  return Fail(code, "%s: %s [phase two]", Info(op).name,
              InOwnWords(op, status.message()).c_str());
}

int RunAcquired(const Executor& executor, void* workspace, uint64_t size) {
  const OpInfo& info = Info(executor.op);
  if (executor.workspace_size != 0) {
    if (workspace == nullptr) {
      return Fail(ACLNN_ERR_PARAM_NULLPTR,
                  "%s: workspace: must not be null, but is", info.name);
    }
    if (size < executor.workspace_size) {
      return Explain(executor.op, Rule::kWorkspace, "workspaceSize",
                     "is smaller");
    }
  }
  if (executor.launch == nullptr) return ACLNN_SUCCESS;
  void* address[kMaxTensors];
  const int count = info.inputs + (info.in_place ? 0 : info.outputs);
  for (int i = 0; i < count; ++i) {
    const Binding& binding = executor.bindings[i];
    void* base = binding.tensor != 0 ? Follow(binding) : nullptr;
    address[i] =
        base != nullptr ? static_cast<char*>(base) + binding.offset : nullptr;
    if (base == nullptr && (executor.needed >> i & 1) != 0) [[unlikely]] {
      return Explain(executor.op, Rule::kData, info.tensors[i], "is null");
    }
  }
  ropewalk::RunOptions options;
  if (executor.workspace_size != 0) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(workspace);
    const uintptr_t skip = -begin & (kAlignment - 1);
    options.workspace = {static_cast<std::byte*>(workspace) + skip,
                         executor.workspace_size - (kAlignment - 1)};
  }
  const ropewalk::Status status = executor.launch(executor, address, options);
  if (status.ok()) [[likely]]
    return ACLNN_SUCCESS;
  return Refused(executor.op, status);
}

}  // namespace

aclnnStatus Run(Op op, void* workspace, uint64_t workspace_size,
                aclOpExecutor* executor, aclrtStream stream) noexcept {
  if (executor == nullptr) {
    return Fail(ACLNN_ERR_PARAM_NULLPTR, "%s: executor: must not be null",
                Info(op).name);
  }
  if (!IsStream(stream)) {
    return Explain(op, Rule::kStream, "stream",
                   "it is destroyed, or was never created");
  }
  Slot* slot = Acquire(executor);
  if (slot == nullptr) {
    return Explain(op, Rule::kExecutor, "executor",
                   "it is used up, destroyed or was never made");
  }
  if (slot->value.op != op) {
    const char* made_by = Info(slot->value.op).name;
    PutBack(slot);
    return Explain(op, Rule::kExecutor, "executor",
                   (std::string("it was made by ") + made_by).c_str());
  }
  const int status = Guarded(Info(op).name, ACLNN_ERR_INNER, [&] {
    return RunAcquired(slot->value, workspace, workspace_size);
  });
  Release(slot);
  return status;
}

}  // namespace ropewalk_aclnn
