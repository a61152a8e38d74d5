// Tables into kernel order, and sums out of it. Per target.

#if defined(ROPEWALK_KERNELS_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPEWALK_KERNELS_TABLES_INL_H_
#undef ROPEWALK_KERNELS_TABLES_INL_H_
#else
#define ROPEWALK_KERNELS_TABLES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "kernels/pairs-inl.h"
#include "kernels/row_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace ropewalk::kernels::HWY_NAMESPACE {

template <class D>
HWY_INLINE hn::Vec<D> QuietNaN(D d) {
  using Bits = hn::TFromD<hn::RebindToUnsigned<D>>;
  constexpr int kSignificand = hwy::MantissaBits<hn::TFromD<D>>();
  constexpr Bits kOnes = static_cast<Bits>(~Bits{0}) >> 1;
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(
      d, hn::Set(du, kOnes >> (kSignificand - 1) << (kSignificand - 1)));
}

// Four vectors in the order of pairs, brought into the form's order and stored.
// For bf16 data NaNs become the one quiet NaN whose lower half is zero (see
// RoundToBF16Bits).
template <class Form, class V, class C>
HWY_INLINE void StoreTable(V a0, V a1, V b0, V b1, C* table) {
  constexpr Order kOrder = Form::kOrder;
  const hn::DFromV<V> d;
  const size_t n = hn::Lanes(d);
  if constexpr (hwy::IsSame<typename Form::Type, BF16>()) {
    const V nan = QuietNaN(d);
    a0 = hn::IfThenElse(hn::IsNaN(a0), nan, a0);
    a1 = hn::IfThenElse(hn::IsNaN(a1), nan, a1);
    b0 = hn::IfThenElse(hn::IsNaN(b0), nan, b0);
    b1 = hn::IfThenElse(hn::IsNaN(b1), nan, b1);
  }
  if constexpr (kOrder == Order::kPairs) {
    hn::Store(a0, d, table);
    hn::Store(a1, d, table + n);
    hn::Store(b0, d, table + 2 * n);
    hn::Store(b1, d, table + 3 * n);
  } else if constexpr (kOrder == Order::kEvenOdd) {
    hn::Store(hn::ConcatEven(d, a1, a0), d, table);
    hn::Store(hn::ConcatOdd(d, a1, a0), d, table + n);
    hn::Store(hn::ConcatEven(d, b1, b0), d, table + 2 * n);
    hn::Store(hn::ConcatOdd(d, b1, b0), d, table + 3 * n);
  } else {
    hn::Store(hn::InterleaveWholeLower(d, a0, b0), d, table);
    hn::Store(hn::InterleaveWholeUpper(d, a0, b0), d, table + n);
    hn::Store(hn::InterleaveWholeLower(d, a1, b1), d, table + 2 * n);
    hn::Store(hn::InterleaveWholeUpper(d, a1, b1), d, table + 3 * n);
  }
}

// 2 L pairs of one table from pair i on, in the order of pairs.
template <class TableT, class V>
HWY_INLINE void LoadTable(const TableShape& shape, const std::byte* from,
                          size_t i, V& a0, V& a1, V& b0, V& b1) {
  using Mem = typename TableT::Mem;
  const auto* a = reinterpret_cast<const Mem*>(from);
  const auto* b = reinterpret_cast<const Mem*>(from + shape.second);
  if (shape.joined) {
    Joined<TableT, Order::kPairs>::Load(a + 2 * i, 0, a0, a1, b0, b1);
  } else {
    Load2(TableT(), a + i, a0, a1);
    Load2(TableT(), b + i, b0, b1);
  }
}

// A block of values that load(sin?, a0, a1, b0, b1) brings. Forward, the first
// element of a pair gets -sin of its own column times its partner; backward,
// the partner's sin: see RotateStep.
template <class Form, class Load>
HWY_INLINE void PrepareBlockBy(Direction direction, const Load& load,
                               typename Form::Type::Compute* table) {
  using V = ComputeVec<typename Form::Type>;
  const size_t n = hn::Lanes(ComputeTag<typename Form::Type>());
  V a0, a1, b0, b1;
  load(false, a0, a1, b0, b1);
  StoreTable<Form>(a0, a1, b0, b1, table);
  load(true, a0, a1, b0, b1);
  a0 = hn::Neg(a0);
  a1 = hn::Neg(a1);
  if (direction == Direction::kForward) {
    StoreTable<Form>(a0, a1, b0, b1, table + 4 * n);
  } else {
    StoreTable<Form>(b0, b1, a0, a1, table + 4 * n);
  }
}

template <class Form, class TableT>
HWY_INLINE void PrepareBlock(const TableShape& shape, const std::byte* cos,
                             const std::byte* sin, size_t i,
                             typename Form::Type::Compute* table) {
  using V = ComputeVec<typename Form::Type>;
  PrepareBlockBy<Form>(
      shape.direction,
      [&](bool second, V& a0, V& a1, V& b0, V& b1) HWY_ATTR {
        LoadTable<TableT>(shape, second ? sin : cos, i, a0, a1, b0, b1);
      },
      table);
}

// A segment of fewer pairs than a block.
template <class Form, class TableT>
HWY_NOINLINE void PrepareShort(const TableShape& shape, const std::byte* cos,
                               const std::byte* sin,
                               typename Form::Type::Compute* table) {
  using Mem = typename TableT::Mem;
  constexpr size_t kHalf = 2 * HWY_MAX_BYTES;
  HWY_ALIGN Mem buffer[2][2 * kHalf] = {};
  TableShape padded = shape;
  padded.second = shape.second == 0 ? 0 : kHalf * sizeof(Mem);
  const std::byte* from[2] = {cos, sin};
  const size_t bytes = (shape.joined ? 2 : 1) * shape.pairs * sizeof(Mem);
  for (int k = 0; k < 2; ++k) {
    memcpy(buffer[k], from[k], bytes);
    if (!shape.joined) {
      memcpy(buffer[k] + padded.second / sizeof(Mem), from[k] + shape.second,
             bytes);
    }
  }
  PrepareBlock<Form, TableT>(
      padded, reinterpret_cast<const std::byte*>(buffer[0]),
      reinterpret_cast<const std::byte*>(buffer[1]), 0, table);
}

template <class Form, class TableT>
void PrepareTable(const TableShape& shape, const std::byte* cos,
                  const std::byte* sin, std::byte* to) noexcept {
  auto* table = reinterpret_cast<typename Form::Type::Compute*>(to);
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  const size_t pairs = shape.pairs;
  for (size_t segment = 0; segment < shape.segments; ++segment) {
    if (pairs < step) {
      PrepareShort<Form, TableT>(shape, cos, sin, table);
      table += 4 * step;
    } else {
      for (size_t i = 0; i < pairs; i += step, table += 4 * step) {
        PrepareBlock<Form, TableT>(shape, cos, sin, HWY_MIN(i, pairs - step),
                                   table);
      }
    }
    cos += shape.segment;
    sin += shape.segment;
  }
}

// 2 L values from pair i on, each from the row of its axis. Rows of other axes
// are read and left out: what is put together in memory by narrow stores waits
// to be read as vectors.
template <class TableT, class V>
HWY_INLINE void LoadAxes(const TableShape& shape, const std::byte* const* rows,
                         ptrdiff_t offset, size_t i, V& a0, V& a1) {
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const hn::Rebind<uint32_t, decltype(d)> d32;
  const size_t n = hn::Lanes(d);
  const auto axis_at = [&](size_t at) HWY_ATTR {
    const auto axis = hn::PromoteTo(d32, hn::LoadU(d8, shape.axis + at));
    if constexpr (sizeof(hn::TFromD<decltype(d)>) == 8) {
      return hn::PromoteTo(du, axis);
    } else {
      return axis;
    }
  };
  const auto axis0 = axis_at(i);
  const auto axis1 = axis_at(i + n);
  for (int k = 0; k < shape.axes; ++k) {
    V v0, v1;
    Load2(TableT(),
          reinterpret_cast<const typename TableT::Mem*>(rows[k] + offset) + i,
          v0, v1);
    const auto id = hn::Set(du, static_cast<hn::TFromD<decltype(du)>>(k));
    a0 = k == 0 ? v0
                : hn::IfThenElse(hn::RebindMask(d, hn::Eq(axis0, id)), v0, a0);
    a1 = k == 0 ? v1
                : hn::IfThenElse(hn::RebindMask(d, hn::Eq(axis1, id)), v1, a1);
  }
}

// Fewer pairs than a block.
template <class Form, class TableT>
HWY_NOINLINE void PrepareShortAxes(const TableShape& shape,
                                   const std::byte* const* rows, ptrdiff_t sin,
                                   typename Form::Type::Compute* table) {
  constexpr size_t kSize = sizeof(typename TableT::Mem);
  HWY_ALIGN std::byte row[2][2 * HWY_MAX_BYTES];  // at most L pairs
  for (size_t i = 0; i < shape.pairs; ++i) {
    const std::byte* from = rows[shape.axis[i]] + i * kSize;
    memcpy(row[0] + i * kSize, from, kSize);
    memcpy(row[1] + i * kSize, from + sin, kSize);
  }
  PrepareShort<Form, TableT>(shape, row[0], row[1], table);
}

template <class Form, class TableT>
void PrepareAxes(const TableShape& shape, const std::byte* const* rows,
                 ptrdiff_t sin, std::byte* to) noexcept {
  using V = ComputeVec<typename Form::Type>;
  auto* table = reinterpret_cast<typename Form::Type::Compute*>(to);
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  if (shape.pairs < step) {
    PrepareShortAxes<Form, TableT>(shape, rows, sin, table);
    return;
  }
  for (size_t i = 0; i < shape.pairs; i += step, table += 4 * step) {
    PrepareBlockBy<Form>(
        shape.direction,
        [&](bool second, V& a0, V& a1, V& b0, V& b1) HWY_ATTR {
          LoadAxes<TableT>(shape, rows, second ? sin : 0,
                           HWY_MIN(i, shape.pairs - step), a0, a1);
          b0 = a0;
          b1 = a1;
        },
        table);
  }
}

// ---- Sums

// The 4 L sums of a block from kernel order into table order, first elements
// times `sign`: calls put(second, at, lo, hi) for the two vectors that belong
// to the places from `at` on of the first or of the second elements; if joined,
// of both, which alternate.
template <Order kOrder, class Put>
HWY_INLINE void OrderSums(const double* sums, size_t step, double sign,
                          bool joined, const Put& put) {
  const hn::ScalableTag<double> d;
  const size_t n = hn::Lanes(d);
  const double* second = sums + step;
  const auto signs = hn::Set(d, sign);
  const auto zero = hn::Zero(d);  // added, since a sum of nothing is not -0
  const auto first_at = [&](size_t i) HWY_ATTR {
    return hn::Add(hn::Mul(hn::Load(d, sums + i), signs), zero);
  };
  const auto put_alternating = [&](bool half, size_t i, auto v0,
                                   auto v1) HWY_ATTR {
    put(half, 2 * i, hn::InterleaveWholeLower(d, v0, v1),
        hn::InterleaveWholeUpper(d, v0, v1));
  };
  if (kOrder == Order::kNatural && joined) {
    const auto alternate = hn::OddEven(hn::Set(d, 1.0), signs);
    const auto at = [&](size_t i) HWY_ATTR {
      return hn::Add(hn::Mul(hn::Load(d, sums + i), alternate), zero);
    };
    for (size_t i = 0; i < 2 * step; i += 2 * n)
      put(false, i, at(i), at(i + n));
  } else if (kOrder == Order::kPairs && joined) {
    for (size_t i = 0; i < step; i += n) {
      put_alternating(false, i, first_at(i), hn::Load(d, second + i));
    }
  } else if (kOrder == Order::kPairs) {
    for (size_t i = 0; i < step; i += 2 * n) {
      put(false, i, first_at(i), first_at(i + n));
      put(true, i, hn::Load(d, second + i), hn::Load(d, second + i + n));
    }
  } else if (kOrder == Order::kEvenOdd && !joined) {
    for (size_t i = 0; i < step / 2; i += n) {
      put_alternating(false, i, first_at(i), first_at(step / 2 + i));
      put_alternating(true, i, hn::Load(d, second + i),
                      hn::Load(d, second + step / 2 + i));
    }
  } else {  // gathered columns of joined pairs: rare
    HWY_ALIGN double ordered[2][2 * HWY_MAX_BYTES];
    double* a = ordered[0];
    double* b = joined ? ordered[0] + 1 : ordered[1];
    for (size_t i = 0; i < step; ++i) {
      const size_t from =
          kOrder == Order::kNatural ? 2 * i : i % 2 * (step / 2) + i / 2;
      const size_t to = joined ? 2 * i : i;
      a[to] = sign * sums[from] + 0.0;
      b[to] = sums[from + (kOrder == Order::kNatural ? 1 : step)];
    }
    for (size_t i = 0; i < (joined ? 2 : 1) * step; i += 2 * n) {
      put(false, i, hn::Load(d, a + i), hn::Load(d, a + i + n));
      if (joined) continue;
      put(true, i, hn::Load(d, b + i), hn::Load(d, b + i + n));
    }
  }
}

// The same, stored as they are: first elements at a, second ones at b.
template <Order kOrder>
HWY_INLINE void StoreOrdered(const double* sums, size_t step, double sign,
                             bool joined, double* a, double* b) {
  const hn::ScalableTag<double> d;
  OrderSums<kOrder>(sums, step, sign, joined,
                    [&](bool second, size_t at, auto lo, auto hi) HWY_ATTR {
                      double* to = (second ? b : a) + at;
                      hn::StoreU(lo, d, to);
                      hn::StoreU(hi, d, to + hn::Lanes(d));
                    });
}

template <class Form>
void OrderSegment(const SumsArgs& a) noexcept {
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  const double signs[2] = {1.0, -1.0};
  double* outs[2] = {a.dcos, a.dsin};
  for (size_t i = 0; i < a.pairs; i += step) {
    const size_t pair = a.pairs < step ? 0 : HWY_MIN(i, a.pairs - step);
    for (int k = 0; k < 2; ++k) {
      const double* from = a.sums + i * 4 + static_cast<size_t>(k) * 2 * step;
      double* first = a.joined ? outs[k] + 2 * pair : outs[k] + pair;
      if (a.pairs >= step) {
        StoreOrdered<Form::kOrder>(from, step, signs[k], a.joined, first,
                                   first + a.pairs);
        continue;
      }
      // Fewer pairs than a block: ordered aside, then copied.
      HWY_ALIGN double buffer[2 * HWY_MAX_BYTES];
      double* half = buffer + step;
      StoreOrdered<Form::kOrder>(from, step, signs[k], a.joined, buffer, half);
      const size_t run = (a.joined ? 2 : 1) * a.pairs * sizeof(double);
      memcpy(first, buffer, run);
      if (!a.joined) memcpy(first + a.pairs, half, run);
    }
  }
}

// A double as the f32 that a later rounding to 16 bits takes as if it came from
// the double itself: cut off, with the last bit set if anything was cut.
template <class D, class V>
HWY_INLINE hn::Vec<hn::Rebind<float, D>> ToOddF32(D d, V v) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<float, D> df;
  const auto bits = hn::BitCast(du, v);
  const auto cut = hn::And(bits, hn::Set(du, (uint64_t{1} << 29) - 1));
  const auto odd = hn::IfThenElseZero(hn::Ne(cut, hn::Zero(du)),
                                      hn::Set(du, uint64_t{1} << 29));
  const auto sticky = hn::BitCast(d, hn::Or(hn::Xor(bits, cut), odd));
  // Below 2^-126 f32 has fewer bits; what matters there are bf16's multiples
  // of 2^-133, to which a sum with 1.5 * 2^-81 rounds.
  const auto magic = hn::Set(d, 0x1.8p-81);
  const auto tiny = hn::CopySign(hn::Sub(hn::Add(v, magic), magic), v);
  const auto number =
      hn::IfThenElse(hn::Lt(hn::Abs(v), hn::Set(d, 0x1p-126)), tiny, sticky);
  // The low bits of a NaN would carry into its sign (see RoundToBF16Bits).
  return hn::DemoteTo(df, hn::IfThenElse(hn::IsNaN(v), QuietNaN(d), number));
}

template <Write kWrite, class T, class V>
HWY_INLINE void StoreRounded(T, V lo, V hi, typename T::Mem* p) {
  const hn::DFromV<V> d;
  if constexpr (hwy::IsSame<T, F64>()) {
    Store2<kWrite>(T(), lo, hi, p);
  } else {
    const hn::Rebind<float, decltype(d)> df;
    const hn::Twice<decltype(df)> df2;
    if constexpr (hwy::IsSame<T, F32>()) {
      StoreVector<kWrite>(
          hn::Combine(df2, hn::DemoteTo(df, hi), hn::DemoteTo(df, lo)), df2, p);
    } else {
      Store1(T(), hn::Combine(df2, ToOddF32(d, hi), ToOddF32(d, lo)), p);
    }
  }
}

template <class T, Write kWrite>
HWY_INLINE void RoundSums(const double* sums, size_t count,
                          typename T::Mem* out) {
  using Mem = typename T::Mem;
  const hn::ScalableTag<double> d;
  const size_t step = 2 * hn::Lanes(d);
  size_t i = 0;
  for (; i + step <= count; i += step) {
    StoreRounded<kWrite>(T(), hn::LoadU(d, sums + i),
                         hn::LoadU(d, sums + i + hn::Lanes(d)), out + i);
  }
  if (i == count) return;
  HWY_ALIGN double rest[HWY_MAX_BYTES] = {};
  HWY_ALIGN Mem rounded[HWY_MAX_BYTES];
  memcpy(rest, sums + i, (count - i) * sizeof(double));
  StoreRounded<Write::kPlain>(T(), hn::Load(d, rest),
                              hn::Load(d, rest + hn::Lanes(d)), rounded);
  memcpy(out + i, rounded, (count - i) * sizeof(Mem));
}

template <class T>
void StoreSums(const StoreSumsArgs& a) noexcept {
  RoundSums<T, Write::kPlain>(a.sums, a.count,
                              reinterpret_cast<typename T::Mem*>(a.out));
}

// A segment whose blocks do not overlap. kWrite: streamed rows are aligned to
// the vector, and so are their parts.
template <class Form, class T, Write kWrite>
HWY_INLINE void FinishSegment(const SumsShape& shape, const double* sums,
                              typename T::Mem* dcos, typename T::Mem* dsin) {
  using Mem = typename T::Mem;
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  const ptrdiff_t part = shape.second / static_cast<ptrdiff_t>(sizeof(Mem));
  const auto finish = [&](const double* from, double sign, Mem* out) HWY_ATTR {
    OrderSums<Form::kOrder>(
        from, step, sign, shape.joined,
        [&](bool second, size_t at, auto lo, auto hi) HWY_ATTR {
          StoreRounded<kWrite>(T(), lo, hi, out + (second ? part : 0) + at);
        });
  };
  for (size_t i = 0; i < shape.pairs; i += step, sums += 4 * step) {
    const size_t column = (shape.joined ? 2 : 1) * i;
    finish(sums, 1.0, dcos + column);
    finish(sums + 2 * step, -1.0, dsin + column);
  }
}

template <class Form, class T, Write kWrite>
void FinishRow(const SumsShape& shape, const double* sums, std::byte* dcos,
               std::byte* dsin) noexcept {
  using Mem = typename T::Mem;
  const size_t pairs = shape.pairs;
  const size_t numbers = SegmentNumbers<Form>(pairs);
  const bool whole =
      pairs % (2 * hn::Lanes(ComputeTag<typename Form::Type>())) == 0;
  for (size_t s = 0; s < shape.segments; ++s, sums += numbers) {
    if (whole) {
      FinishSegment<Form, T, kWrite>(shape, sums, reinterpret_cast<Mem*>(dcos),
                                     reinterpret_cast<Mem*>(dsin));
    } else {
      HWY_ALIGN double ordered[2][2 * kMostSegmentPairs];
      OrderSegment<Form>({sums, shape.joined, pairs, ordered[0], ordered[1]});
      std::byte* rows[2] = {dcos, dsin};
      for (int k = 0; k < 2; ++k) {
        auto* out = reinterpret_cast<Mem*>(rows[k]);
        const size_t run = (shape.joined ? 2 : 1) * pairs;
        RoundSums<T, kWrite>(ordered[k], run, out);
        if (shape.joined) continue;
        RoundSums<T, kWrite>(ordered[k] + pairs, pairs,
                             reinterpret_cast<Mem*>(rows[k] + shape.second));
      }
    }
    dcos += shape.segment;
    dsin += shape.segment;
  }
}

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ROPEWALK_KERNELS_TABLES_INL_H_
