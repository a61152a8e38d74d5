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
  kPlan,       ///< making the plan of a forward
};

/// One work. A head is `width` columns, of which the last `rotated` rotate;
/// there are kHeads heads, in kCached kHeads of the query and kKeyHeads of the
/// key.
struct Work {
  Kind kind = Kind::kForward;
  Dtype dtype = Dtype::kF32;
  Dtype table_dtype = Dtype::kF32;
  Pairing pairing = Pairing::kHalf;   ///< kCached: kInterleave means GPT-J
  std::string_view layout = "BSND";   ///< batch, tokens, heads, columns
  std::string_view table_axes = "S";  ///< the others have size 1 in tables
  int64_t batch = 1;
  int64_t tokens = 0;  ///< 0: as many as rotate 32 MiB
  int64_t width = 128;
  int64_t rotated = 128;
};

inline constexpr int64_t kHeads = 32;
inline constexpr int64_t kKeyHeads = 8;
inline constexpr int64_t kCacheRows = 4096;

/// All works of `ropewalk bench`.
std::span<const Work> AllWorks();

/// "rotate half f32 BSND", and what else differs from the defaults.
std::string WorkName(const Work& work);

/// The tokens, worked out where `work` leaves them open.
int64_t Tokens(const Work& work);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_WORKS_H_
