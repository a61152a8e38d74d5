// Gradients of x, cos and sin; the tables are shared by 3 heads, so their
// gradients are sums. Then once more without x, where dcosOut and dsinOut may
// be empty tensors without memory.

#include "aclnnop/aclnn_rotary_position_embedding_grad.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  Tensor dy({1, 2, 3, 8}, Ramp(48, 1));
  Tensor x({1, 2, 3, 8}, Ramp(48, 4));
  Tensor cos({1, 2, 1, 8}, Ramp(16, 2));
  Tensor sin({1, 2, 1, 8}, Ramp(16, 5));
  Tensor dx({1, 2, 3, 8}, std::vector<float>(48));
  Tensor dcos({1, 2, 1, 8}, std::vector<float>(16));
  Tensor dsin({1, 2, 1, 8}, std::vector<float>(16));
  device.Run(
      "aclnnRotaryPositionEmbeddingGrad",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
            dy.get(), cos.get(), sin.get(), x.get(), 1, dx.get(), dcos.get(),
            dsin.get(), size, executor);
      },
      aclnnRotaryPositionEmbeddingGrad);
  dx.Print("dx");
  dcos.Print("dcos");
  dsin.Print("dsin");

  const int64_t none[] = {1, 1, 1, 0};
  aclTensor* nothing = aclCreateTensor(none, 4, ACL_FLOAT, nullptr, 0,
                                       ACL_FORMAT_ND, none, 4, nullptr);
  Tensor alone({1, 2, 3, 8}, std::vector<float>(48));
  device.Run(
      "aclnnRotaryPositionEmbeddingGrad",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
            dy.get(), cos.get(), sin.get(), nullptr, 1, alone.get(), nothing,
            nothing, size, executor);
      },
      aclnnRotaryPositionEmbeddingGrad);
  aclDestroyTensor(nothing);
  alone.Print("alone");
  return 0;
}
