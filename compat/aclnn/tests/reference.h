// The operators in plain loops over row-major values, for the tests.

#ifndef ROPEWALK_COMPAT_ACLNN_TESTS_REFERENCE_H_
#define ROPEWALK_COMPAT_ACLNN_TESTS_REFERENCE_H_

#include <vector>

#include "support.h"

namespace ropewalk_aclnn {

using Values = std::vector<double>;

// Elements that rotate together: i and j in the row of x, p and r in the row of
// the tables and of y.
struct Pair {
  int64_t i, j, p, r;
};
std::vector<Pair> PairsOf(int mode, int64_t width);

// Index of the table's row (of its leading axes) for row `row` of x.
int64_t TableRow(const Shape& x, const Shape& table, int64_t row);

// Numbers as given; results in float arithmetic, not rounded to a type.
Values Forward(int mode, const Shape& x_shape, const Values& x,
               const Shape& table_shape, const Values& cos, const Values& sin);
Values Backward(int mode, const Shape& x_shape, const Values& dy,
                const Shape& table_shape, const Values& cos, const Values& sin);
// Adds to dcos and dsin, in double.
void AddSums(int mode, const Shape& x_shape, const Values& x, const Values& dy,
             const Shape& table_shape, Values* dcos, Values* dsin);

// Expects `tensor` to hold `values` rounded to its type, bit for bit (zeros of
// both signs are equal).
void ExpectValues(const TestTensor& tensor, const Values& values);
// The same within a relative error, for sums.
void ExpectNear(const TestTensor& tensor, const Values& values, double error);

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_TESTS_REFERENCE_H_
