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

// Rotates one block: cos and sin of the vectors x0..x3.
template <Order kOrder, class V>
HWY_INLINE void RotateBlockBy(V& x0, V& x1, V& x2, V& x3, V c0, V c1, V c2,
                              V c3, V s0, V s1, V s2, V s3) {
  V p0, p1, p2, p3;
  Partners<kOrder>(x0, x1, x2, x3, p0, p1, p2, p3);
  x0 = RotateStep(x0, p0, c0, s0);
  x1 = RotateStep(x1, p1, c1, s1);
  x2 = RotateStep(x2, p2, c2, s2);
  x3 = RotateStep(x3, p3, c3, s3);
}

// Four vectors that lie one after the other, aligned.
template <class V, class C>
HWY_INLINE void Load4(const C* from, V& v0, V& v1, V& v2, V& v3) {
  const hn::DFromV<V> d;
  const size_t n = hn::Lanes(d);
  v0 = hn::Load(d, from);
  v1 = hn::Load(d, from + n);
  v2 = hn::Load(d, from + 2 * n);
  v3 = hn::Load(d, from + 3 * n);
}

// The table's next 8 L numbers.
template <class V, class C>
HWY_INLINE void LoadTableBlock(const C* table, V& c0, V& c1, V& c2, V& c3,
                               V& s0, V& s1, V& s2, V& s3) {
  Load4(table, c0, c1, c2, c3);
  Load4(table + 4 * hn::Lanes(hn::DFromV<V>()), s0, s1, s2, s3);
}

template <Order kOrder, class V, class C>
HWY_INLINE void RotateBlock(V& x0, V& x1, V& x2, V& x3, const C* table) {
  V c0, c1, c2, c3, s0, s1, s2, s3;
  LoadTableBlock(table, c0, c1, c2, c3, s0, s1, s2, s3);
  RotateBlockBy<kOrder>(x0, x1, x2, x3, c0, c1, c2, c3, s0, s1, s2, s3);
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

HWY_INLINE size_t RowBytes(const RowArgs& a, size_t element) {
  return 2 * a.pairs * a.segments * element;
}

// Which row is prefetched while another is worked on: some rows further on, or
// past the end of the run in the next one; less far where `runs` runs are read
// side by side, as all that is on its way lies in the nearest cache. Addresses
// are numbers here, since they may lie outside of the tensor.
class Ahead {
 public:
  // `touched`: bytes of a row, of which a slice leaves most untouched.
  Ahead(ptrdiff_t step, size_t rows, size_t touched, size_t element,
        size_t runs = 1)
      : step_(step), rows_(static_cast<ptrdiff_t>(rows)) {
    const ptrdiff_t bytes = (element >= 4 ? kPrefetchAhead : kPrefetchAhead16) /
                            static_cast<ptrdiff_t>(runs);
    const auto size = static_cast<ptrdiff_t>(HWY_MAX(touched, size_t{64}));
    // Rows longer than the distance are prefetched within themselves.
    ahead_ = size > bytes || step == 0 ? 0 : bytes / size;
    within_ = ahead_ == 0 ? bytes : 0;
  }
  void SetNext(const std::byte* next) {
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

template <class Mem>
HWY_INLINE void PrefetchRow(uintptr_t ahead, size_t columns) {
  for (size_t k = 0; k < columns * sizeof(Mem); k += 64) {
    hwy::Prefetch(reinterpret_cast<const Mem*>(ahead + k));
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
  Mem* out;
  ptrdiff_t in_part, out_part;
  size_t pairs;
  const Compute* table;
  uintptr_t in_ahead;  // to prefetch
};

// Fewer pairs than a block.
template <class Layout, class V>
HWY_INLINE void LoadShort(const typename Layout::Mem* p, ptrdiff_t part,
                          size_t pairs, V& x0, V& x1, V& x2, V& x3) {
  BlockBuffer<Layout> buffer(2 * hn::Lanes(hn::DFromV<V>()));
  buffer.CopyIn(p, part, pairs);
  Layout::Load(buffer.mem, buffer.part, x0, x1, x2, x3);
}

// Stores the pairs [from, to) of a block.
template <class Layout, StoreKind kKind, class V>
HWY_INLINE void StorePart(V y0, V y1, V y2, V y3, typename Layout::Mem* p,
                          ptrdiff_t part, size_t from, size_t to) {
  BlockBuffer<Layout> buffer(2 * hn::Lanes(hn::DFromV<V>()));
  Layout::template Store<Write::kPlain>(y0, y1, y2, y3, buffer.mem,
                                        buffer.part);
  if constexpr (WriteOf(kKind) == Write::kPlain) {
    buffer.CopyOut(p, part, from, to);
  } else {
    buffer.StreamOut(p, part, from, to);
  }
}

template <class Form, StoreKind kKind>
HWY_INLINE void RotateShortSegment(const Segment<Form>& s) {
  ComputeVec<typename Form::Type> x0, x1, x2, x3;
  LoadShort<typename Form::In>(s.in, s.in_part, s.pairs, x0, x1, x2, x3);
  RotateBlock<Form::kOrder>(x0, x1, x2, x3, s.table);
  StorePart<typename Form::Out, kKind>(x0, x1, x2, x3, s.out, s.out_part, 0,
                                       s.pairs);
}

template <class Form, StoreKind kKind>
HWY_INLINE void RotateSegment(const Segment<Form>& s) {
  using In = typename Form::In;
  using Out = typename Form::Out;
  using V = ComputeVec<typename Form::Type>;
  constexpr Write kWrite = WriteOf(kKind);
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  // The last block overlaps the one before, which in place overwrites what the
  // last one reads: so that is loaded first.
  const size_t blocks = s.pairs / step;
  const size_t whole = blocks * step;
  const size_t last = s.pairs - step;
  V t0, t1, t2, t3;
  if (whole != s.pairs) {
    In::Load(PairAt<In>(s.in, last), s.in_part, t0, t1, t2, t3);
  }
  const auto* table = s.table;
  for (size_t i = 0; i < whole; i += step, table += 4 * step) {
    V x0, x1, x2, x3;
    In::Load(PairAt<In>(s.in, i), s.in_part, x0, x1, x2, x3);
    HWY_FENCE;
    if constexpr (kKind != StoreKind::kPlain) {
      PrefetchBlock<In>(s.in_ahead, s.in_part, i, step);
    }
    RotateBlock<Form::kOrder>(x0, x1, x2, x3, table);
    Out::template Store<kWrite>(x0, x1, x2, x3, PairAt<Out>(s.out, i),
                                s.out_part);
  }
  if (whole == s.pairs) return;
  RotateBlock<Form::kOrder>(t0, t1, t2, t3, table);
  auto* out = PairAt<Out>(s.out, last);
  if constexpr (kWrite == Write::kPlain) {
    Out::template Store<kWrite>(t0, t1, t2, t3, out, s.out_part);
  } else {
    // Streams only what the block before has not written.
    StorePart<Out, kKind>(t0, t1, t2, t3, out, s.out_part, whole - last, step);
  }
}

// The segments of a row. kShort: of fewer pairs than a block.
template <class Form, StoreKind kKind, bool kShort>
HWY_INLINE void RotateRow(Segment<Form> s, size_t segments, size_t numbers) {
  for (size_t i = 0;; ++i) {
    if constexpr (kShort) {
      RotateShortSegment<Form, kKind>(s);
    } else {
      RotateSegment<Form, kKind>(s);
    }
    if (i + 1 == segments) return;
    s.in += 2 * s.pairs;
    s.out += 2 * s.pairs;
    s.in_ahead += 2 * s.pairs * sizeof(typename Segment<Form>::Mem);
    s.table += numbers;
  }
}

// Which widths a loop over rows is made for: segments of fewer pairs than a
// block, of any number, or rows of one segment of one block, or of up to two,
// whose table stays in registers.
enum class Width { kShort, kAny, kOneBlock, kTwoBlocks };

// Has the target registers for the tables of two blocks?
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr bool kHasTwoBlocks = true;
#else
constexpr bool kHasTwoBlocks = false;
#endif

// Rows of one segment of up to so many pairs are read whole before they are
// written: by RotateWholeRows, or as RotateSegment loads the last block first.
template <class Form>
HWY_INLINE size_t WholePairs() {
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  return kHasTwoBlocks ? 2 * step : 2 * step - 1;
}

// Prepares the table rows of a call, one after the other. Addresses are kept in
// registers: what goes through memory is read back only after the streamed
// stores before it are done.
template <bool kPrefetch>
class TableSource {
 public:
  explicit TableSource(const RowArgs& a) : rows_(a.tables), count_(a.kept) {
    if (rows_ == nullptr) return;
    cos_ = rows_->cos;
    sin_ = rows_->sin;
  }
  // To be called once for each table row, before its first data row.
  HWY_INLINE void Prepare(size_t row, std::byte* table) {
    if (rows_ != nullptr) Next(row, table);
  }

 private:
  HWY_INLINE void Next(size_t index, std::byte* table) {
    const auto axes = static_cast<size_t>(rows_->shape.axes);
    if (axes != 0) {
      rows_->prepare_axes(rows_->shape, rows_->at + index * axes,
                          rows_->sin - rows_->cos, table);
    } else {
      if (rows_->at != nullptr) {
        cos_ = rows_->at[index];
        sin_ = cos_ + (rows_->sin - rows_->cos);
      }
      rows_->prepare(rows_->shape, cos_, sin_, table);
      cos_ += rows_->cos_step;
      sin_ += rows_->sin_step;
    }
    if constexpr (kPrefetch) {  // the row after the next one
      if (rows_->at == nullptr) {
        Prefetch(cos_ + rows_->cos_step, sin_ + rows_->sin_step);
      } else if (index + 2 < count_) {
        PrefetchAt(rows_->at + (index + 2) * HWY_MAX(axes, size_t{1}), axes);
      }
    }
  }
  HWY_INLINE void Prefetch(const std::byte* cos, const std::byte* sin) const {
    const auto bytes =
        static_cast<ptrdiff_t>(rows_->shape.segments) * rows_->shape.segment;
    for (ptrdiff_t i = 0; i < bytes; i += 64) {
      hwy::Prefetch(cos + i);
      hwy::Prefetch(sin + i);
    }
  }
  HWY_INLINE void PrefetchAt(const std::byte* const* rows, size_t axes) const {
    size_t i = 0;
    do {
      Prefetch(rows[i], rows[i] + (rows_->sin - rows_->cos));
    } while (++i < axes);
  }

  const TableRows* rows_;
  const size_t count_;
  const std::byte* cos_ = nullptr;
  const std::byte* sin_ = nullptr;
};

// Rows that share a table row or have one each, at equal steps.
struct RowLoop {
  const std::byte* in;
  std::byte* out;
  const std::byte* table;
  ptrdiff_t in_step, out_step;
  size_t table_step;
  size_t rows;
};

template <class Form, StoreKind kKind, bool kShort, class BeforeRow>
HWY_INLINE void RotateLoop(RowLoop loop, const RowArgs& a, const Ahead& ahead,
                           const BeforeRow& before_row) {
  using S = Segment<Form>;
  const size_t numbers = SegmentNumbers<Form>(a.pairs);
  for (size_t row = 0; row < loop.rows; ++row) {
    before_row(row);
    S s = {};
    s.in = reinterpret_cast<const typename S::Mem*>(loop.in);
    s.out = reinterpret_cast<typename S::Mem*>(loop.out);
    s.in_part = a.in_part;
    s.out_part = a.out_part;
    s.pairs = a.pairs;
    s.table = reinterpret_cast<const typename S::Compute*>(loop.table);
    if constexpr (kKind != StoreKind::kPlain) {
      s.in_ahead = ahead.Of(loop.in, row);
    }
    RotateRow<Form, kKind, kShort>(s, a.segments, numbers);
    loop.in += loop.in_step;
    loop.out += loop.out_step;
    loop.table += loop.table_step;
  }
}

// The same for rows of one block or of up to two, which may overlap. A row is
// read whole before it is written. kOneTable: the rows share a table row.
template <class Form, StoreKind kKind, bool kTwo, bool kOneTable,
          class BeforeRow>
HWY_INLINE void RotateWholeRows(RowLoop loop, const RowArgs& a,
                                const Ahead& ahead,
                                const BeforeRow& before_row) {
  using In = typename Form::In;
  using Out = typename Form::Out;
  using Mem = typename Form::Type::Mem;
  using Compute = typename Form::Type::Compute;
  using V = ComputeVec<typename Form::Type>;
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  const size_t second = a.pairs - step;
  V c0, c1, c2, c3, c4, c5, c6, c7;
  V s0, s1, s2, s3, s4, s5, s6, s7;
  const auto load_table = [&]() HWY_ATTR {
    const auto* table = reinterpret_cast<const Compute*>(loop.table);
    LoadTableBlock(table, c0, c1, c2, c3, s0, s1, s2, s3);
    if constexpr (kTwo) {
      LoadTableBlock(table + 4 * step, c4, c5, c6, c7, s4, s5, s6, s7);
    }
  };
  if constexpr (kOneTable) load_table();
  for (size_t row = 0; row < loop.rows; ++row) {
    before_row(row);
    const auto* in = reinterpret_cast<const Mem*>(loop.in);
    auto* out = reinterpret_cast<Mem*>(loop.out);
    V x0, x1, x2, x3, x4, x5, x6, x7;
    if constexpr (kTwo) {
      In::LoadTwo(in, a.in_part, second, x0, x1, x2, x3, x4, x5, x6, x7);
    } else {
      In::Load(in, a.in_part, x0, x1, x2, x3);
      HWY_FENCE;
    }
    if constexpr (kKind != StoreKind::kPlain) {
      PrefetchRow<Mem>(ahead.Of(loop.in, row), 2 * a.pairs);
    }
    if constexpr (!kOneTable) load_table();
    RotateBlockBy<Form::kOrder>(x0, x1, x2, x3, c0, c1, c2, c3, s0, s1, s2, s3);
    Out::template Store<WriteOf(kKind)>(x0, x1, x2, x3, out, a.out_part);
    if constexpr (kTwo) {
      RotateBlockBy<Form::kOrder>(x4, x5, x6, x7, c4, c5, c6, c7, s4, s5, s6,
                                  s7);
      Out::template Store<WriteOf(kKind)>(x4, x5, x6, x7,
                                          PairAt<Out>(out, second), a.out_part);
    }
    loop.in += loop.in_step;
    loop.out += loop.out_step;
    loop.table += loop.table_step;
  }
}

// `args` by value: what is stored through pointers cannot change it.
template <class Form, StoreKind kKind, Width kWidth>
HWY_INLINE void RotateRowsOf(RowArgs a) {
  constexpr size_t kElement = sizeof(typename Form::Type::Mem);
  constexpr bool kShort = kWidth == Width::kShort;
  constexpr bool kTwo = kWidth == Width::kTwoBlocks;
  constexpr bool kWhole = kTwo || kWidth == Width::kOneBlock;
  TableSource<kKind != StoreKind::kPlain> tables(a);
  if (a.shared_inside) {
    Ahead ahead(a.in_shared, a.shared, RowBytes(a, kElement), kElement);
    for (size_t kept = 0; kept < a.kept; ++kept) {
      ahead.SetNext(kept + 1 < a.kept ? a.in + a.in_kept : a.next_in);
      tables.Prepare(kept, a.table);
      const RowLoop loop = {a.in,         a.out, a.table, a.in_shared,
                            a.out_shared, 0,     a.shared};
      const auto before_row = [](size_t) HWY_ATTR {};
      if constexpr (kWhole) {
        RotateWholeRows<Form, kKind, kTwo, true>(loop, a, ahead, before_row);
      } else {
        RotateLoop<Form, kKind, kShort>(loop, a, ahead, before_row);
      }
      a.in += a.in_kept;
      a.out += a.out_kept;
      a.table += a.table_step;
    }
    return;
  }
  Ahead ahead(a.in_kept, a.kept, RowBytes(a, kElement), kElement);
  for (size_t shared = 0; shared < a.shared; ++shared) {
    ahead.SetNext(shared + 1 < a.shared ? a.in + a.in_shared : a.next_in);
    const RowLoop loop = {a.in,       a.out,        a.table, a.in_kept,
                          a.out_kept, a.table_step, a.kept};
    const auto before_row = [&](size_t kept) HWY_ATTR {
      if (shared == 0) tables.Prepare(kept, a.table + kept * a.table_step);
    };
    if constexpr (kWhole) {
      RotateWholeRows<Form, kKind, kTwo, false>(loop, a, ahead, before_row);
    } else {
      RotateLoop<Form, kKind, kShort>(loop, a, ahead, before_row);
    }
    a.in += a.in_shared;
    a.out += a.out_shared;
  }
}

template <class Form, StoreKind kKind, Width kWidth>
HWY_NOINLINE void RotateRowsApart(const RowArgs& a) {
  RotateRowsOf<Form, kKind, kWidth>(a);
}

template <class Form, StoreKind kKind>
void RotateRows(const RowArgs& a) noexcept {
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  if (a.pairs < step) {
    RotateRowsApart<Form, kKind, Width::kShort>(a);
    return;
  }
  if constexpr (kHasTwoBlocks) {
    constexpr bool kReorders = Form::In::kJoined != Form::Out::kJoined;
    if ((a.shared_inside || kReorders) && a.segments == 1 && a.pairs > step &&
        a.pairs <= 2 * step) {
      RotateRowsApart<Form, kKind, Width::kTwoBlocks>(a);
      return;
    }
    // Wider elements gain nothing: there the memory takes longer than a row.
    if constexpr (sizeof(typename Form::Type::Mem) == 2) {
      if (a.shared_inside && a.segments == 1 && a.pairs == step) {
        RotateRowsApart<Form, kKind, Width::kOneBlock>(a);
        return;
      }
    }
  }
  RotateRowsOf<Form, kKind, Width::kAny>(a);
}

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ROPEWALK_KERNELS_ROTATE_INL_H_
