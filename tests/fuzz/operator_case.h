// A call of any operator, right or spoilt, without memory.

#ifndef ROPEWALK_TESTS_FUZZ_OPERATOR_CASE_H_
#define ROPEWALK_TESTS_FUZZ_OPERATOR_CASE_H_

#include <string>
#include <vector>

#include "fuzz/input.h"
#include "ropewalk/ropewalk.h"

namespace ropewalk::test {

enum class Operator { kRotate, kBackward, kCached };

/// The tensors of all operators; inputs come first. kIn is x, dy or query;
/// kCos is also the cache.
enum TensorSlot {
  kIn0,
  kIn1,
  kX0,
  kX1,
  kCos,
  kSin,
  kPositions,
  kOut0,
  kOut1,
  kDcos,
  kDsin,
  kTensorSlots
};
inline bool IsOutput(int slot) { return slot >= kOut0; }

struct OperatorCase {
  Operator op = Operator::kRotate;
  RotateOptions rotate;
  RotateCachedOptions cached;     ///< its sections are those below
  std::vector<int64_t> sections;  ///< of a cached rotation
  bool present[kTensorSlots] = {};
  TensorDesc desc[kTensorSlots];
  bool spoilt = false;  ///< changed after it was right

  Direction direction() const {
    if (op == Operator::kCached) return cached.direction;
    return op == Operator::kRotate ? Direction::kForward : Direction::kBackward;
  }
  bool sums() const { return present[kDcos]; }
};

OperatorCase MakeCase(Input& input);
Result<Plan> MakePlan(const OperatorCase& c);
/// Runs with the addresses of the tensors.
Status Run(const OperatorCase& c, const Plan& plan, void* const* address,
           const RunOptions& options);
std::string ToString(const OperatorCase& c);

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_FUZZ_OPERATOR_CASE_H_
