// A decode loop: one executor for all steps. Each step has its own query, key
// and rows of the tables, so their addresses are set before it runs.

#include <vector>

#include "../aclnn_ops/device.h"
#include "aclnnop/aclnn_apply_rotary_pos_emb_v2.h"

int main() {
  using example::Check;
  using example::Ramp;
  using example::Tensor;
  const int steps = 4;
  example::Device device;
  char mode[] = "half";
  // All steps after one another; a step is a token with 2 heads and 1 head.
  Tensor query({steps, 2, 8}, Ramp(steps * 16, 1));
  Tensor key({steps, 1, 8}, Ramp(steps * 8, 4));
  Tensor cos({steps, 1, 8}, Ramp(steps * 8, 2));
  Tensor sin({steps, 1, 8}, Ramp(steps * 8, 5));

  const int64_t q_shape[] = {1, 2, 8};
  const int64_t k_shape[] = {1, 1, 8};
  auto describe = [](const int64_t* shape, const Tensor& from) {
    return aclCreateTensor(shape, 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                           shape, 3, from.data());
  };
  aclTensor* step_tensors[] = {describe(q_shape, query), describe(k_shape, key),
                               describe(k_shape, cos), describe(k_shape, sin)};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Check(aclnnApplyRotaryPosEmbV2GetWorkspaceSize(
            step_tensors[0], step_tensors[1], step_tensors[2], step_tensors[3],
            4, mode, &size, &executor),
        "phase one");
  Check(aclSetAclOpExecutorRepeatable(executor),
        "aclSetAclOpExecutorRepeatable");
  void* workspace = nullptr;
  if (size > 0) {
    Check(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST),
          "aclrtMalloc");
  }

  void* const data[] = {query.data(), key.data(), cos.data(), sin.data()};
  const size_t floats[] = {16, 8, 8, 8};
  for (int step = 0; step < steps; ++step) {
    for (size_t i = 0; i < 4; ++i) {
      void* address = static_cast<float*>(data[i]) + step * floats[i];
      Check(aclSetInputTensorAddr(executor, i, step_tensors[i], address),
            "aclSetInputTensorAddr");
    }
    Check(aclnnApplyRotaryPosEmbV2(workspace, size, executor, device.stream()),
          "phase two");
  }
  Check(aclrtSynchronizeStream(device.stream()), "aclrtSynchronizeStream");
  Check(aclDestroyAclOpExecutor(executor), "aclDestroyAclOpExecutor");
  for (aclTensor* tensor : step_tensors) aclDestroyTensor(tensor);
  if (workspace != nullptr) aclrtFree(workspace);
  query.Print("query");
  key.Print("key");
  return 0;
}
