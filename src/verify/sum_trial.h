// Tries models of dcos and dsin on slots of a result.

#ifndef ROPEWALK_SRC_VERIFY_SUM_TRIAL_H_
#define ROPEWALK_SRC_VERIFY_SUM_TRIAL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "verify/judge.h"
#include "verify/sums.h"
#include "verify/trial.h"

namespace ropewalk::verify {

/// How terms are added up.
enum class Accumulate : uint8_t {
  kExact,
  kBF16,  ///< rounded after each addition
  kFP16,
  /// In some order, rounded to 16 bits at some steps: fits what is not further
  /// off than such sums usually are, if the result shows 16 bits only.
  kAnyBF16,
  kAnyFP16,
};

/// How dcos or dsin is made: rightly, with something changed.
struct SumModel {
  Pairing pairing = Pairing::kHalf;
  int64_t start = 0;
  Sum sum = Sum::kCos;
  bool negate = false;
  bool truncate = false;
  std::optional<Dtype> round_terms = {};
  Accumulate accumulate = Accumulate::kExact;
  /// Column c of a full row shows column permute[c].
  std::vector<int64_t> permute = {};
  /// The rows whose terms go into a slot; all of its own if not given.
  std::function<std::vector<int64_t>(int64_t slot)> rows = {};
  /// The slots of one group have the same rows; the slot itself if not given.
  std::function<int64_t(int64_t slot)> group = {};
};

SumModel RightSumModel(const SumScene& scene, Sum sum);

class SumTrial {
 public:
  SumTrial(const SumScene& scene, Sum sum, const Judge& judge,
           WrongBy wrong_by);

  const SumScene& scene() const { return scene_; }
  Sum sum() const { return sum_; }

  /// As Trial, of slots.
  Status Look(std::span<const int64_t> slots);
  Status Try(const SumModel& model, Score* score);

 private:
  struct Sums {
    std::vector<double> sum, abs;
  };

  Status Add(const SumModel& model, int64_t slot, Sums* sums);
  bool Fits(const SumModel& model, double want, double terms, double got) const;

  const SumScene& scene_;
  Sum sum_;
  const Judge& judge_;
  WrongBy wrong_by_;
  Terms terms_;
  std::vector<int64_t> slots_;
  std::vector<double> got_;
  std::vector<char> wrong_;
};

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_SUM_TRIAL_H_
