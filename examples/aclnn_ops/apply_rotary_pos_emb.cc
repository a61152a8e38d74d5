// Rotates query (2 heads) and key (1 head) of one token in place, BSND.

#include "aclnnop/aclnn_apply_rotary_pos_emb.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  Tensor query({1, 1, 2, 64}, Ramp(128, 1), ACL_FLOAT16);
  Tensor key({1, 1, 1, 64}, Ramp(64, 4), ACL_FLOAT16);
  Tensor cos({1, 1, 1, 64}, Ramp(64, 2), ACL_FLOAT16);
  Tensor sin({1, 1, 1, 64}, Ramp(64, 5), ACL_FLOAT16);
  device.Run(
      "aclnnApplyRotaryPosEmb",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnApplyRotaryPosEmbGetWorkspaceSize(
            query.get(), key.get(), cos.get(), sin.get(), 1, size, executor);
      },
      aclnnApplyRotaryPosEmb);
  query.Print("query");
  key.Print("key");
  return 0;
}
