// The inputs of the table of errors, and exact results.

#ifndef ROPEWALK_TESTS_NUMERICS_CASES_H_
#define ROPEWALK_TESTS_NUMERICS_CASES_H_

#include <vector>

#include "support/cases.h"
#include "support/test_tensor.h"

namespace ropewalk::test {

enum class Inputs {
  kRandom,     ///< normal numbers; tables of angles
  kWide,       ///< magnitudes of 2^-30 to 2^30 (f16: 2^-10 to 2^10)
  kSubnormal,  ///< around the least normal number
  kSpecial,    ///< zeros, infinities, NaNs, the largest, subnormals
};
inline constexpr Inputs kAllInputs[] = {Inputs::kRandom, Inputs::kWide,
                                        Inputs::kSubnormal, Inputs::kSpecial};
const char* InputsName(Inputs inputs);

/// Tensors for all operators: x and dy (64, 8, 64), tables (1, 8, 64).
struct NumericsCase {
  NumericsCase(Dtype dtype, Inputs inputs);

  TestTensor x, dy, cos, sin;
};

/// An exact result, and the sum of its absolute terms.
struct Exact {
  long double value = 0, abs = 0;
};
using Exacts = std::vector<Exact>;

/// Of the forward, of dx, and of dcos and then dsin, in lexicographic order.
Exacts ExactTurn(Pairing pairing, Direction direction, const TestTensor& x,
                 const TestTensor& cos, const TestTensor& sin);
Exacts ExactSums(Pairing pairing, const NumericsCase& c);

/// Errors of many results.
class Errors {
 public:
  void Add(Dtype dtype, double got, const Exact& exact);
  /// "98.7 %, 1.2": correctly rounded, and the largest error in ulp.
  std::string Text() const;

 private:
  int64_t count_ = 0, right_ = 0;
  double largest_ = 0;
};

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_NUMERICS_CASES_H_
