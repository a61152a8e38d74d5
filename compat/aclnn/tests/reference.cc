#include "reference.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ropewalk_aclnn {

std::vector<Pair> PairsOf(int mode, int64_t width) {
  std::vector<Pair> pairs;
  const int64_t half = width / 2;
  const int64_t quarter = width / 4;
  for (int64_t k = 0; k < half; ++k) {
    const int64_t q = k < quarter ? k : k + quarter;
    if (mode == 0) pairs.push_back({k, k + half, k, k + half});
    if (mode == 1) pairs.push_back({2 * k, 2 * k + 1, 2 * k, 2 * k + 1});
    if (mode == 2) pairs.push_back({q, q + quarter, q, q + quarter});
    if (mode == 3) pairs.push_back({2 * k, 2 * k + 1, k, k + half});
  }
  return pairs;
}

int64_t TableRow(const Shape& x, const Shape& table, int64_t row) {
  int64_t result = 0;
  int64_t step = 1;
  for (size_t axis = x.size() - 1; axis-- > 0;) {
    if (table[axis] != 1) result += row % x[axis] * step;
    step *= table[axis];
    row /= x[axis];
  }
  return result;
}

namespace {

// Calls body(first element of the row in x, in the table).
template <class Body>
void ForRows(const Shape& x, const Shape& table, Body body) {
  const int64_t width = x.back();
  const int64_t rows = width == 0 ? 0 : Count(x) / width;
  for (int64_t row = 0; row < rows; ++row) {
    body(static_cast<size_t>(row * width),
         static_cast<size_t>(TableRow(x, table, row) * width));
  }
}

float F(double value) { return static_cast<float>(value); }

// Two products and one sum, each rounded to float.
double Combine(double a, double c, double b, double s, bool minus) {
  const float first = F(a) * F(c);
  const float second = F(b) * F(s);
  return minus ? first - second : first + second;
}

}  // namespace

Values Forward(int mode, const Shape& x_shape, const Values& x,
               const Shape& table_shape, const Values& cos, const Values& sin) {
  Values y(x.size());
  const auto pairs = PairsOf(mode, x_shape.back());
  ForRows(x_shape, table_shape, [&](size_t at, size_t t) {
    for (const Pair& k : pairs) {
      const double a = x[at + k.i];
      const double b = x[at + k.j];
      y[at + k.p] = Combine(a, cos[t + k.p], b, sin[t + k.p], true);
      y[at + k.r] = Combine(b, cos[t + k.r], a, sin[t + k.r], false);
    }
  });
  return y;
}

Values Backward(int mode, const Shape& x_shape, const Values& dy,
                const Shape& table_shape, const Values& cos,
                const Values& sin) {
  Values dx(dy.size());
  const auto pairs = PairsOf(mode, x_shape.back());
  ForRows(x_shape, table_shape, [&](size_t at, size_t t) {
    for (const Pair& k : pairs) {
      const double p = dy[at + k.p];
      const double r = dy[at + k.r];
      dx[at + k.i] = Combine(p, cos[t + k.p], r, sin[t + k.r], false);
      dx[at + k.j] = Combine(r, cos[t + k.r], p, sin[t + k.p], true);
    }
  });
  return dx;
}

void AddSums(int mode, const Shape& x_shape, const Values& x, const Values& dy,
             const Shape& table_shape, Values* dcos, Values* dsin) {
  const auto pairs = PairsOf(mode, x_shape.back());
  ForRows(x_shape, table_shape, [&](size_t at, size_t t) {
    for (const Pair& k : pairs) {
      const double a = x[at + k.i];
      const double b = x[at + k.j];
      (*dcos)[t + k.p] += dy[at + k.p] * a;
      (*dcos)[t + k.r] += dy[at + k.r] * b;
      (*dsin)[t + k.p] -= dy[at + k.p] * b;
      (*dsin)[t + k.r] += dy[at + k.r] * a;
    }
  });
}

void ExpectValues(const TestTensor& tensor, const Values& values) {
  const Values got = tensor.Values();
  ASSERT_EQ(got.size(), values.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], RoundTo(tensor.dtype(), values[i])) << "at " << i;
  }
}

void ExpectNear(const TestTensor& tensor, const Values& values, double error) {
  const Values got = tensor.Values();
  ASSERT_EQ(got.size(), values.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], values[i], error * (1 + std::abs(values[i])))
        << "at " << i;
  }
}

}  // namespace ropewalk_aclnn
