// The same rotation, given as a matrix: column j of x @ rotate is minus the
// partner of column j for the first half, the partner for the second.

#include "aclnnop/aclnn_rotary_position_embedding_v2.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  std::vector<float> matrix(64);
  for (int j = 0; j < 4; ++j) {
    matrix[(j + 4) * 8 + j] = -1;
    matrix[j * 8 + j + 4] = 1;
  }
  Tensor x({1, 2, 3, 8}, Ramp(48, 1));
  Tensor cos({1, 2, 1, 8}, Ramp(16, 2));
  Tensor sin({1, 2, 1, 8}, Ramp(16, 5));
  Tensor rotate({8, 8}, matrix);
  Tensor out({1, 2, 3, 8}, std::vector<float>(48));
  device.Run(
      "aclnnRotaryPositionEmbeddingV2",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnRotaryPositionEmbeddingV2GetWorkspaceSize(
            x.get(), cos.get(), sin.get(), 0, rotate.get(), out.get(), size,
            executor);
      },
      aclnnRotaryPositionEmbeddingV2);
  out.Print("out");
  return 0;
}
