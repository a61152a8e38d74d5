// How two products become an element, in the ways that arithmetic differs.

#ifndef ROPEWALK_SRC_VERIFY_FINISH_H_
#define ROPEWALK_SRC_VERIFY_FINISH_H_

#include "verify/numbers.h"
#include "verify/rotator.h"

namespace ropewalk::verify {

inline double ToF32(double value) {
  return static_cast<double>(static_cast<float>(value));
}

/// One element in `format`. The products are exact where the data are not f64;
/// f64 data are computed in double. `second_of_pair` tells the element, for the
/// kinds that treat the two of a pair differently.
inline double Apply(Finish finish, const Format& format, double first,
                    double second, bool second_of_pair) {
  static constexpr Format kBrain = {0x1p-126, 0x1p-7, 0x1.fep127, 0, 0};
  static constexpr Format kHalf = {0x1p-14, 0x1p-10, 65504.0, 0, 0};
  if (format.ulp_of_one < 1e-15 && finish <= Finish::kTruncate) {
    return first + second;
  }
  const auto fused = [&](bool fuse_first) {
    const double a = fuse_first ? first : ToF32(first);
    const double b = fuse_first ? ToF32(second) : second;
    return Round(format, ToF32(a + b));
  };
  const auto narrow = [&](const Format& in) {
    return Round(format, Round(in, Round(in, first) + Round(in, second)));
  };
  const auto narrow_products = [&](const Format& in) {
    return Round(format, ToF32(Round(in, first) + Round(in, second)));
  };
  switch (finish) {
    case Finish::kExact:
      return first + second;
    case Finish::kContract:
      return Round(format, ToF32(ToF32(first) + ToF32(second)));
    case Finish::kTruncate:
      return Truncate(format, ToF32(ToF32(first) + ToF32(second)));
    case Finish::kFuseFirst:
      return fused(true);
    case Finish::kFuseSecond:
      return fused(false);
    case Finish::kFuseFirstThenSecond:
      return fused(!second_of_pair);
    case Finish::kFuseSecondThenFirst:
      return fused(second_of_pair);
    case Finish::kBF16Products:
      return narrow_products(kBrain);
    case Finish::kFP16Products:
      return narrow_products(kHalf);
    case Finish::kBF16:
      return narrow(kBrain);
    case Finish::kFP16:
      return narrow(kHalf);
  }
  return first + second;
}

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_FINISH_H_
