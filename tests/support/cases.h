// What most tests loop over, and the checks that they share.

#ifndef ROPEWALK_TESTS_SUPPORT_CASES_H_
#define ROPEWALK_TESTS_SUPPORT_CASES_H_

#include <string>
#include <vector>

#include "support/run.h"
#include "support/test_tensor.h"

namespace ropewalk::test {

/// The dtypes of data and tables.
struct Dtypes {
  Dtype data;
  Dtype table;
};
const std::vector<Dtypes>& AllDtypes();
std::string Name(const Dtypes& dtypes);

const std::vector<Pairing>& AllPairings();
/// Can the pairing rotate a row of that many columns?
bool Fits(Pairing pairing, int64_t width);

inline constexpr Direction kDirections[] = {Direction::kForward,
                                            Direction::kBackward};

/// The rotation of x (or of dy: then the backward's dx) in either direction
/// through the public API.
struct Turn {
  RotateOptions options;
  Direction direction = Direction::kForward;
  ConstTensor x, cos, sin;
  Tensor y;
  Executor* executor = nullptr;
};
Status Execute(const Turn& turn);
/// The same by the reference.
void RunReference(const Turn& turn);

/// "half f32/bf16 backward slice [1, 5)".
std::string ToString(const Turn& turn);

/// dcos and dsin are within the bound of the exact sums: at most
/// 4 * 2^-24 * (sum of absolute terms) before the one rounding. (2^-53 times
/// the number of terms for f64.) NaN and infinity as the exact sums.
testing::AssertionResult WithinBound(const ConstTensor& got,
                                     const std::vector<double>& exact,
                                     const std::vector<double>& abs);

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_CASES_H_
