#include "bench/shapes.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "bench/made_input.h"

namespace ropewalk::bench {
namespace {

int64_t AxisSize(const Work& work, char axis, int64_t width) {
  return axis == 'B'   ? work.batch
         : axis == 'S' ? work.tokens
         : axis == 'N' ? work.heads
                       : width;
}

// A contiguous tensor with the axes of the layout, seen in the order of the
// view; those that `axes` does not name have size 1.
TensorDesc Desc(const Work& work, Dtype dtype, std::string_view axes,
                int64_t width) {
  int64_t shape[kMaxRank];
  for (size_t i = 0; i < work.layout.size(); ++i) {
    const char axis = work.layout[i];
    const bool has = axis == 'D' || axes.find(axis) != axes.npos;
    shape[i] = has ? AxisSize(work, axis, width) : 1;
  }
  const TensorDesc memory = TensorDesc::Contiguous(
      dtype, std::span<const int64_t>(shape, work.layout.size()));
  TensorDesc seen = memory;
  for (size_t i = 0; i < work.view.size(); ++i) {
    const size_t from = work.layout.find(work.view[i]);
    seen.shape[i] = memory.shape[from];
    seen.strides[i] = memory.strides[from];
  }
  return seen;
}

// Of all lines that hold a column of the slice, where x starts a line.
size_t SliceBytes(const Work& work) {
  constexpr size_t kLine = 64;
  const size_t element = DtypeSize(work.dtype);
  const size_t row = static_cast<size_t>(work.width) * element;
  const size_t slice = static_cast<size_t>(work.rotated) * element;
  const auto rows = static_cast<size_t>(work.batch * work.tokens * work.heads);
  size_t lines = 0;
  size_t next = 0;  // the first line that is not counted yet
  for (size_t i = 0; i < rows; ++i) {
    const size_t end = (i + 1) * row;
    const size_t first = std::max(next, (end - slice) / kLine);
    next = (end - 1) / kLine + 1;
    lines += next - first;
  }
  return lines * kLine;
}

size_t CachedBytes(const Work& work) {
  CachedDescs descs = CachedTensors(work);
  descs.cache.shape[0] = std::min(kCacheRows, work.tokens);
  return TensorBytes(descs.positions) + TensorBytes(descs.cache) +
         2 * (TensorBytes(descs.query) + TensorBytes(descs.key));
}

}  // namespace

TensorDesc DataDesc(const Work& work) {
  return Desc(work, work.dtype, work.layout, work.width);
}

TensorDesc TableDesc(const Work& work) {
  return Desc(work, work.table_dtype, work.table_axes, work.rotated);
}

RotateOptions Options(const Work& work) {
  RotateOptions options;
  options.pairing = work.pairing;
  if (work.rotated != work.width) {
    options.slice = Slice{work.width - work.rotated, work.width};
  }
  return options;
}

CachedDescs CachedTensors(const Work& work) {
  const bool plain = work.positions == Positions::kPlain;
  const TensorDesc positions =
      plain ? TensorDesc::Contiguous(Dtype::kI64, {work.tokens})
            : TensorDesc::Contiguous(Dtype::kI64, {3, work.tokens});
  const auto rows = [&work](int64_t heads) {
    return TensorDesc::Contiguous(work.dtype,
                                  {work.tokens, heads * work.width});
  };
  return {positions,
          TensorDesc::Contiguous(work.table_dtype, {kCacheRows, work.rotated}),
          rows(work.heads), rows(kKeyHeads)};
}

size_t LeastBytes(const Work& work) {
  const size_t rows = work.rotated == work.width ? TensorBytes(DataDesc(work))
                                                 : SliceBytes(work);
  const size_t tables = 2 * TensorBytes(TableDesc(work));
  switch (work.kind) {
    case Kind::kForward:
    case Kind::kInPlace:
    case Kind::kDx:
      return 2 * rows + tables;
    case Kind::kGradients:
      return 3 * rows + 2 * tables;
    case Kind::kCached:
      return CachedBytes(work);
    case Kind::kRefused:
    case Kind::kPlan:
      break;
  }
  return 0;
}

}  // namespace ropewalk::bench
