// dcos and dsin: sums of terms over the rows that share a table row.

#ifndef ROPEWALK_SRC_VERIFY_SUMS_H_
#define ROPEWALK_SRC_VERIFY_SUMS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ropewalk/verify.h"
#include "verify/judge.h"
#include "verify/scene.h"
#include "verify/survey.h"

namespace ropewalk::verify {

/// Which of the two.
enum class Sum : uint8_t { kCos, kSin };

/// Both outputs of one backward. `rows` has dy as x and x as x2, with the axes
/// that the tables keep first: the rows of a slot follow one another.
struct SumScene {
  Scene rows;
  RotateOptions options;
  ConstTensor dy, x, cos, sin;  ///< as given
  std::optional<ConstTensor> dcos, dsin;
  /// The given leading axis for each of `rows`' axes before merging.
  std::vector<int> kept, shared;

  const std::optional<ConstTensor>& result(Sum sum) const {
    return sum == Sum::kCos ? dcos : dsin;
  }
  int64_t numbers() const { return rows.tables.numbers(); }
  /// The row of the result that belongs to a slot, widened.
  void LoadSums(Sum sum, int64_t slot, double* to) const;
};

SumScene MakeSumScene(const VerifyBackwardCall& call);

/// The terms of rows: for each column of a full table, what the row adds to
/// dcos and to dsin. Not for several threads at once.
class Terms {
 public:
  explicit Terms(const Scene& rows) : scene_(rows) {}

  /// Pairs and columns are those of the arguments. Fills cos() and sin(),
  /// [rows][width].
  Status Run(Pairing pairing, int64_t start, int64_t width,
             std::optional<Dtype> round, std::span<const int64_t> rows);

  const std::vector<double>& of(Sum sum) const {
    return sum == Sum::kCos ? cos_ : sin_;
  }

 private:
  const Scene& scene_;
  std::map<std::tuple<Pairing, int64_t, size_t>, Plan> plans_;
  std::vector<double> dy_, x_, zeros_, cos_, sin_;
};

/// Both elements of a pair share a number where the tables have half the width.
void Fold(const SumScene& scene, const double* full, double* numbers);

struct SumSurvey {
  std::optional<OutputReport> dcos, dsin;
  Evidence dcos_evidence, dsin_evidence;  ///< their rows are slots
};

Status RunSumSurvey(const SumScene& scene, const VerifyOptions& options,
                    SumSurvey* survey);

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_SUMS_H_
