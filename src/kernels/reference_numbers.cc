// Conversions of the reference, from the definitions of the formats.

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/reference.h"

namespace ropewalk::reference {
namespace {

// A binary floating point format of 16 bits.
struct Format {
  int mantissa_bits;  // stored ones
  int min_exponent;   // of the smallest normal number
  int max_exponent;   // of the largest finite number
};

constexpr Format kHalfFormat = {10, -14, 15};
constexpr Format kBrainFormat = {7, -126, 127};

// The nearest number of the format, ties to even; infinity beyond its range.
double Nearest(const Format& format, double value) {
  if (std::isnan(value) || std::isinf(value) || value == 0.0) return value;
  int exponent = std::ilogb(value);
  if (exponent < format.min_exponent) exponent = format.min_exponent;
  const int unit = exponent - format.mantissa_bits;
  // Scaling by a power of two is exact; nearbyint rounds ties to even.
  const double rounded =
      std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  if (rounded != 0.0 && std::ilogb(rounded) > format.max_exponent) {
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  return std::copysign(rounded, value);
}

// The bits of a number that the format has.
uint32_t Pack(const Format& format, double value) {
  const int bias = format.max_exponent;
  const uint32_t top = 2 * bias + 1;  // exponent field of Inf and NaN
  const uint32_t sign = std::signbit(value) ? 1 : 0;
  uint32_t exponent = 0;
  uint32_t mantissa = 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) {
    exponent = top;
    mantissa = 1U << (format.mantissa_bits - 1);
  } else if (std::isinf(value)) {
    exponent = top;
  } else if (size != 0.0 && std::ilogb(size) >= format.min_exponent) {
    const int e = std::ilogb(size);
    exponent = e + bias;
    mantissa = static_cast<uint32_t>(
        std::ldexp(std::ldexp(size, -e) - 1.0, format.mantissa_bits));
  } else {
    mantissa = static_cast<uint32_t>(
        std::ldexp(size, format.mantissa_bits - format.min_exponent));
  }
  return (((sign * (top + 1)) + exponent) << format.mantissa_bits) | mantissa;
}

double Unpack(const Format& format, uint32_t bits) {
  const int bias = format.max_exponent;
  const uint32_t top = 2 * bias + 1;
  const uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1);
  const uint32_t exponent = (bits >> format.mantissa_bits) & top;
  const bool negative = (bits >> format.mantissa_bits) > top;
  double size;
  if (exponent == top) {
    size = mantissa == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(mantissa, format.min_exponent - format.mantissa_bits);
  } else {
    size = std::ldexp(1.0 + std::ldexp(mantissa, -format.mantissa_bits),
                      static_cast<int>(exponent) - bias);
  }
  return negative ? -size : size;
}

template <class T>
T Read(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof(value));
  return value;
}

template <class T>
void Write(T value, void* element) {
  std::memcpy(element, &value, sizeof(value));
}

}  // namespace

double Decode(Dtype dtype, const void* element) {
  switch (dtype) {
    case Dtype::kF32:
      return static_cast<double>(Read<float>(element));
    case Dtype::kF16:
      return Unpack(kHalfFormat, Read<uint16_t>(element));
    case Dtype::kBF16:
      return Unpack(kBrainFormat, Read<uint16_t>(element));
    case Dtype::kF64:
      return Read<double>(element);
    case Dtype::kI32:
      return static_cast<double>(Read<int32_t>(element));
    case Dtype::kI64:
      return static_cast<double>(Read<int64_t>(element));
  }
  return 0.0;
}

double RoundTo(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::kF32:
      return static_cast<double>(static_cast<float>(value));
    case Dtype::kF16:
      return Nearest(kHalfFormat, value);
    case Dtype::kBF16:
      return Nearest(kBrainFormat, value);
    default:
      return value;
  }
}

void Encode(Dtype dtype, double value, void* element) {
  switch (dtype) {
    case Dtype::kF32:
      return Write(static_cast<float>(value), element);
    case Dtype::kF16:
      return Write(
          static_cast<uint16_t>(Pack(kHalfFormat, RoundTo(dtype, value))),
          element);
    case Dtype::kBF16:
      return Write(
          static_cast<uint16_t>(Pack(kBrainFormat, RoundTo(dtype, value))),
          element);
    case Dtype::kF64:
      return Write(value, element);
    case Dtype::kI32:
      return Write(static_cast<int32_t>(value), element);
    case Dtype::kI64:
      return Write(static_cast<int64_t>(value), element);
  }
}

}  // namespace ropewalk::reference
