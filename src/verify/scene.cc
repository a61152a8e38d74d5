#include "verify/scene.h"

#include <algorithm>
#include <cstring>

#include "verify/numbers.h"

namespace ropewalk::verify {
namespace {

const void* At(const ConstTensor& tensor, int64_t offset) {
  return static_cast<const char*>(tensor.data) +
         offset * static_cast<int64_t>(DtypeSize(tensor.desc.dtype));
}

int64_t LastStride(const TensorDesc& desc) {
  return desc.strides[desc.rank - 1];
}

}  // namespace

std::vector<int> SectionOfPair(const std::vector<int64_t>& sizes,
                               AxisLayout axes, int64_t width) {
  std::vector<int> section(static_cast<size_t>(width / 2), 0);
  if (sizes.empty()) return section;
  if (axes == AxisLayout::kInterleaved && sizes.size() >= 3) {
    for (int64_t k = 0; k < width / 2; ++k) {
      const int64_t row = k % 3;
      if (row != 0 && k / 3 < sizes[static_cast<size_t>(row)]) {
        section[static_cast<size_t>(k)] = static_cast<int>(row);
      }
    }
    return section;
  }
  size_t k = 0;
  for (size_t row = 0; row < sizes.size(); ++row) {
    for (int64_t i = 0; i < sizes[row] && k < section.size(); ++i) {
      section[k++] = static_cast<int>(row);
    }
  }
  return section;
}

Tables::Tables(const ConstTensor& cos, const ConstTensor& sin, int64_t width)
    : width_(width), cos_(cos), sin_(sin) {
  const int last = cos.desc.rank - 1;
  full_ = cos.desc.shape[last] == width;
  for (int axis = 0; axis < last; ++axis) {
    if (cos.desc.shape[axis] == 1) continue;
    table_axes_.push_back(
        {cos.desc.shape[axis], cos.desc.strides[axis], sin.desc.strides[axis]});
    rows_ *= cos.desc.shape[axis];
    period_ = cos.desc.shape[axis];
  }
  slots_ = rows_;
}

Tables::Tables(const ConstTensor& positions, const ConstTensor& cache,
               const RotateCachedOptions& options)
    : cached_(true), positions_(positions) {
  width_ = cache.desc.shape[1];
  rows_ = cache.desc.shape[0];
  period_ = rows_;
  table_axes_ = {{rows_, cache.desc.strides[0], cache.desc.strides[0]}};
  cos_ = sin_ = cache;
  sin_.data = At(cache, width_ / 2 * cache.desc.strides[1]);
  slots_ = positions.desc.shape[positions.desc.rank - 1];
  if (!options.sections.empty() && options.sections[0] != 0) {
    section_sizes_.assign(options.sections.begin(), options.sections.end());
    sections_ = static_cast<int>(section_sizes_.size());
    axes_ = options.axes;
  }
}

int64_t Tables::Position(int section, int64_t slot) const {
  if (!cached_) return slot;
  const TensorDesc& desc = positions_.desc;
  const int64_t offset =
      desc.rank == 2 ? section * desc.strides[0] + slot * desc.strides[1]
                     : slot * desc.strides[0];
  if (desc.dtype == Dtype::kI32) {
    int32_t value;
    std::memcpy(&value, At(positions_, offset), sizeof(value));
    return value;
  }
  int64_t value;
  std::memcpy(&value, At(positions_, offset), sizeof(value));
  return value;
}

void Tables::LoadRow(int64_t row, double* cos, double* sin) const {
  int64_t cos_offset = 0;
  int64_t sin_offset = 0;
  for (size_t i = table_axes_.size(); i-- > 0;) {
    const Axis& axis = table_axes_[i];
    const int64_t index = i == 0 ? row : row % axis.size;
    row /= axis.size;
    cos_offset += index * axis.cos_stride;
    sin_offset += index * axis.sin_stride;
  }
  Widen(cos_.desc.dtype, At(cos_, cos_offset), LastStride(cos_.desc), numbers(),
        cos);
  Widen(sin_.desc.dtype, At(sin_, sin_offset), LastStride(sin_.desc), numbers(),
        sin);
}

void Scene::SetRows(const std::vector<bool>& kept) {
  const int last = x.desc.rank - 1;
  columns = x.desc.shape[last];
  rows = heads = 1;
  int64_t slot_step = 1;
  std::vector<Axis> inner_first;
  for (int i = last - 1; i >= 0; --i) {
    const int64_t size = x.desc.shape[i];
    rows *= size;
    if (size == 1) continue;
    const bool keeps = kept[static_cast<size_t>(i)];
    inner_first.push_back(
        {size, keeps ? slot_step : 0, keeps ? 0 : heads, x.desc.strides[i],
         x2.data != nullptr ? x2.desc.strides[i] : 0, result.desc.strides[i]});
    (keeps ? slot_step : heads) *= size;
  }
  for (const Axis& axis : inner_first) {
    if (!axes_.empty()) {
      Axis& in = axes_.back();
      const auto joins = [&in](int64_t inner, int64_t outer) {
        return inner * in.size == outer;
      };
      if (joins(in.slot_step, axis.slot_step) &&
          joins(in.head_step, axis.head_step) &&
          joins(in.x_stride, axis.x_stride) &&
          joins(in.x2_stride, axis.x2_stride) &&
          joins(in.result_stride, axis.result_stride)) {
        in.size *= axis.size;
        continue;
      }
    }
    axes_.push_back(axis);
  }
  run_ =
      !axes_.empty() && axes_.front().slot_step == 0 ? axes_.front().size : 1;
  std::ranges::reverse(axes_);
}

RowPlace Scene::Place(int64_t row) const {
  RowPlace place{};
  for (size_t i = axes_.size(); i-- > 0;) {
    const Axis& axis = axes_[i];
    const int64_t index = i == 0 ? row : row % axis.size;
    row /= axis.size;
    place.slot += index * axis.slot_step;
    place.head += index * axis.head_step;
    place.x += index * axis.x_stride;
    place.x2 += index * axis.x2_stride;
    place.result += index * axis.result_stride;
  }
  return place;
}

int64_t Scene::RowOf(int64_t slot, int64_t head) const {
  int64_t row = 0;
  for (const Axis& axis : axes_) {
    const int64_t index =
        axis.slot_step != 0 ? slot / axis.slot_step : head / axis.head_step;
    row = row * axis.size + index % axis.size;
  }
  return row;
}

void Scene::LoadX(const RowPlace& place, double* to) const {
  Widen(x.desc.dtype, At(x, place.x), LastStride(x.desc), columns, to);
}

void Scene::LoadX2(const RowPlace& place, double* to) const {
  Widen(x2.desc.dtype, At(x2, place.x2), LastStride(x2.desc), columns, to);
}

void Scene::LoadResult(const RowPlace& place, double* to) const {
  Widen(result.desc.dtype, At(result, place.result), LastStride(result.desc),
        columns, to);
}

std::vector<int64_t> Scene::ShownIndex(int64_t row, int64_t column) const {
  int64_t ordinal = row * columns + column;
  std::vector<int64_t> index(shown_shape.size());
  for (size_t i = index.size(); i-- > 0;) {
    index[i] = ordinal % shown_shape[i];
    ordinal /= shown_shape[i];
  }
  return index;
}

}  // namespace ropewalk::verify
