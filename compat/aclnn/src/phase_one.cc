#include "aclnn/opdev/op_errno.h"
#include "call.h"
#include "error.h"

namespace ropewalk_aclnn {
namespace {

// Which other profiles would take the call.
std::string Acceptors(Op op, PlanFunction plan, const void* arguments,
                      Profile refused) {
  std::string text;
  for (int i = 0; i < kProfiles; ++i) {
    const Profile profile = static_cast<Profile>(i);
    if (profile == refused) continue;
    Executor executor;
    Call call(op, profile, true, &executor);
    if (plan(call, arguments) != ACLNN_SUCCESS) continue;
    text += text.empty() ? "" : ", ";
    text += ProfileName(profile);
  }
  return text.empty() ? "none" : text;
}

aclnnStatus PlanOrExplain(Op op, PlanFunction plan, const void* arguments,
                          Profile profile, Executor* executor) {
  Call call(op, profile, false, executor);
  const aclnnStatus status = plan(call, arguments);
  if (status != ACLNN_SUCCESS) [[unlikely]] {
    AddToError("; accepted by: %s]",
               Acceptors(op, plan, arguments, profile).c_str());
  }
  return status;
}

}  // namespace

aclnnStatus PhaseOne(Op op, PlanFunction plan, const void* arguments,
                     uint64_t* workspace_size,
                     aclOpExecutor** executor) noexcept {
  const char* name = Info(op).name;
  if (workspace_size == nullptr || executor == nullptr) {
    return Fail(ACLNN_ERR_PARAM_NULLPTR, "%s: %s: must not be null, but is",
                name, workspace_size == nullptr ? "workspaceSize" : "executor");
  }
  Profile profile;
  if (!CurrentProfile(&profile)) return ACLNN_ERR_PARAM_INVALID;
  ExecutorTable::Slot* slot = all_executors.Reserve();
  if (slot == nullptr) {
    return Fail(ACLNN_ERR_INNER_CREATE_EXECUTOR, "%s: no memory", name);
  }
  const aclnnStatus status =
      Guarded(name, ACLNN_ERR_INNER_CREATE_EXECUTOR, [&] {
        return PlanOrExplain(op, plan, arguments, profile, &slot->value);
      });
  if (status != ACLNN_SUCCESS) {
    all_executors.Recycle(slot);
    return status;
  }
  *workspace_size = slot->value.workspace_size;
  *executor = ToOpaque<aclOpExecutor*>(all_executors.Publish(slot));
  return ACLNN_SUCCESS;
}

}  // namespace ropewalk_aclnn
