// Between the door and the files of each dtype.

#ifndef ROPEWALK_SRC_KERNELS_FIND_KERNEL_H_
#define ROPEWALK_SRC_KERNELS_FIND_KERNEL_H_

#include <hwy/highway.h>

#include "kernels/row_kernel.h"

namespace ropewalk::kernels {

const RowKernel* FindF32(RowForm form, int64_t targets);
const RowKernel* FindF16(RowForm form, int64_t targets);
const RowKernel* FindBF16(RowForm form, int64_t targets);
const RowKernel* FindF64(RowForm form, int64_t targets);

// Where the best of `targets` stands in Highway's dispatch tables. Not through
// Highway's own choice, which is global: each plan may have its own target.
inline size_t TargetIndex([[maybe_unused]] int64_t targets) {
#if HWY_IDE || ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0)
  return 0;
#else
  hwy::ChosenTarget chosen;
  chosen.Update(targets);
  return chosen.GetIndex();
#endif
}

}  // namespace ropewalk::kernels

#endif  // ROPEWALK_SRC_KERNELS_FIND_KERNEL_H_
