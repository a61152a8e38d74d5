#include "rotate_matrix.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "float16.h"

namespace ropewalk_aclnn {
namespace {

using ropewalk::Code;
using ropewalk::Dtype;
using ropewalk::DtypeSize;
using ropewalk::Status;
using ropewalk::TensorDesc;

float Load(Dtype dtype, const std::byte* at) noexcept {
  uint16_t small;
  float value;
  switch (dtype) {
    case Dtype::kF16:
      std::memcpy(&small, at, sizeof(small));
      return HalfToFloat(small);
    case Dtype::kBF16:
      std::memcpy(&small, at, sizeof(small));
      return BfloatToFloat(small);
    default:
      std::memcpy(&value, at, sizeof(value));
      return value;
  }
}

void Store(Dtype dtype, float value, std::byte* at) noexcept {
  if (dtype == Dtype::kF32) {
    std::memcpy(at, &value, sizeof(value));
    return;
  }
  const uint16_t small =
      dtype == Dtype::kF16 ? FloatToHalf(value) : FloatToBfloat(value);
  std::memcpy(at, &small, sizeof(small));
}

// The row of `desc` where x has `row`, an index over x's leading axes. Axes of
// size 1 stand for any index.
ptrdiff_t RowOffset(const TensorDesc& desc, const int64_t* row) noexcept {
  int64_t elements = 0;
  for (int axis = 0; axis + 1 < desc.rank; ++axis) {
    if (desc.shape[axis] != 1) elements += row[axis] * desc.strides[axis];
  }
  return elements * static_cast<int64_t>(DtypeSize(desc.dtype));
}

void LoadRow(const TensorDesc& desc, const void* data, const int64_t* row,
             std::vector<float>* values) noexcept {
  const std::byte* at =
      static_cast<const std::byte*>(data) + RowOffset(desc, row);
  const ptrdiff_t step =
      desc.strides[desc.rank - 1] * static_cast<int64_t>(DtypeSize(desc.dtype));
  for (float& value : *values) {
    value = Load(desc.dtype, at);
    at += step;
  }
}

// First and one past the last byte that a tensor touches.
std::pair<uintptr_t, uintptr_t> Range(const TensorDesc& desc,
                                      const void* data) noexcept {
  int64_t low = 0;
  int64_t high = 0;
  for (int axis = 0; axis < desc.rank; ++axis) {
    (desc.strides[axis] < 0 ? low : high) +=
        (desc.shape[axis] - 1) * desc.strides[axis];
  }
  const int64_t size = static_cast<int64_t>(DtypeSize(desc.dtype));
  const uintptr_t base = reinterpret_cast<uintptr_t>(data);
  return {base + static_cast<uintptr_t>(low * size),
          base + static_cast<uintptr_t>((high + 1) * size)};
}

bool RangesMeet(const TensorDesc& a, const void* a_data, const TensorDesc& b,
                const void* b_data) noexcept {
  const auto [a_begin, a_end] = Range(a, a_data);
  const auto [b_begin, b_end] = Range(b, b_data);
  return a_begin < b_end && b_begin < a_end;
}

bool SameView(const TensorDesc& a, const void* a_data, const TensorDesc& b,
              const void* b_data) noexcept {
  if (a_data != b_data) return false;
  for (int axis = 0; axis < a.rank; ++axis) {
    if (a.shape[axis] != 1 && a.strides[axis] != b.strides[axis]) return false;
  }
  return true;
}

Status Overlap(const char* with) {
  return Status(Code::kOverlap,
                std::string("out: must not overlap ") + with +
                    "; with rotate it is decided by address ranges");
}

}  // namespace

Status RotateMatrix::Run(const void* x_data, const void* cos_data,
                         const void* sin_data, const void* rotate_data,
                         void* y_data) const {
  if (!SameView(x, x_data, y, y_data) && RangesMeet(x, x_data, y, y_data)) {
    return Overlap("x but coincide with it");
  }
  if (RangesMeet(cos, cos_data, y, y_data)) return Overlap("cos");
  if (RangesMeet(sin, sin_data, y, y_data)) return Overlap("sin");
  if (RangesMeet(rotate, rotate_data, y, y_data)) return Overlap("rotate");

  const size_t width = static_cast<size_t>(x.shape[x.rank - 1]);
  std::vector<float> matrix(width * width);
  std::vector<float> row_of_matrix(width);
  for (size_t i = 0; i < width; ++i) {
    const int64_t row[2] = {static_cast<int64_t>(i), 0};
    LoadRow(rotate, rotate_data, row, &row_of_matrix);
    std::copy_n(row_of_matrix.begin(), width, matrix.begin() + i * width);
  }

  std::vector<float> x_row(width), c(width), s(width);
  std::vector<double> sums(width);
  const ptrdiff_t step =
      y.strides[y.rank - 1] * static_cast<int64_t>(DtypeSize(y.dtype));
  int64_t row[ropewalk::kMaxRank] = {};
  while (true) {
    LoadRow(x, x_data, row, &x_row);
    LoadRow(cos, cos_data, row, &c);
    LoadRow(sin, sin_data, row, &s);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (size_t i = 0; i < width; ++i) {
      for (size_t j = 0; j < width; ++j) {
        sums[j] += static_cast<double>(x_row[i]) * matrix[i * width + j];
      }
    }
    std::byte* at = static_cast<std::byte*>(y_data) + RowOffset(y, row);
    const size_t half = width / 2;
    for (size_t j = 0; j < width; ++j, at += step) {
      const size_t from = !deinterleave ? j
                          : j < half    ? 2 * j
                                        : 2 * (j - half) + 1;
      Store(y.dtype, x_row[from] * c[j] + static_cast<float>(sums[j]) * s[j],
            at);
    }
    int axis = x.rank - 2;
    while (axis >= 0 && ++row[axis] == x.shape[axis]) row[axis--] = 0;
    if (axis < 0) return Status();
  }
}

}  // namespace ropewalk_aclnn
