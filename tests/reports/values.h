// Small calls with numbers that can be read.

#ifndef ROPEWALK_TESTS_REPORTS_VALUES_H_
#define ROPEWALK_TESTS_REPORTS_VALUES_H_

#include <functional>
#include <vector>

#include "support/cases.h"
#include "support/run.h"
#include "support/test_tensor.h"

namespace ropewalk::test {

using Values = std::vector<double>;

/// A contiguous tensor of these values.
TestTensor Of(Dtype dtype, const Shape& shape, const Values& values);
TestTensor Of(const Shape& shape, const Values& values);  ///< f32
/// Its values in lexicographic order.
Values ValuesOf(const TestTensor& tensor);

/// y, or dx, of f32 rows with tables of the same shape.
Values TurnRow(Pairing pairing, Direction direction, const Values& x,
               const Values& cos, const Values& sin);

/// A cached rotation of the query alone, f32; `row(p, column)` makes the cache.
struct SmallCached {
  int64_t heads = 1, head_size = 4, rotary_dim = 4, rows = 8;
  CachedStyle style = CachedStyle::kNeox;
  AxisLayout axes = AxisLayout::kSegmented;
  std::vector<int64_t> sections = {};
  Values positions = {0};  ///< row after row where there are sections
  std::function<double(int64_t, int64_t)> row = {};
  Values query = {};  ///< empty: all 1
};
Values RowsOf(const SmallCached& call);
/// What the run says.
Status Try(const SmallCached& call);

/// cos = p, sin = 0: the output shows which row was taken.
std::function<double(int64_t, int64_t)> RowNumbers(int64_t rotary_dim);
/// cos = 0, sin = 1: a quarter turn.
std::function<double(int64_t, int64_t)> QuarterTurns(int64_t rotary_dim);

/// The same result, in place and out of place, as the reference's; and the
/// memory around as it was.
void ExpectReference(const RotateOptions& options, Direction direction,
                     const TestTensor& x, const TestTensor& cos,
                     const TestTensor& sin);

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_REPORTS_VALUES_H_
