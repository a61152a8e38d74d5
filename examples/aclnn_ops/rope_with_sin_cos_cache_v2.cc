// Three positions for each token (time, height, width) whose columns are
// interleaved.

#include "aclnnop/level2/aclnn_rope_with_sin_cos_cache_v2.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  const int64_t counts[] = {8, 12, 12};
  aclIntArray* sections = aclCreateIntArray(counts, 3);
  Tensor positions({3, 1}, std::vector<int64_t>{1, 0, 2});
  Tensor query({1, 128}, Ramp(128, 1));
  Tensor key({1, 64}, Ramp(64, 4));
  Tensor cache({3, 64}, Ramp(192, 5));
  Tensor query_out({1, 128}, std::vector<float>(128));
  Tensor key_out({1, 64}, std::vector<float>(64));
  device.Run(
      "aclnnRopeWithSinCosCacheV2",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnRopeWithSinCosCacheV2GetWorkspaceSize(
            positions.get(), query.get(), key.get(), cache.get(), sections, 64,
            false, 1, query_out.get(), key_out.get(), size, executor);
      },
      aclnnRopeWithSinCosCacheV2);
  aclDestroyIntArray(sections);
  query_out.Print("query");
  key_out.Print("key");
  return 0;
}
