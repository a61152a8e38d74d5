#include "verify/numbers.h"

#include <cstring>

#include "kernels/reference.h"

namespace ropewalk::verify {
namespace {

float WidenBrain(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Without branches, so that compilers make vectors of it.
float WidenHalf(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  const uint32_t size = static_cast<uint32_t>(bits & 0x7fffU) << 13;
  // The exponent's bias is 112 less than that of fp32.
  const auto scaled =
      std::bit_cast<uint32_t>(std::bit_cast<float>(size) * 0x1p112F);
  const uint32_t special = size | 0x7f800000U;
  return std::bit_cast<float>((size >= 0x0f800000U ? special : scaled) | sign);
}

template <class Stored, class Convert>
void WidenAll(const void* from, int64_t count, const Convert& convert,
              double* __restrict to) {
  const auto* elements = static_cast<const Stored*>(from);
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<double>(convert(elements[i]));
  }
}

void WidenContiguous(Dtype dtype, const void* from, int64_t count, double* to) {
  switch (dtype) {
    case Dtype::kF32:
      return WidenAll<float>(
          from, count, [](float v) { return v; }, to);
    case Dtype::kF16:
      return WidenAll<uint16_t>(from, count, WidenHalf, to);
    case Dtype::kBF16:
      return WidenAll<uint16_t>(from, count, WidenBrain, to);
    default:
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(double));
  }
}

}  // namespace

Format FormatOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return {0x1p-14, 0x1p-10, 65504.0, 0x1p-24, 0x1p-149};
    case Dtype::kBF16:
      return {0x1p-126, 0x1p-7, 0x1.fep127, 0x1p-24, 0x1p-149};
    case Dtype::kF32:
      return {0x1p-126, 0x1p-23, 0x1.fffffep127, 0x1p-24, 0x1p-149};
    default:
      return {0x1p-1022, 0x1p-52, 0x1.fffffffffffffp1023, 0x1p-53, 0x1p-1074};
  }
}

void Widen(Dtype dtype, const void* from, int64_t stride, int64_t count,
           double* to) {
  if (stride == 1) return WidenContiguous(dtype, from, count, to);
  const auto step = stride * static_cast<int64_t>(DtypeSize(dtype));
  const auto* at = static_cast<const char*>(from);
  for (int64_t i = 0; i < count; ++i, at += step) {
    to[i] = reference::Decode(dtype, at);
  }
}

}  // namespace ropewalk::verify
