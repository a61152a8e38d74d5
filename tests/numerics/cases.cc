#include "numerics/cases.h"

#include <cmath>
#include <cstdio>

#include "kernels/reference.h"
#include "support/ulp.h"

namespace ropewalk::test {
namespace {

constexpr int64_t kRows = 64, kTables = 8, kWidth = 64;

double Number(Dtype dtype, Inputs inputs, Random& random) {
  const double sign = random.OneIn(2) ? 1 : -1;
  const double one = 1.5 + random.Unit() / 2;
  const bool half = dtype == Dtype::kF16;
  if (inputs == Inputs::kWide) {
    const int64_t reach = half ? 10 : 30;
    return sign * std::ldexp(one, static_cast<int>(random.Int(-reach, reach)));
  }
  const int least = half ? -14 : dtype == Dtype::kF64 ? -1022 : -126;
  return sign * std::ldexp(one, least + static_cast<int>(random.Int(-9, 2)));
}

void Fill(TestTensor& tensor, Inputs inputs, Random& random) {
  if (inputs == Inputs::kRandom) {
    tensor.Fill(Data::kNormal, random);
  } else if (inputs == Inputs::kSpecial) {
    tensor.Fill(Data::kSpecial, random);
  } else {
    const int64_t count = Count(tensor.desc());
    for (int64_t i = 0; i < count; ++i) {
      tensor.Set(i, Number(tensor.desc().dtype, inputs, random));
    }
  }
}

Exact Two(long double a, long double b) {
  return {a + b, std::fabs(a) + std::fabs(b)};
}

// Calls visit(row of x, row of the tables, pair).
template <class Visit>
void ForEachPair(Pairing pairing, const Visit& visit) {
  for (int64_t row = 0; row < kRows * kTables; ++row) {
    for (int64_t k = 0; k < kWidth / 2; ++k) {
      visit(row * kWidth, row % kTables * kWidth,
            reference::PairAt(pairing, kWidth, k));
    }
  }
}

}  // namespace

const char* InputsName(Inputs inputs) {
  static const char* const kNames[] = {"random", "wide range", "subnormal",
                                       "special"};
  return kNames[static_cast<int>(inputs)];
}

NumericsCase::NumericsCase(Dtype dtype, Inputs inputs)
    : x(dtype, {kRows, kTables, kWidth}),
      dy(x.desc()),
      cos(dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32,
          {1, kTables, kWidth}),
      sin(cos.desc()) {
  Random random(static_cast<uint64_t>(inputs));
  Fill(x, inputs, random);
  Fill(dy, inputs, random);
  for (int64_t i = 0; i < kTables * kWidth; ++i) {
    const double angle = random.Unit() * 100;
    cos.Set(i, std::cos(angle));
    sin.Set(i, std::sin(angle));
  }
}

Exacts ExactTurn(Pairing pairing, Direction direction, const TestTensor& x,
                 const TestTensor& cos, const TestTensor& sin) {
  Exacts exact(static_cast<size_t>(Count(x.desc())));
  ForEachPair(pairing, [&](int64_t row, int64_t table,
                           const reference::Pair& pair) {
    const auto at = [](const TestTensor& t, int64_t i) {
      return static_cast<long double>(t.At(i));
    };
    const long double cp = at(cos, table + pair.p),
                      cr = at(cos, table + pair.r);
    const long double sp = at(sin, table + pair.p),
                      sr = at(sin, table + pair.r);
    const bool forward = direction == Direction::kForward;
    const long double a = at(x, row + (forward ? pair.i : pair.p));
    const long double b = at(x, row + (forward ? pair.j : pair.r));
    const auto first = static_cast<size_t>(row + (forward ? pair.p : pair.i));
    const auto second = static_cast<size_t>(row + (forward ? pair.r : pair.j));
    exact[first] = forward ? Two(a * cp, -(b * sp)) : Two(a * cp, b * sr);
    exact[second] = forward ? Two(b * cr, a * sr) : Two(b * cr, -(a * sp));
  });
  return exact;
}

Exacts ExactSums(Pairing pairing, const NumericsCase& c) {
  Exacts exact(2 * kTables * kWidth);
  const auto add = [&](int64_t at, long double term) {
    Exact& sum = exact[static_cast<size_t>(at)];
    sum.value += term;
    sum.abs += std::fabs(term);
  };
  ForEachPair(
      pairing, [&](int64_t row, int64_t table, const reference::Pair& pair) {
        const long double a = c.x.At(row + pair.i), b = c.x.At(row + pair.j);
        const long double g = c.dy.At(row + pair.p), h = c.dy.At(row + pair.r);
        add(table + pair.p, g * a);
        add(table + pair.r, h * b);
        add(kTables * kWidth + table + pair.p, -(g * b));
        add(kTables * kWidth + table + pair.r, h * a);
      });
  return exact;
}

void Errors::Add(Dtype dtype, double got, const Exact& exact) {
  ++count_;
  const double value = static_cast<double>(exact.value);
  const double rounded =
      dtype == Dtype::kF32
          ? static_cast<double>(static_cast<float>(exact.value))
          : reference::RoundTo(dtype, value);
  if (got == rounded || (std::isnan(got) && std::isnan(rounded))) {
    ++right_;
    if (!std::isfinite(got)) return;
  }
  if (!std::isfinite(got) || !std::isfinite(rounded)) {
    largest_ = HUGE_VAL;
    return;
  }
  const long double error = std::fabs(got - exact.value);
  largest_ =
      std::max(largest_, static_cast<double>(error) / Ulp(dtype, exact.value));
}

std::string Errors::Text() const {
  char text[64];
  const double share =
      100.0 * static_cast<double>(right_) / static_cast<double>(count_);
  std::snprintf(text, sizeof(text),
                largest_ < 100 ? "%.2f %%, %.2f" : "%.2f %%, %.0f", share,
                largest_);
  return text;
}

}  // namespace ropewalk::test
