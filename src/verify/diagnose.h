// Why a result is wrong: mistakes are tried on samples of it, and those that
// fit on all of it.

#ifndef ROPEWALK_SRC_VERIFY_DIAGNOSE_H_
#define ROPEWALK_SRC_VERIFY_DIAGNOSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ropewalk/verify.h"
#include "verify/judge.h"
#include "verify/sums.h"
#include "verify/survey.h"
#include "verify/trial.h"

namespace ropewalk::verify {

/// A mistake that explains one output, or a part of it.
struct Found {
  size_t mistake = 0;  ///< its place in Mistakes()
  std::string detail;
  std::string with;  ///< the id of another one that is part of it
  Score score;
  bool in_some_rows = false;  ///< the other rows are right, or have another
};

/// What is found of one output.
struct Diagnosis {
  std::string output;
  int64_t wrong = 0, elements = 0;
  std::vector<Found> found;
};

Status Diagnose(const Scene& scene, const Judge& judge,
                const Evidence& evidence, const VerifyOptions& options,
                Diagnosis* diagnosis);

Status DiagnoseSum(const SumScene& scene, Sum sum, const Judge& judge,
                   const Evidence& evidence, const VerifyOptions& options,
                   Diagnosis* diagnosis);

/// One list for all outputs that are wrong.
std::vector<Cause> Conclude(const std::vector<Diagnosis>& diagnoses);

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_DIAGNOSE_H_
