// All functions of one dtype, gathered in the RowKernels that the door hands
// out. Per target.

#if defined(ROPEWALK_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPEWALK_KERNELS_ROWS_INL_H_
#undef ROPEWALK_KERNELS_ROWS_INL_H_
#else
#define ROPEWALK_KERNELS_ROWS_INL_H_
#endif

#include "kernels/gradient-inl.h"
#include "kernels/rotate-inl.h"
#include "kernels/tables-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ropewalk::kernels::HWY_NAMESPACE {

template <class Form>
void SetRotate(RowKernel& k) {
  k.rotate[0] = RotateRows<Form, StoreKind::kPlain>;
  k.rotate[1] = RotateRows<Form, StoreKind::kPrefetch>;
  k.rotate[2] = RotateRows<Form, StoreKind::kStream>;
  k.rotate[3] = RotateRows<Form, StoreKind::kStream16>;
}

template <class Form>
void SetGradient(RowKernel& k) {
  k.gradient[0] = GradientRows<Form, true, StoreKind::kPlain>;
  k.gradient[1] = GradientRows<Form, true, StoreKind::kPrefetch>;
  k.gradient[2] = GradientRows<Form, true, StoreKind::kStream>;
  k.gradient[3] = GradientRows<Form, true, StoreKind::kStream16>;
  k.sums_only = GradientRows<Form, false, StoreKind::kPrefetch>;
}

template <class Form, class T>
void SetTable(RowKernel& k, Dtype dtype) {
  const auto i = static_cast<size_t>(dtype);
  k.table[i] = PrepareTable<Form, T>;
  k.axes[i] = PrepareAxes<Form, T>;
  k.store_sums[i] = StoreSums<T>;
  k.finish[0][i] = FinishRow<Form, T, Write::kPlain>;
  k.finish[1][i] = FinishRow<Form, T, Write::kStream>;
}

template <class Form>
void SetTables(RowKernel& k) {
  k.order_sums = OrderSegment<Form>;
  if constexpr (hwy::IsSame<typename Form::Type, F64>()) {
    SetTable<Form, F64>(k, Dtype::kF64);
  } else {
    SetTable<Form, F32>(k, Dtype::kF32);
    SetTable<Form, F16>(k, Dtype::kF16);
    SetTable<Form, BF16>(k, Dtype::kBF16);
  }
}

template <class Form, bool kGradient>
RowKernel MakeKernel() {
  RowKernel k = {};
  SetRotate<Form>(k);
  if constexpr (kGradient) SetGradient<Form>(k);
  SetTables<Form>(k);
  const ComputeTag<typename Form::Type> d;
  k.block_pairs = 2 * hn::Lanes(d);
  k.whole_pairs = WholePairs<Form>();
  k.vector_bytes = hn::Lanes(d) * sizeof(typename Form::Type::Compute);
  k.target = hwy::TargetName(HWY_TARGET);
  return k;
}

template <class T>
const RowKernel* KernelOf(RowForm form) {
  static const RowKernel kernels[] = {MakeKernel<SplitForm<T>, true>(),
                                      MakeKernel<JoinedForm<T>, true>(),
                                      MakeKernel<JoinedToSplitForm<T>, false>(),
                                      MakeKernel<SplitToJoinedForm<T>, true>()};
  return &kernels[static_cast<size_t>(form)];
}

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ROPEWALK_KERNELS_ROWS_INL_H_
