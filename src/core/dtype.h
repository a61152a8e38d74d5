// Traits of dtypes and pairings: the one place where names stand in tables.

#ifndef ROPEWALK_SRC_CORE_DTYPE_H_
#define ROPEWALK_SRC_CORE_DTYPE_H_

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

/// What the width of a rotated row must be a multiple of.
inline constexpr int64_t PairingMultiple(Pairing pairing) {
  return pairing == Pairing::kQuarter ? 4 : 2;
}

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_CORE_DTYPE_H_
