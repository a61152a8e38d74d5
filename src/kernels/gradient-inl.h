// The products of dcos and dsin, and the rotation that goes with them in one
// pass. Per target.

#if defined(ROPEWALK_KERNELS_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPEWALK_KERNELS_GRADIENT_INL_H_
#undef ROPEWALK_KERNELS_GRADIENT_INL_H_
#else
#define ROPEWALK_KERNELS_GRADIENT_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/rotate-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ropewalk::kernels::HWY_NAMESPACE {

// Adds a row's products to those of its block: of dy with x, and with the
// partner of x. The sign of the latter is left to OrderSums.
template <Order kOrder, class V>
HWY_INLINE void AddProducts(V g0, V g1, V g2, V g3, V x0, V x1, V x2, V x3,
                            V& c0, V& c1, V& c2, V& c3, V& s0, V& s1, V& s2,
                            V& s3) {
  V p0, p1, p2, p3;
  Partners<kOrder>(x0, x1, x2, x3, p0, p1, p2, p3);
  c0 = hn::Add(c0, hn::Mul(g0, x0));
  c1 = hn::Add(c1, hn::Mul(g1, x1));
  c2 = hn::Add(c2, hn::Mul(g2, x2));
  c3 = hn::Add(c3, hn::Mul(g3, x3));
  s0 = hn::Add(s0, hn::Mul(g0, p0));
  s1 = hn::Add(s1, hn::Mul(g1, p1));
  s2 = hn::Add(s2, hn::Mul(g2, p2));
  s3 = hn::Add(s3, hn::Mul(g3, p3));
}

template <class V>
HWY_INLINE void AddToSums(V block, bool fresh, double* HWY_RESTRICT sums) {
  const hn::ScalableTag<double> d;
  const auto add = [&](auto v, double* to) HWY_ATTR {
    if (!fresh) v = hn::Add(hn::Load(d, to), v);
    hn::Store(v, d, to);
  };
  if constexpr (hwy::IsSame<hn::TFromV<V>, double>()) {
    add(block, sums);
  } else {
    add(hn::PromoteLowerTo(d, block), sums);
    add(hn::PromoteUpperTo(d, block), sums + hn::Lanes(d));
  }
}

// Up to kBlockRows rows whose products are added before they go to the sums.
// Steps and parts count elements.
template <class Form>
struct RowBlock {
  using Mem = typename Form::Type::Mem;
  using Compute = typename Form::Type::Compute;
  const Mem* in;
  const Mem* x;
  Mem* out;
  ptrdiff_t in_step, x_step, out_step;
  ptrdiff_t in_part, x_part, out_part;
  size_t rows;
  size_t pairs;
  const Compute* table;
  double* sums;
  bool fresh;                   // the sums are stored, not added to
  uintptr_t in_ahead, x_ahead;  // to prefetch
};

// dy and x of the rows' last blocks of columns. Such a one overlaps the one
// before, which in place overwrites what it reads: so it is loaded first.
template <class Form>
class LastColumns {
 public:
  using V = ComputeVec<typename Form::Type>;

  void Load(const RowBlock<Form>& b, size_t last) {
    const size_t n = hn::Lanes(ComputeTag<typename Form::Type>());
    auto* to = values_;
    for (size_t r = 0; r < b.rows; ++r, to += 8 * n) {
      const auto row = static_cast<ptrdiff_t>(r);
      V v0, v1, v2, v3;
      Form::In::Load(PairAt<typename Form::In>(b.in + row * b.in_step, last),
                     b.in_part, v0, v1, v2, v3);
      Store4(v0, v1, v2, v3, to);
      Form::X::Load(PairAt<typename Form::X>(b.x + row * b.x_step, last),
                    b.x_part, v0, v1, v2, v3);
      Store4(v0, v1, v2, v3, to + 4 * n);
    }
  }
  HWY_INLINE void Get(size_t row, V& g0, V& g1, V& g2, V& g3, V& x0, V& x1,
                      V& x2, V& x3) const {
    const size_t n = hn::Lanes(ComputeTag<typename Form::Type>());
    const auto* from = values_ + row * 8 * n;
    Load4(from, g0, g1, g2, g3);
    Load4(from + 4 * n, x0, x1, x2, x3);
  }

 private:
  using Compute = typename Form::Type::Compute;

  static HWY_INLINE void Store4(V v0, V v1, V v2, V v3, Compute* to) {
    const hn::DFromV<V> d;
    const size_t n = hn::Lanes(d);
    hn::Store(v0, d, to);
    hn::Store(v1, d, to + n);
    hn::Store(v2, d, to + 2 * n);
    hn::Store(v3, d, to + 3 * n);
  }

  HWY_ALIGN Compute values_[kBlockRows * 8 * HWY_MAX_BYTES / sizeof(Compute)];
};

// A block of columns: whole, the last one (see LastColumns), or all there are.
enum class Columns { kWhole, kLast, kShort };

// Adds the sums of a block of rows and columns to those of the tile.
template <class V>
HWY_INLINE void AddBlockToSums(V c0, V c1, V c2, V c3, V s0, V s1, V s2, V s3,
                               bool fresh, double* sums) {
  const size_t n = hn::Lanes(hn::DFromV<V>());
  AddToSums(c0, fresh, sums);
  AddToSums(c1, fresh, sums + n);
  AddToSums(c2, fresh, sums + 2 * n);
  AddToSums(c3, fresh, sums + 3 * n);
  AddToSums(s0, fresh, sums + 4 * n);
  AddToSums(s1, fresh, sums + 5 * n);
  AddToSums(s2, fresh, sums + 6 * n);
  AddToSums(s3, fresh, sums + 7 * n);
}

// Row r of the block, its columns from pair i on: adds to the products and
// rotates. `written`: how many of the last block's pairs the block before has
// stored.
template <class Form, bool kRotate, StoreKind kKind, Columns kColumns, class V>
HWY_INLINE void RunRow(const RowBlock<Form>& b, size_t r, size_t i,
                       const typename RowBlock<Form>::Compute* table,
                       size_t written, const LastColumns<Form>* last, V& c0,
                       V& c1, V& c2, V& c3, V& s0, V& s1, V& s2, V& s3) {
  using In = typename Form::In;
  using X = typename Form::X;
  using Out = typename Form::Out;
  const size_t step = 2 * hn::Lanes(hn::DFromV<V>());
  const auto row = static_cast<ptrdiff_t>(r);
  const auto* in = PairAt<In>(b.in, i) + row * b.in_step;
  const auto* x = PairAt<X>(b.x, i) + row * b.x_step;
  V g0, g1, g2, g3, x0, x1, x2, x3;
  if constexpr (kColumns == Columns::kWhole) {
    In::Load(in, b.in_part, g0, g1, g2, g3);
    X::Load(x, b.x_part, x0, x1, x2, x3);
    HWY_FENCE;
  } else if constexpr (kColumns == Columns::kLast) {
    last->Get(r, g0, g1, g2, g3, x0, x1, x2, x3);
  } else {
    LoadShort<In>(in, b.in_part, b.pairs, g0, g1, g2, g3);
    LoadShort<X>(x, b.x_part, b.pairs, x0, x1, x2, x3);
  }
  if constexpr (kKind != StoreKind::kPlain && kColumns == Columns::kWhole) {
    constexpr auto kElement = sizeof(typename RowBlock<Form>::Mem);
    PrefetchBlock<In>(
        b.in_ahead + static_cast<uintptr_t>(row * b.in_step) * kElement,
        b.in_part, i, step);
    PrefetchBlock<X>(
        b.x_ahead + static_cast<uintptr_t>(row * b.x_step) * kElement, b.x_part,
        i, step);
  }
  AddProducts<Form::kOrder>(g0, g1, g2, g3, x0, x1, x2, x3, c0, c1, c2, c3, s0,
                            s1, s2, s3);
  if constexpr (kRotate) {
    RotateBlock<Form::kOrder>(g0, g1, g2, g3, table);
    auto* out = PairAt<Out>(b.out, i) + row * b.out_step;
    if constexpr (kColumns == Columns::kShort) {
      StorePart<Out, kKind>(g0, g1, g2, g3, out, b.out_part, 0, b.pairs);
    } else if constexpr (kColumns == Columns::kWhole ||
                         WriteOf(kKind) == Write::kPlain) {
      Out::template Store<WriteOf(kKind)>(g0, g1, g2, g3, out, b.out_part);
    } else {
      StorePart<Out, kKind>(g0, g1, g2, g3, out, b.out_part, written, step);
    }
  }
}

// The columns from pair i on of all rows.
template <class Form, bool kRotate, StoreKind kKind, Columns kColumns>
HWY_INLINE void RunColumns(const RowBlock<Form>& b, size_t i,
                           const typename RowBlock<Form>::Compute* table,
                           double* sums, size_t written,
                           const LastColumns<Form>* last) {
  using V = ComputeVec<typename Form::Type>;
  V c0 = hn::Zero(ComputeTag<typename Form::Type>()), c1 = c0, c2 = c0, c3 = c0;
  V s0 = c0, s1 = c0, s2 = c0, s3 = c0;
  for (size_t r = 0; r < b.rows; ++r) {
    RunRow<Form, kRotate, kKind, kColumns>(b, r, i, table, written, last, c0,
                                           c1, c2, c3, s0, s1, s2, s3);
  }
  AddBlockToSums(c0, c1, c2, c3, s0, s1, s2, s3, b.fresh, sums);
}

// Two blocks of columns are all there are: row by row, as memory is read best
// in ascending order. Where the registers suffice.
template <class Form, bool kRotate, StoreKind kKind>
HWY_INLINE void RunTwoBlocks(const RowBlock<Form>& b) {
  using V = ComputeVec<typename Form::Type>;
  const ComputeTag<typename Form::Type> d;
  const size_t step = 2 * hn::Lanes(d);
  V c0 = hn::Zero(d), c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0, c6 = c0,
    c7 = c0, s0 = c0, s1 = c0, s2 = c0, s3 = c0, s4 = c0, s5 = c0, s6 = c0,
    s7 = c0;
  for (size_t r = 0; r < b.rows; ++r) {
    RunRow<Form, kRotate, kKind, Columns::kWhole>(
        b, r, 0, b.table, 0, nullptr, c0, c1, c2, c3, s0, s1, s2, s3);
    RunRow<Form, kRotate, kKind, Columns::kWhole>(
        b, r, step, b.table + 4 * step, 0, nullptr, c4, c5, c6, c7, s4, s5, s6,
        s7);
  }
  AddBlockToSums(c0, c1, c2, c3, s0, s1, s2, s3, b.fresh, b.sums);
  AddBlockToSums(c4, c5, c6, c7, s4, s5, s6, s7, b.fresh, b.sums + 4 * step);
}

template <class Form, bool kRotate, StoreKind kKind>
HWY_INLINE void RunSegment(const RowBlock<Form>& b) {
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  const size_t whole = b.pairs / step * step;
  LastColumns<Form> last;
  if (whole != b.pairs) last.Load(b, b.pairs - step);
  const auto* table = b.table;
  double* sums = b.sums;
  for (size_t i = 0; i < whole; i += step) {
    RunColumns<Form, kRotate, kKind, Columns::kWhole>(b, i, table, sums, 0,
                                                      nullptr);
    if constexpr (kRotate) table += 4 * step;
    sums += 4 * step;
  }
  if (whole == b.pairs) return;
  RunColumns<Form, kRotate, kKind, Columns::kLast>(
      b, b.pairs - step, table, sums, whole - (b.pairs - step), &last);
}

template <class Form, bool kRotate, StoreKind kKind, Width kWidth>
HWY_INLINE void RunRowBlock(RowBlock<Form> b, size_t segments, size_t numbers) {
  if constexpr (kWidth == Width::kTwoBlocks) {
    RunTwoBlocks<Form, kRotate, kKind>(b);
    return;
  }
  for (size_t i = 0;; ++i) {
    if constexpr (kWidth == Width::kShort) {
      RunColumns<Form, kRotate, kKind, Columns::kShort>(b, 0, b.table, b.sums,
                                                        0, nullptr);
    } else {
      RunSegment<Form, kRotate, kKind>(b);
    }
    if (i + 1 == segments) return;
    const size_t columns = 2 * b.pairs;
    b.in += columns;
    b.x += columns;
    b.in_ahead += columns * sizeof(typename RowBlock<Form>::Mem);
    b.x_ahead += columns * sizeof(typename RowBlock<Form>::Mem);
    if constexpr (kRotate) {
      b.out += columns;
      b.table += numbers;
    }
    b.sums += numbers;
  }
}

// What a call works through, block of rows by block of rows.
template <class Form, bool kRotate, StoreKind kKind, Width kWidth>
class GradientCall {
 public:
  explicit GradientCall(const GradientArgs& a)
      : a_(a),
        numbers_(SegmentNumbers<Form>(a.row.pairs)),
        in_ahead_(AheadOf(a, a.row.in_shared, a.row.in_kept)),
        x_ahead_(AheadOf(a, a.x_shared, a.x_kept)),
        tables_(a.row) {}

  HWY_INLINE void Run() {
    const RowArgs& r = a_.row;
    size_t in_line = a_.in_line;
    if (r.shared_inside) {
      for (size_t kept = 0; kept < r.kept; ++kept) {
        SetNext(kept + 1 < r.kept, kept + 1, 0);
        Prepare(kept);
        RowBlock<Form> b = BlockAt(kept, 0);
        in_line = a_.in_line;
        for (size_t row = 0; row < r.shared; row += b.rows) {
          b.rows = RowsFrom(row, in_line);
          RunBlock(b, row);
          const auto rows = static_cast<ptrdiff_t>(b.rows);
          Advance(b, rows * b.in_step, rows * b.x_step, rows * b.out_step);
          b.fresh = false;
        }
        Finish(kept);
      }
      return;
    }
    for (size_t row = 0, rows = 0; row < r.shared; row += rows) {
      rows = RowsFrom(row, in_line);
      SetNext(row + rows < r.shared, 0, row + rows);
      RowBlock<Form> b = BlockAt(0, row);
      b.rows = rows;
      for (size_t kept = 0; kept < r.kept; ++kept) {
        if (row == 0) Prepare(kept);
        RunBlock(b, kept);
        if (row + rows == r.shared) Finish(kept);
        Advance(b, Elements(r.in_kept), Elements(a_.x_kept),
                Elements(r.out_kept));
        b.sums += a_.sums_step / sizeof(double);
        if constexpr (kRotate) b.table += r.table_step / sizeof(*b.table);
      }
    }
  }

 private:
  using Mem = typename Form::Type::Mem;
  using Compute = typename Form::Type::Compute;

  // Side by side are read the rows of a block where they lie apart, or a row
  // and the table row that it has to itself.
  static Ahead AheadOf(const GradientArgs& a, ptrdiff_t shared,
                       ptrdiff_t kept) {
    const size_t bytes = RowBytes(a.row, sizeof(Mem));
    return a.row.shared_inside
               ? Ahead(shared, a.row.shared, bytes, sizeof(Mem))
               : Ahead(kept, a.row.kept, bytes, sizeof(Mem), kBlockRows);
  }
  static HWY_INLINE ptrdiff_t Elements(ptrdiff_t bytes) {
    return bytes / static_cast<ptrdiff_t>(sizeof(Mem));
  }
  HWY_INLINE const std::byte* InAt(size_t kept, size_t row) const {
    return a_.row.in + static_cast<ptrdiff_t>(kept) * a_.row.in_kept +
           static_cast<ptrdiff_t>(row) * a_.row.in_shared;
  }
  HWY_INLINE const std::byte* XAt(size_t kept, size_t row) const {
    return a_.x + static_cast<ptrdiff_t>(kept) * a_.x_kept +
           static_cast<ptrdiff_t>(row) * a_.x_shared;
  }
  // Where the run that follows begins, if it is one of this call.
  HWY_INLINE void SetNext(bool more, size_t kept, size_t row) {
    in_ahead_.SetNext(more ? InAt(kept, row) : a_.row.next_in);
    x_ahead_.SetNext(more ? XAt(kept, row) : a_.next_x);
  }
  HWY_INLINE void Prepare(size_t kept) {
    if constexpr (kRotate) {
      tables_.Prepare(kept, a_.row.table + kept * a_.row.table_step);
    }
  }
  HWY_INLINE void Finish(size_t kept) {
    const SumsRows* f = a_.finish;
    if (f == nullptr) return;
    const auto row = static_cast<ptrdiff_t>(kept);
    f->finish(f->shape, a_.sums + kept * (a_.sums_step / sizeof(double)),
              f->dcos + row * f->dcos_step, f->dsin + row * f->dsin_step);
  }
  // Rows of the block that begins at `row`. Blocks begin anew with each line.
  HWY_INLINE size_t RowsFrom(size_t row, size_t& in_line) const {
    const size_t rows =
        HWY_MIN(HWY_MIN(kBlockRows, a_.line - in_line), a_.row.shared - row);
    in_line += rows;
    if (in_line == a_.line) in_line = 0;
    return rows;
  }
  HWY_INLINE RowBlock<Form> BlockAt(size_t kept, size_t row) const {
    const RowArgs& r = a_.row;
    RowBlock<Form> b = {};
    b.in = reinterpret_cast<const Mem*>(InAt(kept, row));
    b.x = reinterpret_cast<const Mem*>(XAt(kept, row));
    b.in_step = Elements(r.in_shared);
    b.x_step = Elements(a_.x_shared);
    b.out_step = Elements(r.out_shared);
    b.in_part = r.in_part;
    b.x_part = a_.x_part;
    b.out_part = r.out_part;
    b.pairs = r.pairs;
    b.sums = a_.sums + kept * (a_.sums_step / sizeof(double));
    b.fresh = a_.fresh && row == 0;
    if constexpr (kRotate) {
      b.out = reinterpret_cast<Mem*>(
          r.out + static_cast<ptrdiff_t>(kept) * r.out_kept +
          static_cast<ptrdiff_t>(row) * r.out_shared);
      b.table = reinterpret_cast<const Compute*>(r.table + kept * r.table_step);
    }
    return b;
  }
  static HWY_INLINE void Advance(RowBlock<Form>& b, ptrdiff_t in, ptrdiff_t x,
                                 ptrdiff_t out) {
    b.in += in;
    b.x += x;
    if constexpr (kRotate) b.out += out;
  }
  // `in_run`: number of the block's first row in the run that is prefetched.
  HWY_INLINE void RunBlock(RowBlock<Form>& b, size_t in_run) {
    if constexpr (kKind != StoreKind::kPlain) {
      b.in_ahead =
          in_ahead_.Of(reinterpret_cast<const std::byte*>(b.in), in_run);
      b.x_ahead = x_ahead_.Of(reinterpret_cast<const std::byte*>(b.x), in_run);
    }
    RunRowBlock<Form, kRotate, kKind, kWidth>(b, a_.row.segments, numbers_);
  }

  const GradientArgs a_;
  const size_t numbers_;
  Ahead in_ahead_, x_ahead_;
  TableSource<kKind != StoreKind::kPlain> tables_;
};

template <class Form, bool kRotate, StoreKind kKind, Width kWidth>
HWY_NOINLINE void GradientRowsOf(const GradientArgs& a) {
  GradientCall<Form, kRotate, kKind, kWidth>(a).Run();
}

template <class Form, bool kRotate, StoreKind kKind>
void GradientRows(const GradientArgs& a) noexcept {
  const size_t step = 2 * hn::Lanes(ComputeTag<typename Form::Type>());
  if (a.row.pairs < step) {
    GradientRowsOf<Form, kRotate, kKind, Width::kShort>(a);
    return;
  }
  if constexpr (kHasTwoBlocks) {
    if (a.row.segments == 1 && a.row.pairs == 2 * step) {
      GradientRowsOf<Form, kRotate, kKind, Width::kTwoBlocks>(a);
      return;
    }
  }
  GradientRowsOf<Form, kRotate, kKind, Width::kAny>(a);
}

}  // namespace ropewalk::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ROPEWALK_KERNELS_GRADIENT_INL_H_
