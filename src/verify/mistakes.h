// The known mistakes: one list, one entry each.

#ifndef ROPEWALK_SRC_VERIFY_MISTAKES_H_
#define ROPEWALK_SRC_VERIFY_MISTAKES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "verify/sum_trial.h"
#include "verify/survey.h"
#include "verify/trial.h"

namespace ropewalk::verify {

/// One way to make a mistake.
struct Hypothesis {
  std::string detail;  ///< for people; may be empty
  Model model;
  /// The id of another mistake that is part of it.
  std::string with = {};
  /// It fits within a wide margin only: it counts where nothing else fits.
  bool lax = false;
};

/// Likewise of dcos or dsin.
struct SumHypothesis {
  std::string detail;
  SumModel model;
  bool lax = false;
};

/// What is known of the result when hypotheses are made.
struct Clues {
  Trial& trial;
  const Evidence& evidence;
  /// What is changed: the right model, or one that has a mistake already.
  Model base;
  /// Not to look far.
  bool quickly = false;
  const Scene& scene() const { return trial.scene(); }
};

struct Mistake {
  const char* id;
  /// Null where the mistake is none of rotated rows, or of sums.
  void (*rotated)(const Clues& clues, std::vector<Hypothesis>* add);
  void (*summed)(const SumScene& scene, Sum sum,
                 std::vector<SumHypothesis>* add);
  /// Looks at the result to find a number, so it cannot be combined with
  /// another mistake.
  bool searches = false;
};

/// In the order of reports.
const std::vector<Mistake>& Mistakes();

// The longer entries of the list.
void PositionShift(const Clues& clues, std::vector<Hypothesis>* add);
void PositionReset(const Clues& clues, std::vector<Hypothesis>* add);
void PositionClamped(const Clues& clues, std::vector<Hypothesis>* add);
void PositionModulo(const Clues& clues, std::vector<Hypothesis>* add);
void AxesSwapped(const Clues& clues, std::vector<Hypothesis>* add);
void HeadRepeated(const Clues& clues, std::vector<Hypothesis>* add);
void WrongSlice(const Clues& clues, std::vector<Hypothesis>* add);
void FrequencyPrecision(const Clues& clues, std::vector<Hypothesis>* add);
void FrequencyBase(const Clues& clues, std::vector<Hypothesis>* add);
void ReducedAxes(const SumScene& scene, Sum sum,
                 std::vector<SumHypothesis>* add);

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_MISTAKES_H_
