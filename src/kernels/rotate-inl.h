// The rotation, and the products of dcos and dsin that go with it. Per target.

#if defined(ROPEWALK_KERNELS_ROTATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPEWALK_KERNELS_ROTATE_INL_H_
#undef ROPEWALK_KERNELS_ROTATE_INL_H_
#else
#define ROPEWALK_KERNELS_ROTATE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernels/pairs-inl.h"
#include "kernels/row_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace ropewalk::kernels::HWY_NAMESPACE {

constexpr Write WriteOf(StoreKind kind) {
  return kind == StoreKind::kStream     ? Write::kStream
         : kind == StoreKind::kStream16 ? Write::kStream16
                                        : Write::kPlain;
}

// The only rotation in the library: two products and a sum, never fused. sin
// comes with the sign and the crossing that the lane needs.
template <class V>
HWY_INLINE V RotateStep(V x, V partner, V cos, V sin) {
  return hn::Add(hn::Mul(x, cos), hn::Mul(partner, sin));
}

// Rotates one block with the table's next 8 L numbers.
template <Order kOrder, class V, class C>
HWY_INLINE void RotateBlock(V& x0, V& x1, V& x2, V& x3, const C* table) {
  const hn::DFromV<V> d;
  const size_t n = hn::Lanes(d);
  V p0, p1, p2, p3;
  Partners<kOrder>(x0, x1, x2, x3, p0, p1, p2, p3);
  x0 = RotateStep(x0, p0, hn::Load(d, table), hn::Load(d, table + 4 * n));
  x1 = RotateStep(x1, p1, hn::Load(d, table + n), hn::Load(d, table + 5 * n));
  x2 = RotateStep(x2, p2, hn::Load(d, table + 2 * n),
                  hn::Load(d, table + 6 * n));
  x3 = RotateStep(x3, p3, hn::Load(d, table + 3 * n),
                  hn::Load(d, table + 7 * n));
}

// What is done with a row's products for dcos and dsin: the first of up to four
// is stored in the block, two are added to it, and with the fourth the block
// goes to the sums.
enum class Phase { kNone, kFirst, kAdd, kLast };

template <Phase kPhase, class V, class C>
HWY_INLINE void AddProduct(V product, C* HWY_RESTRICT block,
                           double* HWY_RESTRICT sums) {
  const hn::DFromV<V> d;
  if constexpr (kPhase == Phase::kFirst) {
    hn::Store(product, d, block);
  } else if constexpr (kPhase == Phase::kAdd) {
    hn::Store(hn::Add(hn::Load(d, block), product), d, block);
  } else {
    const V sum = hn::Add(hn::Load(d, block), product);
    const hn::ScalableTag<double> dd;
    if constexpr (hwy::IsSame<C, double>()) {
      hn::Store(hn::Add(hn::Load(dd, sums), sum), dd, sums);
    } else {
      double* upper = sums + hn::Lanes(dd);
      hn::Store(hn::Add(hn::Load(dd, sums), hn::PromoteLowerTo(dd, sum)), dd,
                sums);
      hn::Store(hn::Add(hn::Load(dd, upper), hn::PromoteUpperTo(dd, sum)), dd,
                upper);
    }
  }
}

// dy * x̂ and dy * partner; the sign of the latter is left to FinishSums.
template <Order kOrder, Phase kPhase, class V, class C>
HWY_INLINE void AddProducts(V g0, V g1, V g2, V g3, V x0, V x1, V x2, V x3,
                            C* block, double* sums) {
  const hn::DFromV<V> d;
  const size_t n = hn::Lanes(d);
  V p0, p1, p2, p3;
  Partners<kOrder>(x0, x1, x2, x3, p0, p1, p2, p3);
  AddProduct<kPhase>(hn::Mul(g0, x0), block, sums);
  AddProduct<kPhase>(hn::Mul(g1, x1), block + n, sums + n);
  AddProduct<kPhase>(hn::Mul(g2, x2), block + 2 * n, sums + 2 * n);
  AddProduct<kPhase>(hn::Mul(g3, x3), block + 3 * n, sums + 3 * n);
  AddProduct<kPhase>(hn::Mul(g0, p0), block + 4 * n, sums + 4 * n);
  AddProduct<kPhase>(hn::Mul(g1, p1), block + 5 * n, sums + 5 * n);
  AddProduct<kPhase>(hn::Mul(g2, p2), block + 6 * n, sums + 6 * n);
  AddProduct<kPhase>(hn::Mul(g3, p3), block + 7 * n, sums + 7 * n);
}

// The pairs of a segment that a block of fewer than 2 L pairs holds are moved
// through a buffer of a whole block, zeros behind them.
template <class Layout>
struct BlockBuffer {
  using Mem = typename Layout::Mem;
  HWY_ALIGN Mem mem[2 * HWY_MAX_BYTES];  // 4 L elements of any dtype
  ptrdiff_t part;

  explicit BlockBuffer(size_t block_pairs)
      : part(static_cast<ptrdiff_t>(block_pairs)) {
    memset(mem, 0, 2 * block_pairs * sizeof(Mem));
  }
  void CopyIn(const Mem* p, ptrdiff_t p_part, size_t pairs) {
    if constexpr (Layout::kJoined) {
      memcpy(mem, p, 2 * pairs * sizeof(Mem));
    } else {
      memcpy(mem, p, pairs * sizeof(Mem));
      memcpy(mem + part, p + p_part, pairs * sizeof(Mem));
    }
  }
  // `from`: the first pair of the buffer to copy, to the pair `from` of p.
  void CopyOut(Mem* p, ptrdiff_t p_part, size_t from, size_t to) const {
    if constexpr (Layout::kJoined) {
      memcpy(p + 2 * from, mem + 2 * from, 2 * (to - from) * sizeof(Mem));
    } else {
      memcpy(p + from, mem + from, (to - from) * sizeof(Mem));
      memcpy(p + p_part + from, mem + part + from, (to - from) * sizeof(Mem));
    }
  }
  // The same with non-temporal stores: all addresses are multiples of 16.
  void StreamOut(Mem* p, ptrdiff_t p_part, size_t from, size_t to) const {
    if constexpr (Layout::kJoined) {
      Stream(mem + 2 * from, mem + 2 * to, p + 2 * from);
    } else {
      Stream(mem + from, mem + to, p + from);
      Stream(mem + part + from, mem + part + to, p + p_part + from);
    }
  }

 private:
  static void Stream(const Mem* begin, const Mem* end, Mem* out) {
    const hn::FixedTag<uint8_t, 16> d8;
    const auto* from = reinterpret_cast<const uint8_t*>(begin);
    auto* to = reinterpret_cast<uint8_t*>(out);
    for (; from < reinterpret_cast<const uint8_t*>(end); from += 16, to += 16) {
      hn::Stream(hn::LoadU(d8, from), d8, to);
    }
  }
};

// Bytes between a read and the prefetch of what will be read, as measured: CPUs
// with AVX-512 have the longer way to memory. 16-bit rows want twice as many.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
#define ROPEWALK_AHEAD 4096
#else
#define ROPEWALK_AHEAD 1024
#endif
template <class Mem>
constexpr size_t kPrefetchAhead = ROPEWALK_AHEAD*(sizeof(Mem) >= 4 ? 1 : 2);
#undef ROPEWALK_AHEAD

template <class Layout>
HWY_INLINE void PrefetchBlock(const typename Layout::Mem* p, ptrdiff_t part,
                              size_t block_pairs) {
  using Mem = typename Layout::Mem;
  constexpr size_t kLine = 64 / sizeof(Mem);
  constexpr size_t kAhead = kPrefetchAhead<Mem> / sizeof(Mem);
  const size_t run = Layout::kJoined ? 2 * block_pairs : block_pairs;
  for (size_t i = 0; i < run; i += kLine) {
    hwy::Prefetch(p + kAhead + i);
    if constexpr (!Layout::kJoined) hwy::Prefetch(p + part + kAhead + i);
  }
}

// Address of pair i of a segment.
template <class Layout, class Mem>
HWY_INLINE Mem* PairAt(Mem* p, size_t i) {
  return p + (Layout::kJoined ? 2 * i : i);
}

template <class Form>
struct Segment {
  using Mem = typename Form::Type::Mem;
  using Compute = typename Form::Type::Compute;
  const Mem* in;
  const Mem* x;
  Mem* out;
  ptrdiff_t in_part, x_part, out_part;
  size_t pairs;
  const Compute* table;
  Compute* block;
  double* sums;
};

// The work on a block that is loaded: `index` is its number in the tables.
template <class Form, bool kRotate, Phase kPhase, class V>
HWY_INLINE void ComputeBlock(const Segment<Form>& s, size_t index, V& g0, V& g1,
                             V& g2, V& g3, V x0, V x1, V x2, V x3) {
  const size_t at = index * 8 * hn::Lanes(hn::DFromV<V>());
  if constexpr (kPhase != Phase::kNone) {
    AddProducts<Form::kOrder, kPhase>(g0, g1, g2, g3, x0, x1, x2, x3,
                                      s.block + at, s.sums + at);
  }
  if constexpr (kRotate) {
    RotateBlock<Form::kOrder>(g0, g1, g2, g3, s.table + at);
  }
}

// Fewer pairs than a block.
template <class Form, bool kRotate, StoreKind kKind, Phase kPhase>
HWY_NOINLINE void RunShortSegment(const Segment<Form>& s) {
  using V = ComputeVec<typename Form::Type>;
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  V g0, g1, g2, g3;
  V x0, x1, x2, x3;
  BlockBuffer<typename Form::In> in(step);
  in.CopyIn(s.in, s.in_part, s.pairs);
  Form::In::Load(in.mem, in.part, g0, g1, g2, g3);
  x0 = x1 = x2 = x3 = g0;
  if constexpr (kPhase != Phase::kNone) {
    BlockBuffer<typename Form::X> x(step);
    x.CopyIn(s.x, s.x_part, s.pairs);
    Form::X::Load(x.mem, x.part, x0, x1, x2, x3);
  }
  ComputeBlock<Form, kRotate, kPhase>(s, 0, g0, g1, g2, g3, x0, x1, x2, x3);
  if constexpr (kRotate) {
    BlockBuffer<typename Form::Out> out(step);
    Form::Out::template Store<Write::kPlain>(g0, g1, g2, g3, out.mem, out.part);
    if constexpr (WriteOf(kKind) == Write::kPlain) {
      out.CopyOut(s.out, s.out_part, 0, s.pairs);
    } else {
      out.StreamOut(s.out, s.out_part, 0, s.pairs);
    }
  }
}

// Rotates a segment (kRotate), adds its products (kPhase), or both in one pass.
template <class Form, bool kRotate, StoreKind kKind, Phase kPhase>
HWY_INLINE void RunSegment(const Segment<Form>& s) {
  using In = typename Form::In;
  using X = typename Form::X;
  using Out = typename Form::Out;
  using V = ComputeVec<typename Form::Type>;
  constexpr Write kWrite = WriteOf(kKind);
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  if (HWY_UNLIKELY(s.pairs < step)) {
    RunShortSegment<Form, kRotate, kKind, kPhase>(s);
    return;
  }
  // The last block overlaps the one before, which in place overwrites what the
  // last one reads: so that is loaded first.
  const size_t blocks = s.pairs / step;
  const size_t whole = blocks * step;
  const size_t last = s.pairs - step;
  const bool tail = whole != s.pairs;
  V t0, t1, t2, t3;
  V u0, u1, u2, u3;
  if (tail) {
    In::Load(PairAt<In>(s.in, last), s.in_part, t0, t1, t2, t3);
    if constexpr (kPhase != Phase::kNone) {
      X::Load(PairAt<X>(s.x, last), s.x_part, u0, u1, u2, u3);
    } else {
      u0 = u1 = u2 = u3 = t0;
    }
  }
  for (size_t b = 0; b < blocks; ++b) {
    V g0, g1, g2, g3;
    V x0, x1, x2, x3;
    const auto* p = PairAt<In>(s.in, b * step);
    In::Load(p, s.in_part, g0, g1, g2, g3);
    x0 = x1 = x2 = x3 = g0;
    if constexpr (kKind != StoreKind::kPlain) {
      PrefetchBlock<In>(p, s.in_part, step);
    }
    if constexpr (kPhase != Phase::kNone) {
      const auto* q = PairAt<X>(s.x, b * step);
      X::Load(q, s.x_part, x0, x1, x2, x3);
      if constexpr (kKind != StoreKind::kPlain) {
        PrefetchBlock<X>(q, s.x_part, step);
      }
    }
    ComputeBlock<Form, kRotate, kPhase>(s, b, g0, g1, g2, g3, x0, x1, x2, x3);
    if constexpr (kRotate) {
      Out::template Store<kWrite>(g0, g1, g2, g3, PairAt<Out>(s.out, b * step),
                                  s.out_part);
    }
  }
  if (!tail) return;
  ComputeBlock<Form, kRotate, kPhase>(s, blocks, t0, t1, t2, t3, u0, u1, u2,
                                      u3);
  if constexpr (kRotate && kWrite == Write::kPlain) {
    Out::template Store<kWrite>(t0, t1, t2, t3, PairAt<Out>(s.out, last),
                                s.out_part);
  } else if constexpr (kRotate) {
    // Streams only what the block before has not written.
    BlockBuffer<Out> out(step);
    Out::template Store<Write::kPlain>(t0, t1, t2, t3, out.mem, out.part);
    out.StreamOut(PairAt<Out>(s.out, last), s.out_part, whole - last, step);
  }
}

// Both segments of a row.
template <class Form, bool kRotate, StoreKind kKind, Phase kPhase>
HWY_INLINE void RunRow(Segment<Form> s, size_t segments, size_t numbers) {
  RunSegment<Form, kRotate, kKind, kPhase>(s);
  if (segments == 2) {
    s.in += 2 * s.pairs;
    if constexpr (kRotate) {
      s.out += 2 * s.pairs;
      s.table += numbers;
    }
    if constexpr (kPhase != Phase::kNone) {
      s.x += 2 * s.pairs;
      s.block += numbers;
      s.sums += numbers;
    }
    RunSegment<Form, kRotate, kKind, kPhase>(s);
  }
}

template <class Form>
HWY_INLINE size_t SegmentNumbers(size_t pairs) {
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  return (pairs + step - 1) / step * step * 4;
}

template <class Form, StoreKind kKind>
void RotateRows(const RowArgs& a) noexcept {
  using S = Segment<Form>;
  const size_t numbers = SegmentNumbers<Form>(a.pairs);
  const std::byte* in = a.in;
  const std::byte* table = a.table;
  std::byte* out = a.out;
  for (size_t row = 0; row < a.rows; ++row) {
    const S s = {reinterpret_cast<const typename S::Mem*>(in),
                 nullptr,
                 reinterpret_cast<typename S::Mem*>(out),
                 a.in_part,
                 0,
                 a.out_part,
                 a.pairs,
                 reinterpret_cast<const typename S::Compute*>(table),
                 nullptr,
                 nullptr};
    RunRow<Form, true, kKind, Phase::kNone>(s, a.segments, numbers);
    in += a.in_step;
    out += a.out_step;
    table += a.table_step;
  }
}

template <class Form, bool kRotate, StoreKind kKind>
void GradientRows(const GradientArgs& a) noexcept {
  using S = Segment<Form>;
  const size_t numbers = SegmentNumbers<Form>(a.row.pairs);
  const std::byte* in = a.row.in;
  const std::byte* x = a.x;
  const std::byte* table = a.row.table;
  std::byte* out = a.row.out;
  std::byte* block = a.block;
  auto* sums = reinterpret_cast<std::byte*>(a.sums);
  unsigned phase = a.phase;
  for (size_t row = 0; row < a.row.rows; ++row) {
    const S s = {reinterpret_cast<const typename S::Mem*>(in),
                 reinterpret_cast<const typename S::Mem*>(x),
                 reinterpret_cast<typename S::Mem*>(out),
                 a.row.in_part,
                 a.x_part,
                 a.row.out_part,
                 a.row.pairs,
                 reinterpret_cast<const typename S::Compute*>(table),
                 reinterpret_cast<typename S::Compute*>(block),
                 reinterpret_cast<double*>(sums)};
    if (phase == 0) {
      RunRow<Form, kRotate, kKind, Phase::kFirst>(s, a.row.segments, numbers);
    } else if (phase < 3) {
      RunRow<Form, kRotate, kKind, Phase::kAdd>(s, a.row.segments, numbers);
    } else {
      RunRow<Form, kRotate, kKind, Phase::kLast>(s, a.row.segments, numbers);
    }
    phase = (phase + a.phase_step) & 3;
    in += a.row.in_step;
    x += a.x_step;
    out += a.row.out_step;
    table += a.row.table_step;
    block += a.block_step;
    sums += a.sums_step;
  }
}

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ROPEWALK_KERNELS_ROTATE_INL_H_
