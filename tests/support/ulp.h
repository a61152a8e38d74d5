// The distance between neighbouring numbers of a dtype.

#ifndef ROPEWALK_TESTS_SUPPORT_ULP_H_
#define ROPEWALK_TESTS_SUPPORT_ULP_H_

#include <algorithm>
#include <cmath>

#include "ropewalk/tensor.h"

namespace ropewalk::test {

/// One unit in the last place of a float dtype at `value`, which is finite.
inline double Ulp(Dtype dtype, long double value) {
  struct Format {
    int digits, least;  // exponent of the smallest subnormal number
  };
  const Format format = dtype == Dtype::kF64    ? Format{53, -1074}
                        : dtype == Dtype::kF32  ? Format{24, -149}
                        : dtype == Dtype::kBF16 ? Format{8, -133}
                                                : Format{11, -24};
  if (value == 0) return std::ldexp(1.0, format.least);
  return std::ldexp(
      1.0, std::max(std::ilogb(value) - format.digits + 1, format.least));
}

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_ULP_H_
