#include "kernels/reference.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

namespace ropewalk::reference {
namespace {

const char* Address(const ConstTensor& tensor, const int64_t* index) {
  int64_t offset = 0;
  for (int axis = 0; axis < tensor.desc.rank; ++axis) {
    offset += index[axis] * tensor.desc.strides[axis];
  }
  return static_cast<const char*>(tensor.data) +
         offset * static_cast<int64_t>(ElementBytes(tensor.desc.dtype));
}

char* Address(const Tensor& tensor, const int64_t* index) {
  return const_cast<char*>(Address(ConstTensor(tensor), index));
}

// Calls visit(index) for each combination of the first `axes` axes, in
// lexicographic order; the other entries of index are 0.
void ForEachIndex(const TensorDesc& desc, int axes,
                  const std::function<void(int64_t*)>& visit) {
  int64_t index[kMaxRank] = {};
  for (int axis = 0; axis < axes; ++axis) {
    if (desc.shape[axis] == 0) return;
  }
  while (true) {
    visit(index);
    int axis = axes - 1;
    while (axis >= 0 && ++index[axis] == desc.shape[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

// The same place in a tensor that may have size 1 where the index has more.
void Broadcast(const TensorDesc& desc, const int64_t* index, int64_t* out) {
  for (int axis = 0; axis < desc.rank; ++axis) {
    out[axis] = desc.shape[axis] == 1 ? 0 : index[axis];
  }
}

// An element at `column` of the last axis of the row at `index`.
double At(const ConstTensor& tensor, int64_t* index, int64_t column) {
  index[tensor.desc.rank - 1] = column;
  return Decode(tensor.desc.dtype, Address(tensor, index));
}

struct Columns {
  int64_t start, width;
};

Columns Rotated(const RotateOptions& options, const TensorDesc& x) {
  if (!options.slice) return {0, x.shape[x.rank - 1]};
  return {options.slice->start, options.slice->end - options.slice->start};
}

// cos and sin of one pair at its two table columns.
template <class Real>
struct Angles {
  Real cos_p, cos_r, sin_p, sin_r;
};

template <class Real>
struct Two {
  Real first, second;
};

// Every operation rounds by itself: this file is compiled without contraction.
template <class Real>
Two<Real> Turn(Two<Real> x, const Angles<Real>& t) {
  const Real ac = x.first * t.cos_p;
  const Real bs = x.second * t.sin_p;
  const Real bc = x.second * t.cos_r;
  const Real as = x.first * t.sin_r;
  return {ac - bs, bc + as};
}

template <class Real>
Two<Real> TurnBack(Two<Real> dy, const Angles<Real>& t) {
  const Real pc = dy.first * t.cos_p;
  const Real rs = dy.second * t.sin_r;
  const Real rc = dy.second * t.cos_r;
  const Real ps = dy.first * t.sin_p;
  return {pc + rs, rc - ps};
}

// The angles of pair k, table columns counted from the first rotated column.
template <class Real>
Angles<Real> AnglesOf(const ConstTensor& cos, const ConstTensor& sin,
                      int64_t* index, int64_t width, int64_t k,
                      const Pair& pair) {
  const bool full = cos.desc.shape[cos.desc.rank - 1] == width;
  const int64_t p = full ? pair.p : k;
  const int64_t r = full ? pair.r : k;
  return {static_cast<Real>(At(cos, index, p)),
          static_cast<Real>(At(cos, index, r)),
          static_cast<Real>(At(sin, index, p)),
          static_cast<Real>(At(sin, index, r))};
}

// Rotates one row, `in` to `out`, both of the rotated width.
template <class Real>
void RotateRow(
    Pairing pairing, Direction direction, const std::vector<Real>& in,
    std::vector<Real>* out,
    const std::function<Angles<Real>(int64_t, const Pair&)>& angles) {
  const auto width = static_cast<int64_t>(in.size());
  for (int64_t k = 0; k < width / 2; ++k) {
    const Pair pair = PairAt(pairing, width, k);
    const Angles<Real> t = angles(k, pair);
    if (direction == Direction::kForward) {
      const Two<Real> y = Turn<Real>({in[pair.i], in[pair.j]}, t);
      (*out)[pair.p] = y.first;
      (*out)[pair.r] = y.second;
    } else {
      const Two<Real> dx = TurnBack<Real>({in[pair.p], in[pair.r]}, t);
      (*out)[pair.i] = dx.first;
      (*out)[pair.j] = dx.second;
    }
  }
}

// Rotates all rows of x and hands each to `store` with its index.
template <class Real>
void RotateRows(
    const RotateOptions& options, Direction direction, const ConstTensor& x,
    const ConstTensor& cos, const ConstTensor& sin,
    const std::function<void(int64_t*, const std::vector<Real>&)>& store) {
  const Columns columns = Rotated(options, x.desc);
  std::vector<Real> in(columns.width), out(columns.width);
  ForEachIndex(x.desc, x.desc.rank - 1, [&](int64_t* index) {
    for (int64_t d = 0; d < columns.width; ++d) {
      in[d] = static_cast<Real>(At(x, index, columns.start + d));
    }
    int64_t table[kMaxRank] = {};
    Broadcast(cos.desc, index, table);
    RotateRow<Real>(
        options.pairing, direction, in, &out, [&](int64_t k, const Pair& pair) {
          return AnglesOf<Real>(cos, sin, table, columns.width, k, pair);
        });
    store(index, out);
  });
}

template <class Real>
void RotateToTensor(const RotateOptions& options, Direction direction,
                    const ConstTensor& x, const ConstTensor& cos,
                    const ConstTensor& sin, const Tensor& y) {
  const Columns columns = Rotated(options, x.desc);
  const int last = x.desc.rank - 1;
  RotateRows<Real>(options, direction, x, cos, sin,
                   [&](int64_t* index, const std::vector<Real>& row) {
                     for (int64_t d = 0; d < x.desc.shape[last]; ++d) {
                       index[last] = d;
                       const int64_t k = d - columns.start;
                       if (0 <= k && k < columns.width) {
                         Encode(y.desc.dtype, static_cast<double>(row[k]),
                                Address(y, index));
                       } else {
                         std::memmove(Address(y, index), Address(x, index),
                                      ElementBytes(x.desc.dtype));
                       }
                     }
                   });
}

void RotateAny(const RotateOptions& options, Direction direction,
               const ConstTensor& x, const ConstTensor& cos,
               const ConstTensor& sin, const Tensor& y) {
  if (x.desc.dtype == Dtype::kF64) {
    RotateToTensor<double>(options, direction, x, cos, sin, y);
  } else {
    RotateToTensor<float>(options, direction, x, cos, sin, y);
  }
}

std::vector<double> ExactAny(const RotateOptions& options, Direction direction,
                             const ConstTensor& x, const ConstTensor& cos,
                             const ConstTensor& sin) {
  std::vector<double> result;
  const Columns columns = Rotated(options, x.desc);
  RotateRows<double>(options, direction, x, cos, sin,
                     [&](int64_t* index, const std::vector<double>& row) {
                       const int64_t all = x.desc.shape[x.desc.rank - 1];
                       for (int64_t d = 0; d < all; ++d) {
                         const int64_t k = d - columns.start;
                         const bool inside = 0 <= k && k < columns.width;
                         result.push_back(inside ? row[k] : At(x, index, d));
                       }
                     });
  return result;
}

int64_t PositionAt(const ConstTensor& positions, int64_t row, int64_t token) {
  const int64_t index[2] = {positions.desc.rank == 2 ? row : token, token};
  const char* element = Address(positions, index);
  if (positions.desc.dtype == Dtype::kI32) {
    int32_t value;
    std::memcpy(&value, element, sizeof(value));
    return value;
  }
  int64_t value;
  std::memcpy(&value, element, sizeof(value));
  return value;
}

// Which row of the positions serves pair k.
int64_t SectionOf(const RotateCachedOptions& options, int64_t k) {
  if (options.sections.empty() || options.sections[0] == 0) return 0;
  if (options.axes == AxisLayout::kInterleaved) {
    if (k % 3 == 1 && k / 3 < options.sections[1]) return 1;
    if (k % 3 == 2 && k / 3 < options.sections[2]) return 2;
    return 0;
  }
  int64_t section = 0;
  for (int64_t end = options.sections[0]; k >= end;) {
    end += options.sections[++section];
  }
  return section;
}

// (tokens, heads * head_size) seen as (tokens, heads, head_size).
TensorDesc SplitHeads(const TensorDesc& desc, int64_t head_size) {
  if (desc.rank == 3) return desc;
  TensorDesc split = desc;
  split.rank = 3;
  split.shape[1] = desc.shape[1] / head_size;
  split.shape[2] = head_size;
  split.strides[1] = desc.strides[1] * head_size;
  split.strides[2] = desc.strides[1];
  return split;
}

template <class Real>
void RotateCachedIn(const RotateCachedOptions& options,
                    const ConstTensor& positions, const ConstTensor& cache,
                    const ConstTensor& x, const Tensor& out) {
  const int64_t width = cache.desc.shape[1];
  const Pairing pairing = options.style == CachedStyle::kNeox
                              ? Pairing::kHalf
                              : Pairing::kInterleave;
  std::vector<Real> row(width), turned(width);
  ForEachIndex(x.desc, 2, [&](int64_t* index) {
    const int64_t token = index[0];
    for (int64_t d = 0; d < width; ++d) {
      row[d] = static_cast<Real>(At(x, index, d));
    }
    RotateRow<Real>(
        pairing, options.direction, row, &turned,
        [&](int64_t k, const Pair&) -> Angles<Real> {
          int64_t at[2] = {PositionAt(positions, SectionOf(options, k), token),
                           0};
          const auto c = static_cast<Real>(At(cache, at, k));
          const auto s = static_cast<Real>(At(cache, at, width / 2 + k));
          return {c, c, s, s};
        });
    for (int64_t d = 0; d < x.desc.shape[2]; ++d) {
      index[2] = d;
      if (d < width) {
        Encode(out.desc.dtype, static_cast<double>(turned[d]),
               Address(out, index));
      } else {
        std::memmove(Address(out, index), Address(x, index),
                     ElementBytes(x.desc.dtype));
      }
    }
  });
}

// Where the element at `index` of a tensor lies in lexicographic order.
int64_t Ordinal(const TensorDesc& desc, const int64_t* index) {
  int64_t ordinal = 0;
  for (int axis = 0; axis < desc.rank; ++axis) {
    ordinal = ordinal * desc.shape[axis] + index[axis];
  }
  return ordinal;
}

void AddTerm(double term, size_t at, std::vector<double>* sum,
             std::vector<double>* abs) {
  (*sum)[at] += term;
  (*abs)[at] += std::fabs(term);
}

}  // namespace

size_t ElementBytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
    case Dtype::kBF16:
      return 2;
    case Dtype::kF32:
    case Dtype::kI32:
      return 4;
    case Dtype::kF64:
    case Dtype::kI64:
      return 8;
  }
  return 0;
}

Pair PairAt(Pairing pairing, int64_t width, int64_t k) {
  const int64_t half = width / 2;
  const int64_t quarter = width / 4;
  switch (pairing) {
    case Pairing::kHalf:
      return {k, k + half, k, k + half};
    case Pairing::kInterleave:
      return {2 * k, 2 * k + 1, 2 * k, 2 * k + 1};
    case Pairing::kQuarter: {
      const int64_t first = k < quarter ? k : k - quarter + half;
      return {first, first + quarter, first, first + quarter};
    }
    case Pairing::kInterleaveHalf:
      return {2 * k, 2 * k + 1, k, k + half};
  }
  return {};
}

void Rotate(const RotateOptions& options, const ConstTensor& x,
            const ConstTensor& cos, const ConstTensor& sin, const Tensor& y) {
  RotateAny(options, Direction::kForward, x, cos, sin, y);
}

void RotateBackward(const RotateOptions& options, const ConstTensor& dy,
                    const ConstTensor& cos, const ConstTensor& sin,
                    const Tensor& dx) {
  RotateAny(options, Direction::kBackward, dy, cos, sin, dx);
}

void RotateCached(const RotateCachedOptions& options,
                  const ConstTensor& positions, const ConstTensor& cache,
                  const ConstTensor& x, const Tensor& out) {
  const ConstTensor in{SplitHeads(x.desc, options.head_size), x.data};
  const Tensor to{SplitHeads(out.desc, options.head_size), out.data};
  if (x.desc.dtype == Dtype::kF64) {
    RotateCachedIn<double>(options, positions, cache, in, to);
  } else {
    RotateCachedIn<float>(options, positions, cache, in, to);
  }
}

std::vector<double> ExactRotate(const RotateOptions& options,
                                const ConstTensor& x, const ConstTensor& cos,
                                const ConstTensor& sin) {
  return ExactAny(options, Direction::kForward, x, cos, sin);
}

std::vector<double> ExactRotateBackward(const RotateOptions& options,
                                        const ConstTensor& dy,
                                        const ConstTensor& cos,
                                        const ConstTensor& sin) {
  return ExactAny(options, Direction::kBackward, dy, cos, sin);
}

void AddTableGradients(const RotateOptions& options, const ConstTensor& dy,
                       const ConstTensor& x, const TensorDesc& cos,
                       TableGradients* gradients) {
  size_t count = 1;
  for (int axis = 0; axis < cos.rank; ++axis) count *= cos.shape[axis];
  TableGradients& sums = *gradients;
  for (auto* v : {&sums.dcos, &sums.dcos_abs, &sums.dsin, &sums.dsin_abs}) {
    v->resize(count);
  }
  const Columns columns = Rotated(options, x.desc);
  const int last = cos.rank - 1;
  const bool full = cos.shape[last] == columns.width;
  ForEachIndex(dy.desc, dy.desc.rank - 1, [&](int64_t* index) {
    int64_t table[kMaxRank] = {};
    Broadcast(cos, index, table);
    table[last] = 0;
    const int64_t row = Ordinal(cos, table);
    for (int64_t k = 0; k < columns.width / 2; ++k) {
      const Pair pair = PairAt(options.pairing, columns.width, k);
      const double a = At(x, index, columns.start + pair.i);
      const double b = At(x, index, columns.start + pair.j);
      const double g = At(dy, index, columns.start + pair.p);
      const double h = At(dy, index, columns.start + pair.r);
      const size_t p = row + (full ? pair.p : k);
      const size_t r = row + (full ? pair.r : k);
      AddTerm(g * a, p, &sums.dcos, &sums.dcos_abs);
      AddTerm(h * b, r, &sums.dcos, &sums.dcos_abs);
      AddTerm(-(g * b), p, &sums.dsin, &sums.dsin_abs);
      AddTerm(h * a, r, &sums.dsin, &sums.dsin_abs);
    }
  });
}

}  // namespace ropewalk::reference
