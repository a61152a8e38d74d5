// Loads and stores of 2 L elements of a dtype as two vectors of its compute
// type. Per target; included once for each by every rows_*.cc.

#if defined(ROPEWALK_KERNELS_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPEWALK_KERNELS_CONVERT_INL_H_
#undef ROPEWALK_KERNELS_CONVERT_INL_H_
#else
#define ROPEWALK_KERNELS_CONVERT_INL_H_
#endif

#include <hwy/highway.h>

#ifdef __FAST_MATH__
#error "ropewalk promises bits: build it without -ffast-math"
#endif
#if !HWY_IS_LITTLE_ENDIAN
#error "ropewalk supports little-endian machines only"
#endif

HWY_BEFORE_NAMESPACE();
namespace ropewalk::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Names of the dtypes as types: what lies in memory, and what computes.
struct F32 {
  using Mem = float;
  using Compute = float;
};
struct F64 {
  using Mem = double;
  using Compute = double;
};
struct F16 {
  using Mem = hwy::float16_t;
  using Compute = float;
};
struct BF16 {
  using Mem = uint16_t;
  using Compute = float;
};

template <class T>
using ComputeTag = hn::ScalableTag<typename T::Compute>;
template <class T>
using ComputeVec = hn::Vec<ComputeTag<T>>;

// What a store does with the memory: written through the caches, or streamed
// past them, in whole vectors or 16 bytes at a time.
enum class Write { kPlain, kStream, kStream16 };

template <Write kWrite, class D, class V>
HWY_INLINE void StoreVector(V v, D d, hn::TFromD<D>* p) {
  if constexpr (kWrite == Write::kPlain) {
    hn::StoreU(v, d, p);
#if !HWY_HAVE_SCALABLE
  } else if constexpr (kWrite == Write::kStream16 && D().MaxBytes() > 16) {
    const hn::Half<D> dh;
    StoreVector<kWrite>(hn::LowerHalf(dh, v), dh, p);
    StoreVector<kWrite>(hn::UpperHalf(dh, v), dh, p + hn::Lanes(dh));
#endif
  } else {
    hn::Stream(v, d, p);
  }
}

// ---- f32, f64

template <class T, class V>
HWY_INLINE void Load2(F32, const T* p, V& lo, V& hi) {
  const hn::DFromV<V> d;
  lo = hn::LoadU(d, p);
  hi = hn::LoadU(d, p + hn::Lanes(d));
}
template <class T, class V>
HWY_INLINE void Load2(F64, const T* p, V& lo, V& hi) {
  Load2(F32(), p, lo, hi);
}
template <Write kWrite, class T, class V>
HWY_INLINE void Store2(F32, V lo, V hi, T* p) {
  const hn::DFromV<V> d;
  StoreVector<kWrite>(lo, d, p);
  StoreVector<kWrite>(hi, d, p + hn::Lanes(d));
}
template <Write kWrite, class T, class V>
HWY_INLINE void Store2(F64, V lo, V hi, T* p) {
  Store2<kWrite>(F32(), lo, hi, p);
}

// ---- f16

// Round to nearest even, subnormals included, in the low half of each lane.
template <class V>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<hn::DFromV<V>>> RoundToF16Bits(V v) {
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto bits = hn::BitCast(du, v);
  const auto abs = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
  const auto sign = hn::ShiftRight<16>(hn::Xor(bits, abs));
  // Normal: rebias the exponent, add the half of a last place that the next
  // bit decides, shift. Values from 65520 carry into infinity.
  const auto odd = hn::And(hn::ShiftRight<13>(abs), hn::Set(du, 1u));
  auto r = hn::ShiftRight<13>(
      hn::Add(hn::Sub(abs, hn::Set(du, 0x38000000u - 0xFFFu)), odd));
  // Subnormal: the sum with 0.5 has a last place of 2^-24.
  const auto half = hn::Set(d, 0.5f);
  const auto tiny = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, abs), half)),
                            hn::BitCast(du, half));
  r = hn::IfThenElse(hn::Lt(abs, hn::Set(du, 0x38800000u)), tiny, r);
  r = hn::IfThenElse(hn::Ge(abs, hn::Set(du, 0x47800000u)),
                     hn::Set(du, 0x7C00u), r);
  r = hn::IfThenElse(hn::Gt(abs, hn::Set(du, 0x7F800000u)),
                     hn::Set(du, 0x7E00u), r);
  return hn::Or(r, sign);
}

// These have no instruction, and what Highway does instead takes infinities and
// NaNs for large numbers and does not round to nearest even.
#define ROPEWALK_EMULATE_F16 \
  (HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE2)

// L elements.
template <class D>
HWY_INLINE hn::Vec<D> LoadF16(D d, const hwy::float16_t* p) {
#if ROPEWALK_EMULATE_F16
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits =
      hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  const auto abs = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7FFFu)));
  // Rebias the exponent: once for numbers, twice for infinities and NaNs; of
  // subnormals the sum with 2^-14 minus 2^-14 is the number.
  const auto bias = hn::Set(du, 112u << 23);
  auto r = hn::Add(abs, bias);
  r = hn::IfThenElse(hn::Ge(abs, hn::Set(du, 0x7C00u << 13)), hn::Add(r, bias),
                     r);
  const auto least = hn::Set(du, 113u << 23);
  const auto tiny =
      hn::Sub(hn::BitCast(d, hn::Add(abs, least)), hn::BitCast(d, least));
  r = hn::IfThenElse(hn::Lt(abs, hn::Set(du, 0x0400u << 13)),
                     hn::BitCast(du, tiny), r);
  return hn::BitCast(d, hn::Or(r, sign));
#else
  const hn::Rebind<hwy::float16_t, D> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, p));
#endif
}

template <class V>
HWY_INLINE void Load2(F16, const hwy::float16_t* p, V& lo, V& hi) {
  const hn::DFromV<V> d;
  lo = LoadF16(d, p);
  hi = LoadF16(d, p + hn::Lanes(d));
}
template <Write kWrite, class V>
HWY_INLINE void Store2(F16, V lo, V hi, hwy::float16_t* p) {
  const hn::DFromV<V> d;
  const hn::Repartition<uint16_t, decltype(d)> du16;
  auto* bits = reinterpret_cast<uint16_t*>(p);
#if ROPEWALK_EMULATE_F16
  StoreVector<kWrite>(
      hn::OrderedTruncate2To(du16, RoundToF16Bits(lo), RoundToF16Bits(hi)),
      du16, bits);
#else
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  const hn::Rebind<uint16_t, decltype(d)> dh;
  StoreVector<kWrite>(hn::Combine(du16, hn::BitCast(dh, hn::DemoteTo(d16, hi)),
                                  hn::BitCast(dh, hn::DemoteTo(d16, lo))),
                      du16, bits);
#endif
}

// L elements.
template <class V>
HWY_INLINE void Store1(F16, V v, hwy::float16_t* p) {
  const hn::DFromV<V> d;
#if ROPEWALK_EMULATE_F16
  const hn::Rebind<uint16_t, decltype(d)> d16;
  hn::StoreU(hn::TruncateTo(d16, RoundToF16Bits(v)), d16,
             reinterpret_cast<uint16_t*>(p));
#else
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  hn::StoreU(hn::DemoteTo(d16, v), d16, p);
#endif
}
#undef ROPEWALK_EMULATE_F16

// ---- bf16

// Round to nearest even in the upper half of each lane; the lower half is
// rubbish. NaNs need no test as long as their lower half is zero, since then
// nothing carries: the results of arithmetic on bf16 data are such NaNs if the
// tables hold such ones, which PrepareTable sees to.
template <class V>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<hn::DFromV<V>>> RoundToBF16Bits(V v) {
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RebindToSigned<decltype(d)> di;
  const auto bits = hn::BitCast(du, v);
  const auto tie = hn::BitCast(di, hn::ShiftLeft<15>(bits));
  const auto bias =
      hn::IfNegativeThenElse(tie, hn::Set(di, 0x8000), hn::Set(di, 0x7FFF));
  return hn::Add(bits, hn::BitCast(du, bias));
}

// Natural order.
template <class V>
HWY_INLINE void Load2(BF16, const uint16_t* p, V& lo, V& hi) {
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  lo = hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, p))));
  hi = hn::BitCast(d, hn::ShiftLeft<16>(
                          hn::PromoteTo(du, hn::LoadU(d16, p + hn::Lanes(d)))));
}
template <Write kWrite, class V>
HWY_INLINE void Store2(BF16, V lo, V hi, uint16_t* p) {
  const hn::DFromV<V> d;
  const hn::Repartition<uint16_t, decltype(d)> du16;
  StoreVector<kWrite>(
      hn::OrderedTruncate2To(du16, hn::ShiftRight<16>(RoundToBF16Bits(lo)),
                             hn::ShiftRight<16>(RoundToBF16Bits(hi))),
      du16, p);
}

template <class V>
HWY_INLINE void Store1(BF16, V v, uint16_t* p) {
  const hn::Rebind<uint16_t, hn::DFromV<V>> d16;
  hn::StoreU(hn::TruncateTo(d16, hn::ShiftRight<16>(RoundToBF16Bits(v))), d16,
             p);
}

// Even and odd elements: two operations, no shuffle.
template <class V>
HWY_INLINE void LoadEvenOdd(const uint16_t* p, V& even, V& odd) {
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Repartition<uint16_t, decltype(d)> du16;
  const auto bits = hn::BitCast(du, hn::LoadU(du16, p));
  even = hn::BitCast(d, hn::ShiftLeft<16>(bits));
  odd = hn::BitCast(d, hn::And(bits, hn::Set(du, 0xFFFF0000u)));
}
template <Write kWrite, class V>
HWY_INLINE void StoreEvenOdd(V even, V odd, uint16_t* p) {
  const hn::DFromV<V> d;
  const hn::Repartition<uint16_t, decltype(d)> du16;
  const auto low = hn::BitCast(du16, hn::ShiftRight<16>(RoundToBF16Bits(even)));
  const auto high = hn::BitCast(du16, RoundToBF16Bits(odd));
  StoreVector<kWrite>(hn::OddEven(high, low), du16, p);
}

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ROPEWALK_KERNELS_CONVERT_INL_H_
