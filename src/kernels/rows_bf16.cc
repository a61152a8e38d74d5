// The kernels of bf16, compiled for every target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows_bf16.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/find_kernel.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ropewalk::kernels::HWY_NAMESPACE {

const RowKernel* FindBF16(RowForm form) { return KernelOf<BF16>(form); }

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropewalk::kernels {

HWY_EXPORT(FindBF16);

const RowKernel* FindBF16(RowForm form, int64_t targets) {
  return HWY_DISPATCH_TABLE(FindBF16)[TargetIndex(targets)](form);
}

}  // namespace ropewalk::kernels
#endif  // HWY_ONCE
