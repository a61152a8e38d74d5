// The kernels of f16, compiled for every target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows_f16.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/find_kernel.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ropewalk::kernels::HWY_NAMESPACE {

const RowKernel* FindF16(RowForm form) { return KernelOf<F16>(form); }

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropewalk::kernels {

HWY_EXPORT(FindF16);

const RowKernel* FindF16(RowForm form, int64_t targets) {
  return HWY_DISPATCH_TABLE(FindF16)[TargetIndex(targets)](form);
}

}  // namespace ropewalk::kernels
#endif  // HWY_ONCE
