// One number at a time between float and the 16-bit types, nearest even.

#ifndef ROPEWALK_COMPAT_ACLNN_FLOAT16_H_
#define ROPEWALK_COMPAT_ACLNN_FLOAT16_H_

#include <bit>
#include <cstdint>

namespace ropewalk_aclnn {

inline float HalfToFloat(uint16_t half) noexcept {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00) {  // infinity, NaN
    return std::bit_cast<float>(sign | 0x7f800000u | magnitude << 13);
  }
  // Moves the exponent by 112 with a product, which is right for subnormals.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}

inline uint16_t FloatToHalf(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // from 65520 on
  if (magnitude < 0x38800000) {  // below 2^-14: the last place is 2^-24
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
    return sign |
           static_cast<uint16_t>(std::bit_cast<uint32_t>(scaled) - 0x3f000000);
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return sign | static_cast<uint16_t>((rounded - 0x38000000) >> 13);
}

inline float BfloatToFloat(uint16_t bfloat) noexcept {
  return std::bit_cast<float>(uint32_t{bfloat} << 16);
}

inline uint16_t FloatToBfloat(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) {
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  }
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_FLOAT16_H_
