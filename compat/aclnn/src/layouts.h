// How the A2 and A3 documents tie the shape of cos to the layout of x.

#ifndef ROPEWALK_COMPAT_ACLNN_LAYOUTS_H_
#define ROPEWALK_COMPAT_ACLNN_LAYOUTS_H_

#include "call.h"

namespace ropewalk_aclnn {

// Checks cos against x (tensor numbers) by the rules for A2 and A3, if they
// hold. The operators have no layout argument: one reading that is allowed
// suffices. `sums` says whether dcos and dsin are wanted.
aclnnStatus CheckLayouts(Call& call, int x, int cos, int mode, bool sums);

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_LAYOUTS_H_
