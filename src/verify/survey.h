// One pass over all of a result: errors, where they are, and samples of rows.

#ifndef ROPEWALK_SRC_VERIFY_SURVEY_H_
#define ROPEWALK_SRC_VERIFY_SURVEY_H_

#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <vector>

#include "ropewalk/verify.h"
#include "verify/judge.h"
#include "verify/rotator.h"
#include "verify/scene.h"

namespace ropewalk::verify {

/// Keeps up to a number of items, spread evenly over all that it was given.
class Sampler {
 public:
  explicit Sampler(size_t most) : most_(most) {}
  void Add(int64_t item);
  const std::vector<int64_t>& items() const { return items_; }

 private:
  size_t most_;
  int64_t seen_ = 0, step_ = 1;
  std::vector<int64_t> items_;
};

/// Rows for the diagnosis.
struct Evidence {
  Sampler wrong{96};  ///< rows with gross errors
  Sampler fine{96};   ///< rows with other elements outside the limit
  int64_t first_wrong_position = -1;  ///< the lowest, of gross errors
  int64_t gross = 0, outside = 0, elements = 0;
};

/// Calls `work(block, rows)` for blocks of rows that cover the scene, in waves
/// of blocks at once on the executor, and `merge(block)` for each of a wave in
/// order. `make` gives the work of one worker.
struct BlockWork {
  /// Blocks of one wave; each has a number below kBlocksInWave.
  static constexpr size_t kBlocksInWave = 64;
  std::function<Status(size_t block, size_t worker,
                       std::span<const int64_t> rows)>
      work;
  std::function<void(size_t block)> merge;
};
Status ForEachBlock(const Scene& scene, const VerifyOptions& options,
                    bool diagnosis, const BlockWork& work);
size_t MaxWorkers(const VerifyOptions& options);

/// `work()`, or the refusal that a lack of memory is: nothing may leave a task.
template <class Work>
Status NoThrow(const Work& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status(Code::kOutOfMemory, "[verify] not enough memory");
  }
}

/// Fills all of the report but its name.
Status RunSurvey(const Scene& scene, const Judge& judge,
                 const VerifyOptions& options, OutputReport* report,
                 Evidence* evidence);

/// Name, dtype, shape and what the tally says.
void FillReport(const Tally& tally, OutputReport* report);

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_SURVEY_H_
