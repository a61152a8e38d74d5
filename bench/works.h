// What is measured: one list.

#ifndef ROPEWALK_BENCH_WORKS_H_
#define ROPEWALK_BENCH_WORKS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ropewalk/ops.h"
#include "ropewalk/tensor.h"

namespace ropewalk::bench {

enum class Kind : uint8_t {
  kForward,    ///< x -> y
  kInPlace,    ///< x -> x
  kDx,         ///< dy -> dx
  kGradients,  ///< dy, x -> dx, dcos, dsin
  kCached,     ///< query, key -> query, key, by position
  kRefused,    ///< kCached, but the last position is outside the cache
  kPlan,       ///< making the plan of a forward
};

/// How the positions of kCached are given.
enum class Positions : uint8_t {
  kPlain,
  kSegmented,    ///< three position rows, 24, 20 and 20 pairs of 64
  kInterleaved,  ///< the same, mixed
};

/// What a work is meant to reach; 0: nothing is said. Fractions are those of
/// the yardstick, on one thread and on more.
struct Goal {
  double one_thread = 0;
  double threads = 0;
  double gb_per_s = 0;  ///< for each thread, where a copy does it twice
  double ns = 0;        ///< at most
};

/// One work. A head is `width` columns, of which the last `rotated` rotate.
/// By position, `heads` are those of the query, and the key has kKeyHeads.
struct Work {
  std::string_view group = {};
  Kind kind = Kind::kForward;
  Dtype dtype = Dtype::kF32;
  Dtype table_dtype = Dtype::kF32;
  Pairing pairing = Pairing::kHalf;  ///< kCached: kInterleave means GPT-J
  Positions positions = Positions::kPlain;
  /// Compared with the same by plain positions, not with a copy. kRefused is
  /// always compared with the run that refuses nothing.
  bool against_plain = false;
  /// Axes in memory: batch, tokens, heads, columns.
  std::string_view layout = "BSND";
  /// Axes of the descriptor, if in another order.
  std::string_view view = {};
  std::string_view table_axes = "S";  ///< the others have size 1 in tables
  int64_t batch = 1;
  int64_t tokens = 2048;
  int64_t heads = 32;
  int64_t width = 128;
  int64_t rotated = 128;
  Goal goal = {};
  /// Reports of users that ask for it, by their numbers in docs/reports.md.
  std::string_view report = {};
};

inline constexpr int64_t kKeyHeads = 8;
inline constexpr int64_t kCacheRows = 4096;

/// The group of tensors so large that no copy of them may fit into memory:
/// compare their GB/s with one another. Run only when asked for.
inline constexpr std::string_view kHugeGroup = "huge";

/// Rows of a cache, chosen by positions.
inline bool IsByPosition(const Work& work) {
  return work.kind == Kind::kCached || work.kind == Kind::kRefused;
}

/// All works of `ropewalk bench`. Their names differ.
std::span<const Work> AllWorks();

/// "rotate half f32 BSND", and what else differs from the defaults.
std::string WorkName(const Work& work);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_WORKS_H_
