// A tensor as a file holds it, and the names of dtypes in files.

#ifndef ROPEWALK_IO_STORED_TENSOR_H_
#define ROPEWALK_IO_STORED_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ropewalk/status.h"
#include "ropewalk/tensor.h"

namespace ropewalk::io {

/// The code of a file that cannot be read or written, or that lies. (Others
/// are kDtype and kOutOfMemory.)
inline constexpr Code kFileCode = Code::kShape;

/// Called by writers after each part with the bytes just written.
using OnBytes = std::function<void(size_t)>;

/// Name, dtype, shape and bytes. A reader's `data` belongs to the file object
/// and is aligned for its elements.
struct StoredTensor {
  std::string name;
  std::string dtype;  ///< as safetensors spells it: "F32", "BF16", "U8", ...
  std::vector<int64_t> shape;
  const void* data = nullptr;
  size_t bytes = 0;
  bool column_major = false;  ///< first index fastest (npy's fortran_order)
};

/// Bytes of an element, 0 for a dtype that is not known.
size_t StoredDtypeSize(std::string_view dtype) noexcept;

/// "F32" for kF32, and so on.
const char* StoredDtypeName(Dtype dtype) noexcept;

/// The inverse; nothing for dtypes that no operator takes.
std::optional<Dtype> ParseStoredDtype(std::string_view dtype) noexcept;

/// Product of the sizes and `element_size`; nothing for a negative size, or
/// when the product (zeros left out) is beyond int64.
std::optional<size_t> ByteCount(std::span<const int64_t> shape,
                                size_t element_size) noexcept;

/// The layout for an operator; refuses dtypes that no operator takes.
Result<TensorDesc> Describe(const StoredTensor& tensor);

/// A contiguous tensor in memory, to be written under `name`.
StoredTensor Store(std::string name, const ConstTensor& tensor);

/// "name" with quotes, control characters escaped, for messages.
std::string Quote(std::string_view name);

/// "[2, 3]", for messages.
std::string ShapeText(std::span<const int64_t> shape);

}  // namespace ropewalk::io

#endif  // ROPEWALK_IO_STORED_TENSOR_H_
