// Traits of dtypes and pairings: the one place where names stand in tables.

#ifndef ROPEWALK_SRC_CORE_DTYPE_H_
#define ROPEWALK_SRC_CORE_DTYPE_H_

#include <iterator>

#include "ropewalk/ops.h"
#include "ropewalk/tensor.h"

namespace ropewalk {

inline constexpr bool IsFloat(Dtype dtype) {
  return dtype == Dtype::kF32 || dtype == Dtype::kF16 ||
         dtype == Dtype::kBF16 || dtype == Dtype::kF64;
}

/// Bytes of the type that `dtype` is computed in.
inline constexpr size_t ComputeSize(Dtype dtype) {
  return dtype == Dtype::kF64 ? 8 : 4;
}

/// A row is cut into segments of equal width; in each, the first elements of
/// its pairs lie together and then the second ones, or, if joined, each pair
/// lies side by side. x and dx may be joined where y, dy and the tables are
/// not.
struct PairingInfo {
  const char* name;
  int64_t segments;  ///< 1 or 2
  bool x_joined, y_joined;
};

/// By the values of Pairing; its length says how many there are.
inline constexpr PairingInfo kPairings[] = {
    {"half", 1, false, false},
    {"interleave", 1, true, true},
    {"quarter", 2, false, false},
    {"interleave-half", 1, true, false}};

inline constexpr const PairingInfo& Info(Pairing pairing) {
  return kPairings[static_cast<size_t>(pairing)];
}

/// What the width of a rotated row must be a multiple of.
inline constexpr int64_t PairingMultiple(Pairing pairing) {
  return 2 * Info(pairing).segments;
}

/// Whether a row is written in another order than it is read.
inline constexpr bool Reorders(Pairing pairing) {
  return Info(pairing).x_joined != Info(pairing).y_joined;
}

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_CORE_DTYPE_H_
