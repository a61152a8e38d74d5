#include "kernels/find_kernel.h"

#include <hwy/cache_control.h>

namespace ropewalk::kernels {
namespace {

const RowKernel* FindOn(Dtype dtype, RowForm form, int64_t targets) {
  switch (dtype) {
    case Dtype::kF16:
      return FindF16(form, targets);
    case Dtype::kBF16:
      return FindBF16(form, targets);
    case Dtype::kF64:
      return FindF64(form, targets);
    default:
      return FindF32(form, targets);
  }
}

}  // namespace

const RowKernel* FindRowKernel(Dtype dtype, RowForm form, size_t pairs,
                               int64_t targets) noexcept {
  const RowKernel* best = FindOn(dtype, form, targets);
  const RowKernel* kernel = best;
  // The lowest set bit is the best target: drop it and look again.
  while (kernel->block_pairs > pairs && (targets & (targets - 1)) != 0) {
    targets &= targets - 1;
    const RowKernel* next = FindOn(dtype, form, targets);
    if (next->block_pairs < kernel->block_pairs) kernel = next;
  }
  return kernel->block_pairs > pairs ? best : kernel;
}

void StreamFence() noexcept { hwy::FlushStream(); }

}  // namespace ropewalk::kernels
