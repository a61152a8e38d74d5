// The operators. Each has MakePlan function: it checks descriptors and options
// and returns a Plan, and a one-call form for casual use.
//
// Data are f32, f16, bf16 or f64; cos and sin have one dtype, f32, f16 or bf16
// whatever the data (f64 goes with f64 only). f16, bf16 and f32 are computed in
// f32: two products and one sum, not fused, and one round-to-nearest-even. The
// bits do not depend on SIMD target, threads, strides, alignment or being in
// place. See docs/numerics.md.

#ifndef ROPEWALK_OPS_H_
#define ROPEWALK_OPS_H_

#include <cstdint>
#include <optional>
#include <span>

#include "ropewalk/export.h"
#include "ropewalk/plan.h"
#include "ropewalk/status.h"
#include "ropewalk/tensor.h"

namespace ropewalk {

/// Which two elements of a row of D are rotated together.
/// With h = D / 2 and q = D / 4:
enum class Pairing : uint8_t {
  kHalf = 0,            ///< (i, i + h); GPT-NeoX
  kInterleave = 1,      ///< (2k, 2k + 1); GPT-J
  kQuarter = 2,         ///< (i, i + q) inside each half of D; two-axis vision
  kInterleaveHalf = 3,  ///< reads (2k, 2k + 1), writes (k, k + h); DeepSeek
};

/// "half", "interleave", "quarter" or "interleave-half".
ROPEWALK_EXPORT const char* PairingName(Pairing pairing) noexcept;

/// Columns [start, end) of the last axis.
struct Slice {
  int64_t start = 0;
  int64_t end = 0;

  friend bool operator==(const Slice&, const Slice&) = default;
};

struct RotateOptions {
  Pairing pairing = Pairing::kHalf;
  /// Only these columns rotate; the others are copied bit for bit, or left
  /// untouched in place. None: all columns. `start` may be odd; the width must
  /// be even (a multiple of 4 for kQuarter).
  std::optional<Slice> slice = {};

  friend bool operator==(const RotateOptions&, const RotateOptions&) = default;
};

/// Tensors of a forward rotation.
///
/// x, y: rank 1 to 8, equal shapes and dtypes. cos, sin: equal shapes and
/// dtypes, rank of x, each leading axis 1 or equal to x's, last axis the
/// rotated width w, or w / 2 (one value for each pair, ordered by the pair's
/// first element). A second operand x2, y2 may have other sizes where cos has
/// size 1, and another dtype.
struct RotateTensors {
  TensorDesc x, cos, sin, y;
  std::optional<TensorDesc> x2 = {}, y2 = {};

  friend bool operator==(const RotateTensors&, const RotateTensors&) = default;
};

/// y = x̂ * cos + rot(x) * sin. For a pair (a, b) read at (i, j) of the x side,
/// with table columns (p, r): y[p] = a * cos[p] - b * sin[p] and
/// y[r] = b * cos[r] + a * sin[r]. (CANN RotaryPositionEmbedding.)
ROPEWALK_EXPORT Result<Plan> MakeRotatePlan(const RotateOptions& options,
                                            const RotateTensors& tensors);

/// Tensors of a backward rotation. Leave out what is not wanted: dx, or dcos
/// and dsin (which go together and need x). Shapes: dy, x, dx equal; cos, sin,
/// dcos, dsin equal; broadcast as in RotateTensors. dy, x, dx have one dtype;
/// dcos and dsin have the dtype of cos.
struct RotateBackwardTensors {
  TensorDesc dy, cos, sin;
  std::optional<TensorDesc> x = {}, dx = {}, dcos = {}, dsin = {};
  /// Second operand: all of dy2, x2 (if x), dx2 (if dx), or none.
  std::optional<TensorDesc> dy2 = {}, x2 = {}, dx2 = {};
};

/// Gradients of the forward rotation: for a pair with table columns (p, r),
///   dx[i] = cos[p] * dy[p] + sin[r] * dy[r]
///   dx[j] = cos[r] * dy[r] - sin[p] * dy[p]
/// (outside the slice dx = dy), and summed over the axes on which cos is
/// broadcast, dcos = sum(dy * x̂), dsin = sum(dy * rot(x)). The order of the
/// sums depends on the shapes alone; both operands are summed before the one
/// rounding. If dy is empty and cos is not, dcos and dsin are zeros.
/// (CANN RotaryPositionEmbeddingGrad.)
ROPEWALK_EXPORT Result<Plan> MakeRotateBackwardPlan(
    const RotateOptions& options, const RotateBackwardTensors& tensors);

/// How the pairs of a head lie in a cached rotation.
enum class CachedStyle : uint8_t {
  kNeox = 0,  ///< (i, i + rotary_dim / 2)
  kGptj = 1,  ///< (2k, 2k + 1)
};

/// Which pair belongs to which position row, when there are sections.
enum class AxisLayout : uint8_t {
  kSegmented = 0,    ///< the first sections[0] pairs to row 0, and so on
  kInterleaved = 1,  ///< row 1 at 3k + 1 (k < sections[1]), row 2 at 3k + 2
                     ///< (k < sections[2]), all others to row 0; 3 sections
};

enum class Direction : uint8_t {
  kForward = 0,
  kBackward = 1,  ///< the gradient of x from the gradient of y
};

struct RotateCachedOptions {
  /// Width of a head; even or odd, at least rotary_dim.
  int64_t head_size = 0;
  CachedStyle style = CachedStyle::kNeox;
  /// Empty, or starting with 0: plain positions. Else 3 or 4 counts of pairs
  /// that sum to rotary_dim / 2. The span is read by MakePlan only.
  std::span<const int64_t> sections = {};
  AxisLayout axes = AxisLayout::kSegmented;
  Direction direction = Direction::kForward;
};

/// Tensors of a rotation by position.
///
/// positions: i64 or i32, (tokens), or (sections, tokens) with sections.
/// cache: (rows, rotary_dim), a row holds rotary_dim / 2 cosines, then the
/// sines. query, key and their outputs: (tokens, heads * head_size) or
/// (tokens, heads, head_size), any strides. key and key_out: both or none.
struct RotateCachedTensors {
  TensorDesc positions, cache, query, query_out;
  std::optional<TensorDesc> key = {}, key_out = {};
};

/// Rotates the first rotary_dim columns of each head of token t by row
/// positions[t] of the cache; the other columns are copied bit for bit. Every
/// position is checked when run, before the first write.
/// (CANN RopeWithSinCosCache.)
ROPEWALK_EXPORT Result<Plan> MakeRotateCachedPlan(
    const RotateCachedOptions& options, const RotateCachedTensors& tensors);

/// One call: plan, workspace and run. `y` may be `x`.
ROPEWALK_EXPORT Status Rotate(const RotateOptions& options,
                              const ConstTensor& x, const ConstTensor& cos,
                              const ConstTensor& sin, const Tensor& y,
                              Executor* executor = nullptr);

/// One call of the backward. `dx` may be null; `x`, `dcos` and `dsin` may be
/// null together.
struct RotateBackwardCall {
  ConstTensor dy, cos, sin;
  const ConstTensor* x = nullptr;
  const Tensor* dx = nullptr;
  const Tensor* dcos = nullptr;
  const Tensor* dsin = nullptr;
};
ROPEWALK_EXPORT Status RotateBackward(const RotateOptions& options,
                                      const RotateBackwardCall& call,
                                      Executor* executor = nullptr);

/// One call of the rotation by position. `key` and `key_out` may be null.
struct RotateCachedCall {
  ConstTensor positions, cache, query;
  Tensor query_out;
  const ConstTensor* key = nullptr;
  const Tensor* key_out = nullptr;
};
ROPEWALK_EXPORT Status RotateCached(const RotateCachedOptions& options,
                                    const RotateCachedCall& call,
                                    Executor* executor = nullptr);

}  // namespace ropewalk

#endif  // ROPEWALK_OPS_H_
