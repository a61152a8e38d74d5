// The operators in plain loops, element by element: once in the library's
// arithmetic, so that the bits can be compared, and once in double. It shares
// no code with the kernels. For tests and diagnosis; slow on purpose.
//
// Nothing is checked here: descriptors and options must be valid.

#ifndef ROPEWALK_SRC_KERNELS_REFERENCE_H_
#define ROPEWALK_SRC_KERNELS_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ropewalk/ops.h"
#include "ropewalk/tensor.h"

namespace ropewalk::reference {

/// Bytes of one element.
size_t ElementBytes(Dtype dtype);

/// The exact value of an element.
double Decode(Dtype dtype, const void* element);

/// Stores `value` rounded once to nearest, ties to even; any NaN becomes the
/// dtype's quiet NaN.
void Encode(Dtype dtype, double value, void* element);

/// `value` as it reads back after Encode.
double RoundTo(Dtype dtype, double value);

/// The columns of one pair, counted from the first rotated column: `i`, `j` on
/// the side of x, `p`, `r` on the side of y and of full-width tables.
struct Pair {
  int64_t i, j, p, r;
};

/// The `k`-th of width / 2 pairs, in the order of half-width tables.
Pair PairAt(Pairing pairing, int64_t width, int64_t k);

/// The forward rotation in the library's arithmetic. y may be x.
void Rotate(const RotateOptions& options, const ConstTensor& x,
            const ConstTensor& cos, const ConstTensor& sin, const Tensor& y);

/// dx of the backward rotation in the library's arithmetic. dx may be dy.
void RotateBackward(const RotateOptions& options, const ConstTensor& dy,
                    const ConstTensor& cos, const ConstTensor& sin,
                    const Tensor& dx);

/// The rotation by position of one operand (query or key), either direction,
/// in the library's arithmetic. out may be x.
void RotateCached(const RotateCachedOptions& options,
                  const ConstTensor& positions, const ConstTensor& cache,
                  const ConstTensor& x, const Tensor& out);

/// The forward rotation computed in double, in the lexicographic order of x.
std::vector<double> ExactRotate(const RotateOptions& options,
                                const ConstTensor& x, const ConstTensor& cos,
                                const ConstTensor& sin);

/// dx computed in double, in the lexicographic order of dy.
std::vector<double> ExactRotateBackward(const RotateOptions& options,
                                        const ConstTensor& dy,
                                        const ConstTensor& cos,
                                        const ConstTensor& sin);

/// dcos and dsin summed in double, in the lexicographic order of cos, with the
/// sums of the terms' absolute values.
struct TableGradients {
  std::vector<double> dcos, dcos_abs, dsin, dsin_abs;
};

/// Adds what one operand contributes. Empty vectors count as zeros; an operand
/// that is empty contributes nothing.
void AddTableGradients(const RotateOptions& options, const ConstTensor& dy,
                       const ConstTensor& x, const TensorDesc& cos,
                       TableGradients* gradients);

}  // namespace ropewalk::reference

#endif  // ROPEWALK_SRC_KERNELS_REFERENCE_H_
