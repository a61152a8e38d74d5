// How a tensor lies in memory: dtype, shape and strides, without the data.

#ifndef ROPEWALK_TENSOR_H_
#define ROPEWALK_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "ropewalk/export.h"

namespace ropewalk {

enum class Dtype : uint8_t {
  kF32,   ///< IEEE 754 binary32
  kF16,   ///< IEEE 754 binary16
  kBF16,  ///< the upper half of a binary32
  kF64,   ///< IEEE 754 binary64
  kI32,   ///< signed 32-bit integer: positions only
  kI64,   ///< signed 64-bit integer: positions only
};

/// Bytes of one element.
ROPEWALK_EXPORT size_t DtypeSize(Dtype dtype) noexcept;
/// "f32", "f16", "bf16", "f64", "i32" or "i64".
ROPEWALK_EXPORT const char* DtypeName(Dtype dtype) noexcept;

/// The highest rank that an operator takes.
inline constexpr int kMaxRank = 8;

/// Dtype, shape and strides of a tensor. Strides count elements; they may be 0
/// or negative in inputs. The element at index (i0, i1, ...) is at
/// data + (i0 * strides[0] + i1 * strides[1] + ...) elements.
struct ROPEWALK_EXPORT TensorDesc {
  Dtype dtype = Dtype::kF32;
  int rank = 0;  ///< 0 to kMaxRank; other values are refused by MakePlan
  int64_t shape[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};

  friend bool operator==(const TensorDesc&, const TensorDesc&) = default;

  /// A row-major tensor without gaps. A shape longer than kMaxRank is kept as
  /// its rank only, for the operator to refuse.
  static TensorDesc Contiguous(Dtype dtype,
                               std::span<const int64_t> shape) noexcept;
  static TensorDesc Contiguous(Dtype dtype,
                               std::initializer_list<int64_t> shape) noexcept {
    return Contiguous(dtype,
                      std::span<const int64_t>(shape.begin(), shape.size()));
  }
  /// A view with strides of its own; `strides` is as long as `shape`.
  static TensorDesc Strided(Dtype dtype, std::span<const int64_t> shape,
                            std::span<const int64_t> strides) noexcept;
  static TensorDesc Strided(Dtype dtype, std::initializer_list<int64_t> shape,
                            std::initializer_list<int64_t> strides) noexcept {
    return Strided(dtype, std::span<const int64_t>(shape.begin(), shape.size()),
                   std::span<const int64_t>(strides.begin(), strides.size()));
  }
};

/// A tensor to read: its layout and its first element's address.
struct ConstTensor {
  TensorDesc desc;
  const void* data = nullptr;
};

/// A tensor to write.
struct Tensor {
  TensorDesc desc;
  void* data = nullptr;
  operator ConstTensor() const { return {desc, data}; }  // NOLINT: a view of it
};

}  // namespace ropewalk

#endif  // ROPEWALK_TENSOR_H_
