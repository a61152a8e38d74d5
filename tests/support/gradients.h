// A backward rotation with all its outputs, and its checks.

#ifndef ROPEWALK_TESTS_SUPPORT_GRADIENTS_H_
#define ROPEWALK_TESTS_SUPPORT_GRADIENTS_H_

#include "support/cases.h"
#include "support/layouts.h"

namespace ropewalk::test {

/// Shapes and dtypes of a backward with dcos and dsin.
struct GradientShapes {
  RotateOptions options;
  Dtypes dtypes;
  Shape shape;  ///< of dy, x, dx
  Shape table;
  Shape shape2 = {};  ///< of the second operand; empty: none
  Dtype data2 = Dtype::kF32;
};

/// Inputs and outputs of one backward.
/// `any`: tensors get random strides.
class GradientCase {
 public:
  /// Contiguous tensors, or random layouts; filled with `data`.
  GradientCase(const GradientShapes& s, Data data, Random& random,
               bool any = false);

  TestTensor& dy() { return dy_; }
  TestTensor& x() { return x_; }
  TestTensor& dcos() { return dcos_; }
  TestTensor& dsin() { return dsin_; }

  /// Runs with new outputs, NaN before, by `executor`.
  Status Run(bool with_dx, Executor* executor = nullptr);
  /// dcos and dsin within the bound, dx as the reference gives it, and nothing
  /// else written.
  void Check(bool with_dx);
  /// The elements of another run's dcos and dsin are the same bits.
  testing::AssertionResult SameTables(const GradientCase& other) const;
  /// Takes the values of another case of the same shapes.
  void CopyInputs(const GradientCase& other);

 private:
  void CheckDx(const TestTensor& dy, const TestTensor& got);
  bool two() const { return !shapes_.shape2.empty(); }

  GradientShapes shapes_;
  TestTensor dy_, x_, cos_, sin_, dcos_, dsin_, dx_;
  TestTensor dy2_, x2_, dx2_;
};

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_GRADIENTS_H_
