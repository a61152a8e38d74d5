// The life of executors and the addresses in them.

#include "aclnn/opdev/op_errno.h"
#include "error.h"
#include "executor_state.h"
#include "tensor.h"

namespace ropewalk_aclnn {
namespace {

enum class Side : uint8_t { kInput, kOutput, kAny };

int Gone(const char* function, const char* what, const void* handle) noexcept {
  return Fail(ACLNN_ERR_PARAM_INVALID,
              "%s: %s: %p is used up, destroyed or was never made", function,
              what, handle);
}

int NullPointer(const char* function, const char* argument) noexcept {
  return Fail(ACLNN_ERR_INNER_NULLPTR, "%s: %s: must not be null", function,
              argument);
}

// The tensor's number in the operator, or -1. An output in place has its
// input's number, so that both are always in step.
int NumberOf(const OpInfo& info, Side side, size_t index) noexcept {
  const size_t inputs = static_cast<size_t>(info.inputs);
  const size_t outputs = static_cast<size_t>(info.outputs);
  if (side == Side::kAny) {
    side = index < inputs ? Side::kInput : Side::kOutput;
    if (side == Side::kOutput) index -= inputs;
  }
  if (side == Side::kInput) {
    return index < inputs ? static_cast<int>(index) : -1;
  }
  if (index >= outputs) return -1;
  return static_cast<int>(info.in_place ? index : inputs + index);
}

// Makes the executor's tensor follow another descriptor, with its address.
int Bind(const char* function, Executor& executor, Side side, size_t index,
         const aclTensor* tensor, void* address) noexcept {
  const OpInfo& info = Info(executor.op);
  if (info.by_tensor) {
    for (const Binding& binding : executor.bindings) {
      if (binding.tensor == ToHandle(tensor)) return ACLNN_SUCCESS;
    }
  }
  const int number = NumberOf(info, side, index);
  if (number < 0 || executor.bindings[number].tensor == 0) {
    return Fail(ACLNN_ERR_PARAM_INVALID,
                "%s: index: must be that of a tensor that phase one of %s was "
                "given, but is %zu",
                function, info.name, index);
  }
  Binding& binding = executor.bindings[number];
  std::atomic_ref<void*>(binding.base).store(address);
  std::atomic_ref<uint64_t>(binding.tensor).store(ToHandle(tensor));
  return ACLNN_SUCCESS;
}

int SetAddress(const char* function, aclOpExecutor* executor, Side side,
               size_t index, const aclTensor* tensor, void* address) noexcept {
  if (executor == nullptr) return NullPointer(function, "executor");
  if (tensor == nullptr) return NullPointer(function, "tensor");
  Tensor* found = FindTensor(tensor);
  if (found == nullptr) return Gone(function, "tensor", tensor);
  auto* slot = Borrow(executor);
  if (slot == nullptr) return Gone(function, "executor", executor);
  found->SetAddress(address);
  const int status = Bind(function, slot->value, side, index, tensor, address);
  PutBack(slot);
  return status;
}

// No operator here has a list of tensors: what can be done is done, and the
// executor's part is refused.
int SetListAddress(const char* function, aclOpExecutor* executor, size_t index,
                   const aclTensorList* list, void* address) noexcept {
  if (executor == nullptr) return NullPointer(function, "executor");
  if (list == nullptr) return NullPointer(function, "tensors");
  const std::vector<uint64_t>* handles = FindTensorList(list);
  if (handles == nullptr) return Gone(function, "tensors", list);
  if (index >= handles->size()) {
    return Fail(ACLNN_ERR_PARAM_INVALID,
                "%s: relativeIndex: must be below %zu, but is %zu", function,
                handles->size(), index);
  }
  Tensor* found = FindTensor(ToOpaque<aclTensor*>((*handles)[index]));
  if (found != nullptr) found->SetAddress(address);
  return Fail(ACLNN_ERR_PARAM_INVALID,
              "%s: irIndex: the operator has no list of tensors", function);
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  constexpr const char* kName = "aclSetAclOpExecutorRepeatable";
  if (executor == nullptr) return NullPointer(kName, "executor");
  if (SetRepeatable(executor)) return ACLNN_SUCCESS;
  return Gone(kName, "executor", executor);
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  constexpr const char* kName = "aclDestroyAclOpExecutor";
  if (executor == nullptr) return NullPointer(kName, "executor");
  if (Destroy(executor)) return ACLNN_SUCCESS;
  return Gone(kName, "executor", executor);
}

// Both spellings.
#define RW_SET_ADDRESS(prefix, name, side)                                   \
  aclnnStatus prefix##Set##name(aclOpExecutor* executor, const size_t index, \
                                aclTensor* tensor, void* addr) {             \
    return SetAddress(#prefix "Set" #name, executor, side, index, tensor,    \
                      addr);                                                 \
  }
RW_SET_ADDRESS(acl, InputTensorAddr, Side::kInput)
RW_SET_ADDRESS(Acl, InputTensorAddr, Side::kInput)
RW_SET_ADDRESS(acl, OutputTensorAddr, Side::kOutput)
RW_SET_ADDRESS(Acl, OutputTensorAddr, Side::kOutput)
RW_SET_ADDRESS(acl, TensorAddr, Side::kAny)
RW_SET_ADDRESS(Acl, TensorAddr, Side::kAny)
#undef RW_SET_ADDRESS

#define RW_SET_LIST_ADDRESS(prefix, name)                               \
  aclnnStatus prefix##Set##name(aclOpExecutor* executor, size_t,        \
                                const size_t relativeIndex,             \
                                aclTensorList* tensors, void* addr) {   \
    return SetListAddress(#prefix "Set" #name, executor, relativeIndex, \
                          tensors, addr);                               \
  }
RW_SET_LIST_ADDRESS(acl, DynamicInputTensorAddr)
RW_SET_LIST_ADDRESS(Acl, DynamicInputTensorAddr)
RW_SET_LIST_ADDRESS(acl, DynamicOutputTensorAddr)
RW_SET_LIST_ADDRESS(Acl, DynamicOutputTensorAddr)
RW_SET_LIST_ADDRESS(acl, DynamicTensorAddr)
RW_SET_LIST_ADDRESS(Acl, DynamicTensorAddr)
#undef RW_SET_LIST_ADDRESS
