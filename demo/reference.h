// The half pairing in double, by plain loops: what the demo's errors are
// measured against. It shares no code with the library.

#ifndef ROPEWALK_DEMO_REFERENCE_H_
#define ROPEWALK_DEMO_REFERENCE_H_

#include <cstddef>
#include <span>
#include <vector>

namespace ropewalk::demo {

/// Rows of `width` numbers; `heads` rows that follow each other share a row of
/// cos and sin.
struct Rows {
  size_t heads = 1;
  size_t width = 2;
};

/// Tables of full width, as many rows as x has rows / heads.
struct Tables {
  std::span<const float> cos;
  std::span<const float> sin;
};

std::vector<double> Rotate(const Rows& rows, std::span<const float> x,
                           const Tables& tables);

std::vector<double> RotateBackward(const Rows& rows, std::span<const float> dy,
                                   const Tables& tables);

/// For each element of dcos and of dsin, the sum of its terms' magnitudes.
struct TermSums {
  std::vector<double> cos;
  std::vector<double> sin;
};

TermSums SumTerms(const Rows& rows, std::span<const float> dy,
                  std::span<const float> x);

}  // namespace ropewalk::demo

#endif  // ROPEWALK_DEMO_REFERENCE_H_
