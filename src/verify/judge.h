// Compares rows of a result with the reference.

#ifndef ROPEWALK_SRC_VERIFY_JUDGE_H_
#define ROPEWALK_SRC_VERIFY_JUDGE_H_

#include <cstdint>
#include <vector>

#include "ropewalk/verify.h"
#include "verify/finish.h"
#include "verify/numbers.h"

namespace ropewalk::verify {

/// Counts over elements.
struct Tally {
  int64_t elements = 0, finite = 0, correct = 0, outside = 0;
  int64_t gross = 0;  ///< beyond the arithmetic limit too
  int64_t nan_mismatches = 0, inf_mismatches = 0;
  double sum_ulp = 0, max_ulp = 0, sum_abs = 0, max_abs = 0;

  void Add(const Tally& other);
};

/// What an element is judged by: the reference, the sum of |terms| that its
/// arithmetic may round, and the library's own result.
struct Wanted {
  std::vector<double> want, terms, contract;
  void Resize(size_t count) {
    want.resize(count);
    terms.resize(count);
    contract.resize(count);
  }
};

/// How a column range is judged.
enum class Columns : uint8_t {
  kRotated,
  kSummed,  ///< dcos, dsin
  kCopied,
};

class Judge {
 public:
  Judge(Dtype dtype, const Limit& limit, Reference reference);

  const Format& format() const { return format_; }
  const Limit& limit() const { return limit_; }

  /// How the reference is made of two products.
  Finish reference_finish() const { return finish_; }
  /// Whether `contract` is always asked for.
  bool needs_contract() const { return limit_.kind == Limit::Kind::kBits; }
  /// The reference comes from inputs rounded to this.
  bool eager() const { return finish_ >= Finish::kBF16; }
  Dtype eager_dtype() const {
    return finish_ == Finish::kBF16 ? Dtype::kBF16 : Dtype::kF16;
  }

  /// Judges finite numbers at once; false if there are others, and then nothing
  /// has been counted. Writes each error in ulp to `ulp`.
  bool Quick(const double* want, const double* terms, const double* contract,
             const double* got, size_t count, Columns columns, double* ulp,
             Tally* tally) const;
  /// The same where two products are all that is wanted: for
  /// takes_products().
  bool QuickProducts(const double* first, const double* second,
                     const double* got, size_t count, Columns columns,
                     double* ulp, Tally* tally) const;
  /// Whether the reference is the sum of two products, and the limit the
  /// arithmetic one.
  bool takes_products() const {
    return finish_ == Finish::kExact && limit_.kind == Limit::Kind::kArithmetic;
  }
  /// Judges any numbers, one by one.
  void Slow(const double* want, const double* terms, const double* contract,
            const double* got, size_t count, Columns columns, double* ulp,
            Tally* tally) const;

  /// Whether an element made of two finite products is beyond the chosen limit.
  bool Outside(double first, double second, double got) const;

  /// Whether `got` is as near to `want` as the chosen or the arithmetic limit
  /// asks, with `slack` more.
  bool Near(double want, double terms, double got, Columns columns,
            double slack) const;

 private:
  int64_t CountFar(const double* want, const double* terms, const double* got,
                   size_t count, Columns columns) const;
  double Allowed(const Limit& limit, double want, double terms,
                 Columns columns) const;
  bool Outside(const Limit& limit, double want, double terms, double contract,
               double got, Columns columns) const;

  Format format_;
  Limit limit_;
  Finish finish_;
};

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_JUDGE_H_
