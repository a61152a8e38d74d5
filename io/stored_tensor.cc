#include "io/stored_tensor.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace ropewalk::io {
namespace {

struct DtypeRow {
  std::string_view name;
  size_t size;
  std::optional<Dtype> dtype;
};

constexpr DtypeRow kDtypes[] = {
    {"F32", 4, Dtype::kF32},      {"F16", 2, Dtype::kF16},
    {"BF16", 2, Dtype::kBF16},    {"F64", 8, Dtype::kF64},
    {"I32", 4, Dtype::kI32},      {"I64", 8, Dtype::kI64},
    {"BOOL", 1, std::nullopt},    {"U8", 1, std::nullopt},
    {"I8", 1, std::nullopt},      {"F8_E4M3", 1, std::nullopt},
    {"F8_E5M2", 1, std::nullopt}, {"F8_E8M0", 1, std::nullopt},
    {"U16", 2, std::nullopt},     {"I16", 2, std::nullopt},
    {"U32", 4, std::nullopt},     {"U64", 8, std::nullopt},
    {"C64", 8, std::nullopt},
};

const DtypeRow* FindRow(std::string_view dtype) noexcept {
  const auto* row = std::ranges::find(kDtypes, dtype, &DtypeRow::name);
  return row == std::end(kDtypes) ? nullptr : row;
}

}  // namespace

size_t StoredDtypeSize(std::string_view dtype) noexcept {
  const DtypeRow* row = FindRow(dtype);
  return row == nullptr ? 0 : row->size;
}

const char* StoredDtypeName(Dtype dtype) noexcept {
  const auto* row = std::ranges::find(kDtypes, dtype, &DtypeRow::dtype);
  return row == std::end(kDtypes) ? "" : row->name.data();
}

std::optional<Dtype> ParseStoredDtype(std::string_view dtype) noexcept {
  const DtypeRow* row = FindRow(dtype);
  return row == nullptr ? std::nullopt : row->dtype;
}

std::optional<size_t> ByteCount(std::span<const int64_t> shape,
                                size_t element_size) noexcept {
  int64_t product = static_cast<int64_t>(element_size);
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      empty = true;
    } else if (product > std::numeric_limits<int64_t>::max() / size) {
      return std::nullopt;
    } else {
      product *= size;
    }
  }
  return empty ? 0 : static_cast<size_t>(product);
}

Result<TensorDesc> Describe(const StoredTensor& tensor) {
  const std::optional<Dtype> dtype = ParseStoredDtype(tensor.dtype);
  if (!dtype) {
    return Status(Code::kDtype,
                  tensor.name + ": dtype must be F32, F16, BF16, F64, I32 or " +
                      "I64, but is " + tensor.dtype);
  }
  TensorDesc desc = TensorDesc::Contiguous(*dtype, tensor.shape);
  if (tensor.column_major && desc.rank <= kMaxRank) {
    int64_t stride = 1;
    for (int axis = 0; axis < desc.rank; ++axis) {
      desc.strides[axis] = stride;
      stride *= std::max<int64_t>(desc.shape[axis], 1);
    }
  }
  return desc;
}

StoredTensor Store(std::string name, const ConstTensor& tensor) {
  StoredTensor stored;
  stored.name = std::move(name);
  stored.dtype = StoredDtypeName(tensor.desc.dtype);
  stored.shape.assign(tensor.desc.shape, tensor.desc.shape + tensor.desc.rank);
  stored.data = tensor.data;
  stored.bytes =
      ByteCount(stored.shape, DtypeSize(tensor.desc.dtype)).value_or(0);
  return stored;
}

std::string Quote(std::string_view name) {
  return nlohmann::json(name).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

}  // namespace ropewalk::io
