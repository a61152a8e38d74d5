// Rotates the tokens at positions 3, 0 and 2 by the rows of a cache: query with
// 2 heads, key with one.

#include "aclnnop/level2/aclnn_rope_with_sin_cos_cache.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  Tensor positions({3}, std::vector<int64_t>{3, 0, 2});
  Tensor query({3, 64}, Ramp(192, 1), ACL_BF16);
  Tensor key({3, 32}, Ramp(96, 4), ACL_BF16);
  Tensor cache({4, 32}, Ramp(128, 5), ACL_BF16);
  Tensor query_out({3, 64}, std::vector<float>(192), ACL_BF16);
  Tensor key_out({3, 32}, std::vector<float>(96), ACL_BF16);
  device.Run(
      "aclnnRopeWithSinCosCache",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnRopeWithSinCosCacheGetWorkspaceSize(
            positions.get(), query.get(), key.get(), cache.get(), nullptr, 32,
            true, query_out.get(), key_out.get(), size, executor);
      },
      aclnnRopeWithSinCosCache);
  query_out.Print("query");
  key_out.Print("key");
  return 0;
}
