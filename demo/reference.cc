#include "demo/reference.h"

#include <cmath>

namespace ropewalk::demo {
namespace {

// Calls fn(i, j, p, r) for each pair: elements i and j of the rows, p and r of
// the tables.
template <class Fn>
void ForPairs(const Rows& rows, size_t size, const Fn& fn) {
  const size_t half = rows.width / 2;
  for (size_t row = 0; row < size / rows.width; ++row) {
    for (size_t k = 0; k < half; ++k) {
      const size_t i = row * rows.width + k;
      const size_t p = row / rows.heads * rows.width + k;
      fn(i, i + half, p, p + half);
    }
  }
}

double Product(float a, float b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

}  // namespace

std::vector<double> Rotate(const Rows& rows, std::span<const float> x,
                           const Tables& tables) {
  const std::span<const float> cos = tables.cos;
  const std::span<const float> sin = tables.sin;
  std::vector<double> y(x.size());
  ForPairs(rows, x.size(), [&](size_t i, size_t j, size_t p, size_t r) {
    y[i] = Product(x[i], cos[p]) - Product(x[j], sin[p]);
    y[j] = Product(x[j], cos[r]) + Product(x[i], sin[r]);
  });
  return y;
}

std::vector<double> RotateBackward(const Rows& rows, std::span<const float> dy,
                                   const Tables& tables) {
  const std::span<const float> cos = tables.cos;
  const std::span<const float> sin = tables.sin;
  std::vector<double> dx(dy.size());
  ForPairs(rows, dy.size(), [&](size_t i, size_t j, size_t p, size_t r) {
    dx[i] = Product(dy[i], cos[p]) + Product(dy[j], sin[r]);
    dx[j] = Product(dy[j], cos[r]) - Product(dy[i], sin[p]);
  });
  return dx;
}

TermSums SumTerms(const Rows& rows, std::span<const float> dy,
                  std::span<const float> x) {
  const size_t size = x.size() / rows.heads;
  TermSums sums{std::vector<double>(size), std::vector<double>(size)};
  ForPairs(rows, x.size(), [&](size_t i, size_t j, size_t p, size_t r) {
    sums.cos[p] += std::abs(Product(dy[i], x[i]));
    sums.cos[r] += std::abs(Product(dy[j], x[j]));
    sums.sin[p] += std::abs(Product(dy[i], x[j]));
    sums.sin[r] += std::abs(Product(dy[j], x[i]));
  });
  return sums;
}

}  // namespace ropewalk::demo
