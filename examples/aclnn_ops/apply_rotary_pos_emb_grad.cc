// Gradients of query, key, cos and sin; those of the tables sum what query and
// key contribute.

#include "aclnnop/aclnn_apply_rotary_pos_emb_grad.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  char mode[] = "half";
  Tensor dq({1, 2, 3, 8}, Ramp(48, 1));
  Tensor dk({1, 2, 1, 8}, Ramp(16, 4));
  Tensor cos({1, 2, 1, 8}, Ramp(16, 2));
  Tensor sin({1, 2, 1, 8}, Ramp(16, 5));
  Tensor query({1, 2, 3, 8}, Ramp(48, 7));
  Tensor key({1, 2, 1, 8}, Ramp(16, 8));
  Tensor query_grad({1, 2, 3, 8}, std::vector<float>(48));
  Tensor key_grad({1, 2, 1, 8}, std::vector<float>(16));
  Tensor dcos({1, 2, 1, 8}, std::vector<float>(16));
  Tensor dsin({1, 2, 1, 8}, std::vector<float>(16));
  device.Run(
      "aclnnApplyRotaryPosEmbGrad",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnApplyRotaryPosEmbGradGetWorkspaceSize(
            dq.get(), dk.get(), cos.get(), sin.get(), query.get(), key.get(),
            mode, 1, query_grad.get(), key_grad.get(), dcos.get(), dsin.get(),
            size, executor);
      },
      aclnnApplyRotaryPosEmbGrad);
  query_grad.Print("query");
  key_grad.Print("key");
  dcos.Print("dcos");
  dsin.Print("dsin");
  return 0;
}
