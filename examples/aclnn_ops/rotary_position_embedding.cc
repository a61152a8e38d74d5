// Rotates 2 tokens with 3 heads of 8 columns, pairing "half".

#include "aclnnop/aclnn_rotary_position_embedding.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  Tensor x({1, 2, 3, 8}, Ramp(48, 1));
  Tensor cos({1, 2, 1, 8}, Ramp(16, 2));
  Tensor sin({1, 2, 1, 8}, Ramp(16, 5));
  Tensor out({1, 2, 3, 8}, std::vector<float>(48));
  device.Run(
      "aclnnRotaryPositionEmbedding",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnRotaryPositionEmbeddingGetWorkspaceSize(
            x.get(), cos.get(), sin.get(), 0, out.get(), size, executor);
      },
      aclnnRotaryPositionEmbedding);
  out.Print("out");
  return 0;
}
