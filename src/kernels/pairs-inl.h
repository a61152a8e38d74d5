// Where the pairs of a block lie in memory, and in which lanes they are
// computed. A block is 2 L pairs in four vectors x0..x3. Per target.

#if defined(ROPEWALK_KERNELS_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPEWALK_KERNELS_PAIRS_INL_H_
#undef ROPEWALK_KERNELS_PAIRS_INL_H_
#else
#define ROPEWALK_KERNELS_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ropewalk::kernels::HWY_NAMESPACE {

// Which columns the vectors of a block hold.
enum class Order {
  kPairs,    // x0 x1: first elements 0..2L-1; x2 x3: second elements
  kEvenOdd,  // x0, x1: even and odd first elements; x2, x3 of the second ones
  kNatural,  // x0..x3: the 4 L elements as they lie side by side
};

// First elements of the block at p, second ones `part` further.
template <class T, Order kOrder>
struct Split {
  static constexpr bool kJoined = false;
  using Mem = typename T::Mem;

  template <class V>
  static HWY_INLINE void Load(const Mem* p, ptrdiff_t part, V& x0, V& x1, V& x2,
                              V& x3) {
    if constexpr (kOrder == Order::kEvenOdd) {
      LoadEvenOdd(p, x0, x1);
      LoadEvenOdd(p + part, x2, x3);
    } else {
      Load2(T(), p, x0, x1);
      Load2(T(), p + part, x2, x3);
    }
  }

  template <Write kWrite, class V>
  static HWY_INLINE void Store(V y0, V y1, V y2, V y3, Mem* p, ptrdiff_t part) {
    if constexpr (kOrder == Order::kEvenOdd) {
      StoreEvenOdd<kWrite>(y0, y1, p);
      StoreEvenOdd<kWrite>(y2, y3, p + part);
    } else {
      Store2<kWrite>(T(), y0, y1, p);
      Store2<kWrite>(T(), y2, y3, p + part);
    }
  }

  // Two blocks, the other one's pairs from `second` on, in ascending order:
  // left to the compiler, the order costs up to a fifth.
  template <class V>
  static HWY_INLINE void LoadTwo(const Mem* p, ptrdiff_t part, size_t second,
                                 V& x0, V& x1, V& x2, V& x3, V& x4, V& x5,
                                 V& x6, V& x7) {
    if constexpr (kOrder == Order::kEvenOdd) {
      LoadEvenOdd(p, x0, x1);
      HWY_FENCE;
      LoadEvenOdd(p + second, x4, x5);
      HWY_FENCE;
      LoadEvenOdd(p + part, x2, x3);
      HWY_FENCE;
      LoadEvenOdd(p + part + second, x6, x7);
    } else {
      Load2(T(), p, x0, x1);
      HWY_FENCE;
      Load2(T(), p + second, x4, x5);
      HWY_FENCE;
      Load2(T(), p + part, x2, x3);
      HWY_FENCE;
      Load2(T(), p + part + second, x6, x7);
    }
    HWY_FENCE;
  }
};

// The block's 4 L elements side by side at p. bf16 gets the order of pairs for
// free, since even and odd elements are what it loads.
template <class T, Order kOrder>
struct Joined {
  static constexpr bool kJoined = true;
  using Mem = typename T::Mem;
  static constexpr bool kIsBF16 = hwy::IsSame<T, BF16>();

  template <class V>
  static HWY_INLINE void Load(const Mem* p, ptrdiff_t /*part*/, V& x0, V& x1,
                              V& x2, V& x3) {
    const hn::DFromV<V> d;
    if constexpr (kIsBF16) {
      LoadEvenOdd(p, x0, x2);
      LoadEvenOdd(p + 2 * hn::Lanes(d), x1, x3);
    } else if constexpr (kOrder == Order::kNatural) {
      Load2(T(), p, x0, x1);
      Load2(T(), p + 2 * hn::Lanes(d), x2, x3);
    } else {
      V v0, v1, v2, v3;
      Load2(T(), p, v0, v1);
      Load2(T(), p + 2 * hn::Lanes(d), v2, v3);
      x0 = hn::ConcatEven(d, v1, v0);
      x1 = hn::ConcatEven(d, v3, v2);
      x2 = hn::ConcatOdd(d, v1, v0);
      x3 = hn::ConcatOdd(d, v3, v2);
    }
  }

  template <Write kWrite, class V>
  static HWY_INLINE void Store(V y0, V y1, V y2, V y3, Mem* p,
                               ptrdiff_t /*part*/) {
    const hn::DFromV<V> d;
    Mem* p2 = p + 2 * hn::Lanes(d);
    if constexpr (kIsBF16) {
      StoreEvenOdd<kWrite>(y0, y2, p);
      StoreEvenOdd<kWrite>(y1, y3, p2);
    } else if constexpr (kOrder == Order::kNatural) {
      Store2<kWrite>(T(), y0, y1, p);
      Store2<kWrite>(T(), y2, y3, p2);
    } else {
      Store2<kWrite>(T(), hn::InterleaveWholeLower(d, y0, y2),
                     hn::InterleaveWholeUpper(d, y0, y2), p);
      Store2<kWrite>(T(), hn::InterleaveWholeLower(d, y1, y3),
                     hn::InterleaveWholeUpper(d, y1, y3), p2);
    }
  }

  template <class V>
  static HWY_INLINE void LoadTwo(const Mem* p, ptrdiff_t part, size_t second,
                                 V& x0, V& x1, V& x2, V& x3, V& x4, V& x5,
                                 V& x6, V& x7) {
    Load(p, part, x0, x1, x2, x3);
    HWY_FENCE;
    Load(p + 2 * second, part, x4, x5, x6, x7);
    HWY_FENCE;
  }
};

// In, X, Out: how dy or x, the x of dcos and dsin, and the result lie.
template <class T, Order kOrder_, class In_, class X_, class Out_>
struct FormOf {
  using Type = T;
  using In = In_;
  using X = X_;
  using Out = Out_;
  static constexpr Order kOrder = kOrder_;
};

template <class T>
inline constexpr Order kSplitOrder = hwy::IsSame<T, BF16>() ? Order::kEvenOdd
                                                            : Order::kPairs;
template <class T>
inline constexpr Order kJoinedOrder = hwy::IsSame<T, BF16>() ? Order::kPairs
                                                             : Order::kNatural;

template <class T>
using SplitForm = FormOf<T, kSplitOrder<T>, Split<T, kSplitOrder<T>>,
                         Split<T, kSplitOrder<T>>, Split<T, kSplitOrder<T>>>;
template <class T>
using JoinedForm =
    FormOf<T, kJoinedOrder<T>, Joined<T, kJoinedOrder<T>>,
           Joined<T, kJoinedOrder<T>>, Joined<T, kJoinedOrder<T>>>;
template <class T>
using JoinedToSplitForm =
    FormOf<T, Order::kPairs, Joined<T, Order::kPairs>, Joined<T, Order::kPairs>,
           Split<T, Order::kPairs>>;
template <class T>
using SplitToJoinedForm =
    FormOf<T, Order::kPairs, Split<T, Order::kPairs>, Joined<T, Order::kPairs>,
           Joined<T, Order::kPairs>>;

// Numbers of a segment in kernel order.
template <class Form>
HWY_INLINE size_t SegmentNumbers(size_t pairs) {
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  return (pairs + step - 1) / step * step * 4;
}

// The other element of each lane's pair.
template <Order kOrder, class V>
HWY_INLINE void Partners(V x0, V x1, V x2, V x3, V& p0, V& p1, V& p2, V& p3) {
  if constexpr (kOrder == Order::kNatural) {
    const hn::DFromV<V> d;
    p0 = hn::Reverse2(d, x0);
    p1 = hn::Reverse2(d, x1);
    p2 = hn::Reverse2(d, x2);
    p3 = hn::Reverse2(d, x3);
  } else {
    p0 = x2;
    p1 = x3;
    p2 = x0;
    p3 = x1;
  }
}

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ROPEWALK_KERNELS_PAIRS_INL_H_
