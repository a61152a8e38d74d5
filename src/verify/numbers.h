// Rows of numbers, widened to double and rounded again.

#ifndef ROPEWALK_SRC_VERIFY_NUMBERS_H_
#define ROPEWALK_SRC_VERIFY_NUMBERS_H_

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ropewalk/tensor.h"

namespace ropewalk::verify {

/// A binary format, as far as rounding goes.
struct Format {
  double min_normal;
  double ulp_of_one;  ///< the spacing from 1 to the next number
  double max_finite;
  /// Rounding of the arithmetic before the store, 2^-24 or 2^-53, and the
  /// smallest positive number that it knows.
  double unit;
  double tiny;
};

Format FormatOf(Dtype dtype);

/// The spacing of the format's numbers around `value`, which is finite.
inline double Ulp(const Format& format, double value) {
  double size = std::fabs(value);
  size = size < format.min_normal ? format.min_normal : size;
  const uint64_t exponent =
      std::bit_cast<uint64_t>(size) & (uint64_t{0x7ff} << 52);
  return std::bit_cast<double>(exponent) * format.ulp_of_one;
}

/// `value` rounded to a multiple of `ulp`, ties to even: adding and taking off
/// a number whose own spacing is `ulp` rounds.
inline double RoundToMultiple(double value, double ulp) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
  return (value + kShift * ulp) - kShift * ulp;
}

/// Rounds to nearest, ties to even; infinity beyond the range. In f64 nothing
/// changes.
inline double Round(const Format& format, double value) {
  if (format.ulp_of_one < 1e-15 || !std::isfinite(value)) return value;
  const double rounded = RoundToMultiple(value, Ulp(format, value));
  if (std::fabs(rounded) > format.max_finite) {
    return std::copysign(HUGE_VAL, value);
  }
  return std::copysign(rounded, value);
}

/// Rounds toward zero.
inline double Truncate(const Format& format, double value) {
  if (format.ulp_of_one < 1e-15 || !std::isfinite(value)) return value;
  const double size = std::fabs(value);
  if (size > format.max_finite) return std::copysign(format.max_finite, value);
  const double ulp = Ulp(format, value);
  double rounded = RoundToMultiple(size, ulp);
  if (rounded > size) rounded -= ulp;
  return std::copysign(rounded, value);
}

/// Widens `count` elements, `stride` elements apart.
void Widen(Dtype dtype, const void* from, int64_t stride, int64_t count,
           double* to);

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_NUMBERS_H_
