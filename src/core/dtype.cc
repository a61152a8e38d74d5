#include "core/dtype.h"

namespace ropewalk {
namespace {

struct DtypeInfo {
  size_t size;
  const char* name;
};
constexpr DtypeInfo kDtypes[] = {{4, "f32"}, {2, "f16"}, {2, "bf16"},
                                 {8, "f64"}, {4, "i32"}, {8, "i64"}};

}  // namespace

size_t DtypeSize(Dtype dtype) noexcept {
  const auto i = static_cast<size_t>(dtype);
  return i < std::size(kDtypes) ? kDtypes[i].size : 0;
}

const char* DtypeName(Dtype dtype) noexcept {
  const auto i = static_cast<size_t>(dtype);
  return i < std::size(kDtypes) ? kDtypes[i].name : "unknown";
}

const char* PairingName(Pairing pairing) noexcept {
  const auto i = static_cast<size_t>(pairing);
  return i < std::size(kPairings) ? kPairings[i].name : "unknown";
}

TensorDesc TensorDesc::Contiguous(Dtype dtype,
                                  std::span<const int64_t> shape) noexcept {
  TensorDesc desc;
  desc.dtype = dtype;
  desc.rank = static_cast<int>(shape.size());
  if (shape.size() > kMaxRank) return desc;
  // Unsigned, since a shape too large wraps here and is refused by MakePlan.
  uint64_t stride = 1;
  for (int i = desc.rank - 1; i >= 0; --i) {
    desc.shape[i] = shape[i];
    desc.strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(shape[i]);
  }
  return desc;
}

TensorDesc TensorDesc::Strided(Dtype dtype, std::span<const int64_t> shape,
                               std::span<const int64_t> strides) noexcept {
  TensorDesc desc;
  desc.dtype = dtype;
  desc.rank = static_cast<int>(shape.size());
  if (strides.size() != shape.size()) desc.rank = -1;
  if (desc.rank < 0 || desc.rank > kMaxRank) return desc;
  for (int i = 0; i < desc.rank; ++i) {
    desc.shape[i] = shape[i];
    desc.strides[i] = strides[i];
  }
  return desc;
}

}  // namespace ropewalk
