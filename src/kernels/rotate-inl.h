// The rotation, and the products of dcos and dsin that go with it. Per target.

#if defined(ROPEWALK_KERNELS_ROTATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPEWALK_KERNELS_ROTATE_INL_H_
#undef ROPEWALK_KERNELS_ROTATE_INL_H_
#else
#define ROPEWALK_KERNELS_ROTATE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdlib>
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
// with AVX-512 have the longer way to memory; 16-bit rows want more.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr ptrdiff_t kPrefetchAhead = 6144;
constexpr ptrdiff_t kPrefetchAhead16 = 8192;
#else
constexpr ptrdiff_t kPrefetchAhead = 2048;
constexpr ptrdiff_t kPrefetchAhead16 = 4096;
#endif

// Which row is prefetched while another is worked on: some rows further on, or
// past the end of the group in the next one. Addresses are numbers here, since
// they may lie outside of the tensor.
class Ahead {
 public:
  Ahead(ptrdiff_t step, size_t rows, size_t element)
      : step_(step), rows_(static_cast<ptrdiff_t>(rows)) {
    const ptrdiff_t bytes = element >= 4 ? kPrefetchAhead : kPrefetchAhead16;
    const ptrdiff_t size = step < 0 ? -step : step;
    // Rows longer than the distance are prefetched within themselves.
    ahead_ = size > bytes || size == 0 ? 0 : bytes / size;
    within_ = ahead_ == 0 ? bytes : 0;
  }
  void SetNextGroup(const std::byte* next) {
    next_ = reinterpret_cast<uintptr_t>(next);
  }
  uintptr_t Of(const std::byte* row, size_t index) const {
    const ptrdiff_t at = static_cast<ptrdiff_t>(index) + ahead_;
    if (at < rows_ || next_ == 0) {
      return reinterpret_cast<uintptr_t>(row) +
             static_cast<uintptr_t>(ahead_ * step_ + within_);
    }
    return next_ + static_cast<uintptr_t>((at - rows_) * step_);
  }

 private:
  ptrdiff_t step_, rows_, ahead_, within_;
  uintptr_t next_ = 0;
};

// The lines of the block from pair `i` on of the row at `ahead`.
template <class Layout>
HWY_INLINE void PrefetchBlock(uintptr_t ahead, ptrdiff_t part, size_t i,
                              size_t block_pairs) {
  using Mem = typename Layout::Mem;
  constexpr size_t kLine = 64 / sizeof(Mem);
  const size_t per_pair = Layout::kJoined ? 2 : 1;
  const uintptr_t first = ahead + i * per_pair * sizeof(Mem);
  const auto second = first + static_cast<uintptr_t>(part) * sizeof(Mem);
  for (size_t k = 0; k < block_pairs * per_pair; k += kLine) {
    hwy::Prefetch(reinterpret_cast<const Mem*>(first + k * sizeof(Mem)));
    if constexpr (!Layout::kJoined) {
      hwy::Prefetch(reinterpret_cast<const Mem*>(second + k * sizeof(Mem)));
    }
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
  uintptr_t in_ahead, x_ahead;  // to prefetch
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
HWY_INLINE void RunShortSegment(const Segment<Form>& s) {
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
    In::Load(PairAt<In>(s.in, b * step), s.in_part, g0, g1, g2, g3);
    x0 = x1 = x2 = x3 = g0;
    if constexpr (kKind != StoreKind::kPlain) {
      PrefetchBlock<In>(s.in_ahead, s.in_part, b * step, step);
    }
    if constexpr (kPhase != Phase::kNone) {
      X::Load(PairAt<X>(s.x, b * step), s.x_part, x0, x1, x2, x3);
      if constexpr (kKind != StoreKind::kPlain) {
        PrefetchBlock<X>(s.x_ahead, s.x_part, b * step, step);
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

// The segments of a row. kShort: of fewer pairs than a block.
template <class Form, bool kRotate, StoreKind kKind, bool kShort, Phase kPhase>
HWY_INLINE void RunRow(Segment<Form> s, size_t segments, size_t numbers) {
  for (size_t i = 0;; ++i) {
    if constexpr (kShort) {
      RunShortSegment<Form, kRotate, kKind, kPhase>(s);
    } else {
      RunSegment<Form, kRotate, kKind, kPhase>(s);
    }
    if (i + 1 == segments) return;
    using Mem = typename Segment<Form>::Mem;
    s.in += 2 * s.pairs;
    s.in_ahead += 2 * s.pairs * sizeof(Mem);
    if constexpr (kRotate) {
      s.out += 2 * s.pairs;
      s.table += numbers;
    }
    if constexpr (kPhase != Phase::kNone) {
      s.x += 2 * s.pairs;
      s.x_ahead += 2 * s.pairs * sizeof(Mem);
      s.block += numbers;
      s.sums += numbers;
    }
  }
}

template <class Form>
HWY_INLINE size_t SegmentNumbers(size_t pairs) {
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  return (pairs + step - 1) / step * step * 4;
}

// Prepares the table rows of a call, one after the other. Addresses are kept in
// registers: what goes through memory is read back only after the streamed
// stores before it are done.
class TableSource {
 public:
  explicit TableSource(const RowArgs& a) : rows_(a.tables) {
    if (rows_ == nullptr) return;
    cos_ = rows_->cos;
    sin_ = rows_->sin;
    // Either each row of a group has a table row of its own, the same for all
    // groups, or each group has one, or there is one for all.
    each_row_ = a.table_step != 0;
    each_group_ = a.table_group != 0;
  }
  HWY_INLINE void AtGroup(size_t group, std::byte* table) {
    if (rows_ == nullptr || each_row_) return;
    if (group == 0 || each_group_) Next(group, table);
  }
  HWY_INLINE void AtRow(size_t group, size_t row, std::byte* table) {
    if (rows_ != nullptr && each_row_ && group == 0) Next(row, table);
  }

 private:
  HWY_INLINE void Next(size_t index, std::byte* table) {
    if (rows_->at != nullptr) {
      cos_ = rows_->at[index];
      sin_ = cos_ + (rows_->sin - rows_->cos);
    }
    rows_->prepare(rows_->shape, cos_, sin_, table);
    cos_ += rows_->cos_step;
    sin_ += rows_->sin_step;
  }

  const TableRows* rows_;
  const std::byte* cos_ = nullptr;
  const std::byte* sin_ = nullptr;
  bool each_row_ = false;
  bool each_group_ = false;
};

// `args` by value: what is stored through pointers cannot change it.
template <class Form, StoreKind kKind, bool kShort>
HWY_INLINE void RotateRowsOf(RowArgs a) {
  using S = Segment<Form>;
  const size_t numbers = SegmentNumbers<Form>(a.pairs);
  Ahead ahead(a.in_step, a.rows, sizeof(typename S::Mem));
  TableSource tables(a);
  for (size_t group = 0; group < a.groups; ++group) {
    ahead.SetNextGroup(group + 1 < a.groups ? a.in + a.in_group : a.next_in);
    const std::byte* in = a.in;
    std::byte* out = a.out;
    std::byte* table = a.table;
    tables.AtGroup(group, table);
    for (size_t row = 0; row < a.rows; ++row) {
      tables.AtRow(group, row, table);
      S s = {};
      s.in = reinterpret_cast<const typename S::Mem*>(in);
      s.out = reinterpret_cast<typename S::Mem*>(out);
      s.in_part = a.in_part;
      s.out_part = a.out_part;
      s.pairs = a.pairs;
      s.table = reinterpret_cast<const typename S::Compute*>(table);
      if constexpr (kKind != StoreKind::kPlain) s.in_ahead = ahead.Of(in, row);
      RunRow<Form, true, kKind, kShort, Phase::kNone>(s, a.segments, numbers);
      in += a.in_step;
      out += a.out_step;
      table += a.table_step;
    }
    a.in += a.in_group;
    a.out += a.out_group;
    a.table += a.table_group;
  }
}

template <class Form, StoreKind kKind>
HWY_NOINLINE void RotateShortRows(const RowArgs& a) {
  RotateRowsOf<Form, kKind, true>(a);
}

template <class Form, StoreKind kKind>
void RotateRows(const RowArgs& a) noexcept {
  if (a.pairs < 2 * hn::Lanes(ComputeTag<typename Form::Type>())) {
    RotateShortRows<Form, kKind>(a);
  } else {
    RotateRowsOf<Form, kKind, false>(a);
  }
}

template <class Form, bool kRotate, StoreKind kKind, bool kShort>
HWY_INLINE void GradientRow(const Segment<Form>& s, unsigned phase,
                            size_t segments, size_t numbers) {
  if (phase == 0) {
    RunRow<Form, kRotate, kKind, kShort, Phase::kFirst>(s, segments, numbers);
  } else if (phase < 3) {
    RunRow<Form, kRotate, kKind, kShort, Phase::kAdd>(s, segments, numbers);
  } else {
    RunRow<Form, kRotate, kKind, kShort, Phase::kLast>(s, segments, numbers);
  }
}

// The rows of one group.
template <class Form, bool kRotate, StoreKind kKind, bool kShort>
HWY_INLINE void GradientGroup(GradientArgs a, size_t group, size_t numbers,
                              const Ahead& in_ahead, const Ahead& x_ahead,
                              TableSource& tables) {
  using S = Segment<Form>;
  RowArgs& r = a.row;
  auto* sums = reinterpret_cast<std::byte*>(a.sums);
  if constexpr (kRotate) tables.AtGroup(group, r.table);
  for (size_t row = 0; row < r.rows; ++row) {
    if constexpr (kRotate) tables.AtRow(group, row, r.table);
    S s = {};
    s.in = reinterpret_cast<const typename S::Mem*>(r.in);
    s.x = reinterpret_cast<const typename S::Mem*>(a.x);
    s.out = reinterpret_cast<typename S::Mem*>(r.out);
    s.in_part = r.in_part;
    s.x_part = a.x_part;
    s.out_part = r.out_part;
    s.pairs = r.pairs;
    s.table = reinterpret_cast<const typename S::Compute*>(r.table);
    s.block = reinterpret_cast<typename S::Compute*>(a.block);
    s.sums = reinterpret_cast<double*>(sums);
    if constexpr (kKind != StoreKind::kPlain) {
      s.in_ahead = in_ahead.Of(r.in, row);
      s.x_ahead = x_ahead.Of(a.x, row);
    }
    GradientRow<Form, kRotate, kKind, kShort>(s, a.phase, r.segments, numbers);
    a.phase = (a.phase + a.phase_step) & 3;
    r.in += r.in_step;
    r.out += r.out_step;
    r.table += r.table_step;
    a.x += a.x_step;
    a.block += a.block_step;
    sums += a.sums_step;
  }
}

template <class Form, bool kRotate, StoreKind kKind, bool kShort>
HWY_INLINE void GradientRowsOf(GradientArgs a) {
  constexpr size_t kElement = sizeof(typename Segment<Form>::Mem);
  RowArgs& r = a.row;
  const size_t numbers = SegmentNumbers<Form>(r.pairs);
  Ahead in_ahead(r.in_step, r.rows, kElement);
  Ahead x_ahead(a.x_step, r.rows, kElement);
  TableSource tables(r);
  for (size_t group = 0; group < r.groups; ++group) {
    const bool more = group + 1 < r.groups;
    in_ahead.SetNextGroup(more ? r.in + r.in_group : r.next_in);
    x_ahead.SetNextGroup(more ? a.x + a.x_group : a.next_x);
    GradientGroup<Form, kRotate, kKind, kShort>(a, group, numbers, in_ahead,
                                                x_ahead, tables);
    a.phase = (a.phase + a.phase_group) & 3;
    r.in += r.in_group;
    r.out += r.out_group;
    r.table += r.table_group;
    a.x += a.x_group;
    a.block += a.block_group;
    a.sums += a.sums_group / sizeof(double);
  }
}

template <class Form, bool kRotate, StoreKind kKind>
HWY_NOINLINE void ShortGradientRows(const GradientArgs& a) {
  GradientRowsOf<Form, kRotate, kKind, true>(a);
}

template <class Form, bool kRotate, StoreKind kKind>
void GradientRows(const GradientArgs& a) noexcept {
  if (a.row.pairs < 2 * hn::Lanes(ComputeTag<typename Form::Type>())) {
    ShortGradientRows<Form, kRotate, kKind>(a);
  } else {
    GradientRowsOf<Form, kRotate, kKind, false>(a);
  }
}

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ROPEWALK_KERNELS_ROTATE_INL_H_
