// Rotates the columns [2, 6) of rows of 8, in place; the others stay. The
// tables are as wide as the slice, and float where the data are half.

#include "aclnnop/aclnn_inplace_partial_rotary_mul.h"

#include "device.h"

int main() {
  using example::Ramp;
  using example::Tensor;
  example::Device device;
  Tensor x({1, 2, 3, 8}, Ramp(48, 1), ACL_FLOAT16);
  Tensor cos({1, 2, 1, 4}, Ramp(8, 2));
  Tensor sin({1, 2, 1, 4}, Ramp(8, 5));
  const int64_t columns[] = {2, 6};
  aclIntArray* slice = aclCreateIntArray(columns, 2);
  device.Run(
      "aclnnInplacePartialRotaryMul",
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnInplacePartialRotaryMulGetWorkspaceSize(
            x.get(), cos.get(), sin.get(), 1, slice, size, executor);
      },
      aclnnInplacePartialRotaryMul);
  aclDestroyIntArray(slice);
  x.Print("x");
  return 0;
}
