#include "verify/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ropewalk::verify {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52

bool Same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// What a limit allows: half_ulps * ulp + per_term * terms + constant +
// per_want * |want|.
struct Allowance {
  double ulps = 0, per_term = 0, constant = 0, per_want = 0;
};

Allowance AllowanceOf(const Limit& limit, const Format& format,
                      Columns columns) {
  switch (limit.kind) {
    case Limit::Kind::kArithmetic:
      // Where nothing is computed nothing is rounded.
      if (columns == Columns::kCopied) return {};
      if (columns == Columns::kSummed)
        return {0.5, 4 * format.unit, format.tiny, 0};
      return {0.5, 2 * format.unit, format.tiny, 0};
    case Limit::Kind::kUlp:
      return {limit.ulp, 0, 0, 0};
    case Limit::Kind::kTolerance:
      return {0, 0, limit.atol, limit.rtol};
    case Limit::Kind::kBits:
      return {};
  }
  return {};
}

// Of numbers that are not negative, in lanes that compilers make vectors of.
double Largest(const double* numbers, size_t count) {
  constexpr size_t kLanes = 8;
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double number = numbers[i + lane];
      lanes[lane] = lanes[lane] < number ? number : lanes[lane];
    }
  }
  double largest = 0;
  for (; i < count; ++i) largest = std::max(largest, numbers[i]);
  for (const double lane : lanes) largest = std::max(largest, lane);
  return largest;
}

// What is added up over finite elements.
struct Sums {
  double ulp = 0, abs = 0, max_abs = 0, correct = 0, outside = 0;
  double beyond = 0;  // elements whose reference the format does not reach
};

constexpr size_t kPart = 256;

// What the two arrays are that are compared with the result.
enum class Given : uint8_t {
  kWantAndTerms,
  kProducts,  // their sum is wanted, and their sizes are the terms
};

// Adds at most kPart elements, and writes their errors in ulp.
template <Given kGiven>
void AddPart(const Format& format, const Allowance& allow, const double* a,
             const double* b, const double* got, size_t count, double* ulp,
             Sums* sums) {
  const double shift = format.ulp_of_one < 1e-15 ? 0 : kShift;
  const double ulp_of_one = format.ulp_of_one;
  const double per_ulp = 1 / ulp_of_one;
  const double min_normal = format.min_normal;
  const double max_finite = format.max_finite;
  constexpr uint64_t kExponent = uint64_t{0x7ff} << 52;
  constexpr uint64_t kInverse = uint64_t{0x7fe} << 52;
  double sum_ulp = 0, sum_abs = 0, correct = 0, outside = 0, beyond = 0;
  double abs[kPart];
#pragma omp simd reduction(+ : sum_ulp, sum_abs, correct, outside, beyond)
  for (size_t i = 0; i < count; ++i) {
    constexpr bool kSum = kGiven == Given::kProducts;
    const double w = kSum ? a[i] + b[i] : a[i];
    const double terms = kSum ? std::fabs(a[i]) + std::fabs(b[i]) : b[i];
    const double size = std::fabs(w);
    const double clamped = size < min_normal ? min_normal : size;
    const uint64_t exponent = std::bit_cast<uint64_t>(clamped) & kExponent;
    const double unit = std::bit_cast<double>(exponent) * ulp_of_one;
    const double inverse = std::bit_cast<double>(kInverse - exponent);
    const double rounded = (w + shift * unit) - shift * unit;
    const double error = std::fabs(got[i] - w);
    const double in_ulp = error * inverse * per_ulp;
    const double allowed = allow.ulps * unit + allow.per_term * terms +
                           allow.constant + allow.per_want * size;
    ulp[i] = in_ulp;
    abs[i] = error;
    sum_ulp += in_ulp;
    sum_abs += error;
    beyond += std::fabs(rounded) > max_finite ? 1.0 : 0.0;
    correct += rounded == got[i] ? 1.0 : 0.0;
    outside += error > allowed ? 1.0 : 0.0;
  }
  sums->ulp += sum_ulp;
  sums->abs += sum_abs;
  sums->max_abs = std::max(sums->max_abs, Largest(abs, count));
  sums->correct += correct;
  sums->outside += outside;
  sums->beyond += beyond;
}

template <Given kGiven>
void AddAll(const Format& format, const Allowance& allow, const double* a,
            const double* b, const double* got, size_t count, double* ulp,
            Sums* sums) {
  for (size_t first = 0; first < count; first += kPart) {
    AddPart<kGiven>(format, allow, a + first, b + first, got + first,
                    std::min(kPart, count - first), ulp + first, sums);
  }
}

// A NaN or an infinity makes a sum what it is itself.
bool AllFinite(const Sums& sums) {
  return sums.ulp < kInfinity && sums.abs < kInfinity && sums.beyond == 0;
}

Tally TallyOf(const Sums& sums, const double* ulp, size_t count) {
  Tally tally;
  tally.elements = tally.finite = static_cast<int64_t>(count);
  tally.correct = static_cast<int64_t>(sums.correct);
  tally.outside = tally.gross = static_cast<int64_t>(sums.outside);
  tally.sum_ulp = sums.ulp;
  tally.max_ulp = Largest(ulp, count);
  tally.sum_abs = sums.abs;
  tally.max_abs = sums.max_abs;
  return tally;
}

// Elements of other bits; -1 where that cannot be told, since the products do
// not know the sign of a sum of zeros.
int64_t CountDifferent(const double* a, const double* b, size_t count) {
  int64_t different = 0;
  for (size_t i = 0; i < count; ++i) {
    if (Same(a[i], b[i])) continue;
    if (a[i] == b[i]) return -1;
    ++different;
  }
  return different;
}

}  // namespace

void Tally::Add(const Tally& other) {
  elements += other.elements;
  finite += other.finite;
  correct += other.correct;
  outside += other.outside;
  gross += other.gross;
  nan_mismatches += other.nan_mismatches;
  inf_mismatches += other.inf_mismatches;
  sum_ulp += other.sum_ulp;
  sum_abs += other.sum_abs;
  max_ulp = std::max(max_ulp, other.max_ulp);
  max_abs = std::max(max_abs, other.max_abs);
}

Judge::Judge(Dtype dtype, const Limit& limit, Reference reference)
    : format_(FormatOf(dtype)), limit_(limit) {
  finish_ = reference == Reference::kContract    ? Finish::kContract
            : reference == Reference::kEagerBF16 ? Finish::kBF16
            : reference == Reference::kEagerFP16 ? Finish::kFP16
                                                 : Finish::kExact;
}

bool Judge::Quick(const double* want, const double* terms,
                  const double* contract, const double* got, size_t count,
                  Columns columns, double* ulp, Tally* tally) const {
  const Allowance allow = AllowanceOf(limit_, format_, columns);
  Sums sums;
  AddAll<Given::kWantAndTerms>(format_, allow, want, terms, got, count, ulp,
                               &sums);
  if (!AllFinite(sums)) return false;
  if (limit_.kind == Limit::Kind::kBits) {
    const int64_t differ = CountDifferent(contract, got, count);
    if (differ < 0) return false;
    sums.outside = static_cast<double>(differ);
  }
  Tally here = TallyOf(sums, ulp, count);
  if (here.outside > 0 && limit_.kind != Limit::Kind::kArithmetic) {
    here.gross = CountFar(want, terms, got, count, columns);
  }
  tally->Add(here);
  return true;
}

bool Judge::QuickProducts(const double* first, const double* second,
                          const double* got, size_t count, Columns columns,
                          double* ulp, Tally* tally) const {
  Sums sums;
  AddAll<Given::kProducts>(format_, AllowanceOf(limit_, format_, columns),
                           first, second, got, count, ulp, &sums);
  if (!AllFinite(sums)) return false;
  tally->Add(TallyOf(sums, ulp, count));
  return true;
}

int64_t Judge::CountFar(const double* want, const double* terms,
                        const double* got, size_t count,
                        Columns columns) const {
  int64_t far = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!Near(want[i], terms[i], got[i], columns, 0)) ++far;
  }
  return far;
}

double Judge::Allowed(const Limit& limit, double want, double terms,
                      Columns columns) const {
  const Allowance allow = AllowanceOf(limit, format_, columns);
  return allow.ulps * Ulp(format_, want) + allow.per_term * terms +
         allow.constant + allow.per_want * std::fabs(want);
}

bool Judge::Outside(const Limit& limit, double want, double terms,
                    double contract, double got, Columns columns) const {
  if (limit.kind == Limit::Kind::kBits) return !Same(got, contract);
  if (std::isnan(want) || std::isnan(got)) {
    const bool fine =
        std::isnan(got) && (std::isnan(want) || std::isnan(contract));
    return !fine;
  }
  if (std::isinf(got)) {
    return got != contract && got != Round(format_, want);
  }
  if (std::isinf(want)) return got != contract;
  return std::fabs(got - want) > Allowed(limit, want, terms, columns);
}

bool Judge::Outside(double first, double second, double got) const {
  const Finish bits = eager() ? finish_ : Finish::kContract;
  return Outside(limit_, Apply(finish_, format_, first, second, false),
                 std::fabs(first) + std::fabs(second),
                 Apply(bits, format_, first, second, false), got,
                 Columns::kRotated);
}

bool Judge::Near(double want, double terms, double got, Columns columns,
                 double slack) const {
  if (!std::isfinite(want) || !std::isfinite(got)) {
    return Same(Round(format_, want), got);
  }
  const double error = std::fabs(got - want) - slack;
  constexpr Limit kArithmetic;
  return error <= Allowed(kArithmetic, want, terms, columns) ||
         (limit_.kind != Limit::Kind::kBits &&
          error <= Allowed(limit_, want, terms, columns));
}

void Judge::Slow(const double* want, const double* terms,
                 const double* contract, const double* got, size_t count,
                 Columns columns, double* ulp, Tally* tally) const {
  constexpr Limit kArithmetic;
  Tally here;
  for (size_t i = 0; i < count; ++i) {
    const double rounded = Round(format_, want[i]);
    const bool as_contract = Same(got[i], contract[i]);
    ++here.elements;
    ulp[i] = 0;
    if (rounded == got[i] || (std::isnan(rounded) && std::isnan(got[i]))) {
      ++here.correct;
    } else if (std::isnan(rounded) != std::isnan(got[i])) {
      if (!as_contract) ++here.nan_mismatches;
      ulp[i] = as_contract ? 0 : kInfinity;
    } else if (std::isinf(rounded) || std::isinf(got[i])) {
      if (!as_contract) ++here.inf_mismatches;
      ulp[i] = as_contract ? 0 : kInfinity;
    }
    if (std::isfinite(want[i]) && std::isfinite(got[i])) {
      const double error = std::fabs(got[i] - want[i]);
      const double in_ulp = error / Ulp(format_, want[i]);
      if (ulp[i] == 0) ulp[i] = in_ulp;
      ++here.finite;
      here.sum_ulp += in_ulp;
      here.sum_abs += error;
      here.max_ulp = std::max(here.max_ulp, in_ulp);
      here.max_abs = std::max(here.max_abs, error);
    }
    if (Outside(limit_, want[i], terms[i], contract[i], got[i], columns)) {
      ++here.outside;
      if (limit_.kind == Limit::Kind::kArithmetic ||
          Outside(kArithmetic, want[i], terms[i], contract[i], got[i],
                  columns)) {
        ++here.gross;
      }
    }
  }
  tally->Add(here);
}

}  // namespace ropewalk::verify
