// Pairs of neighbours in, halves out: BNSD with rows of 64.

#include "aclnnop/aclnn_interleave_rope.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  Tensor x({1, 2, 1, 64}, Ramp(128, 1), ACL_BF16);
  Tensor cos({1, 1, 1, 64}, Ramp(64, 2), ACL_BF16);
  Tensor sin({1, 1, 1, 64}, Ramp(64, 5), ACL_BF16);
  Tensor out({1, 2, 1, 64}, std::vector<float>(128), ACL_BF16);
  device.Run(
      "aclnnInterleaveRope",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnInterleaveRopeGetWorkspaceSize(
            x.get(), cos.get(), sin.get(), out.get(), size, executor);
      },
      aclnnInterleaveRope);
  out.Print("out");
  return 0;
}
