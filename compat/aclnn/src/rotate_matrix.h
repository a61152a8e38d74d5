// y = x * cos + (x @ rotate) * sin: RotaryPositionEmbeddingV2 with a matrix.

#ifndef ROPEWALK_COMPAT_ACLNN_ROTATE_MATRIX_H_
#define ROPEWALK_COMPAT_ACLNN_ROTATE_MATRIX_H_

#include "ropewalk/status.h"
#include "ropewalk/tensor.h"

namespace ropewalk_aclnn {

// The products of x @ rotate are summed in double, in column order, and rounded
// to float; then two products and a sum in float, and one rounding to y.
struct RotateMatrix {
  ropewalk::TensorDesc x, cos, sin, rotate, y;
  // Mode interleave-half: x's even columns come first where x meets cos.
  bool deinterleave = false;

  // y may be x; it must not overlap anything else.
  ropewalk::Status Run(const void* x_data, const void* cos_data,
                       const void* sin_data, const void* rotate_data,
                       void* y_data) const;
};

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_ROTATE_MATRIX_H_
