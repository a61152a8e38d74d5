// What ApplyRotaryPosEmb and its Grad have in common: query and key in a layout
// that an argument names, and a rotation named by a string.

#ifndef ROPEWALK_COMPAT_ACLNN_APPLY_AXES_H_
#define ROPEWALK_COMPAT_ACLNN_APPLY_AXES_H_

#include "call.h"

namespace ropewalk_aclnn {

// Numbers of the first tensors; query and key are gradients in the Grad.
inline constexpr int kQuery = 0;
inline constexpr int kKey = 1;
inline constexpr int kCos = 2;
inline constexpr int kSin = 3;

// Where a layout has its axes; b is -1 in TND, whose T is S.
struct Axes {
  int b, s, n, d;
};

// Sets `mode` to 0 to 3.
aclnnStatus CheckRotaryMode(Call& call, const char* name, int* mode);
aclnnStatus CheckLayout(Call& call, int64_t layout, Axes* axes);
// Ranks, and the leading axes of query, key and tables.
aclnnStatus CheckAxes(Call& call, const Axes& axes);

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_APPLY_AXES_H_
