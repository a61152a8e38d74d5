// Query and key of 3 packed tokens (TND), pairing "interleave".

#include "aclnnop/aclnn_apply_rotary_pos_emb_v2.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  char mode[] = "interleave";
  Tensor query({3, 2, 8}, Ramp(48, 1));
  Tensor key({3, 1, 8}, Ramp(24, 4));
  Tensor cos({3, 1, 8}, Ramp(24, 2));
  Tensor sin({3, 1, 8}, Ramp(24, 5));
  device.Run(
      "aclnnApplyRotaryPosEmbV2",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnApplyRotaryPosEmbV2GetWorkspaceSize(query.get(), key.get(),
                                                        cos.get(), sin.get(), 4,
                                                        mode, size, executor);
      },
      aclnnApplyRotaryPosEmbV2);
  query.Print("query");
  key.Print("key");
  return 0;
}
