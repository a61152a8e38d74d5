// Whether a result from elsewhere is right and, if not, why.
//
// A result is compared, element by element, with what the operator gives when
// computed in double. The report counts errors and says where the worst are;
// where the result is outside its limit, known mistakes are tried, and those
// that reproduce it are named. Tensors may be as large as the address space:
// they are read in blocks, and working memory does not grow with them (but
// see Limit::kBits).

#ifndef ROPEWALK_VERIFY_H_
#define ROPEWALK_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ropewalk/executor.h"
#include "ropewalk/export.h"
#include "ropewalk/ops.h"
#include "ropewalk/status.h"
#include "ropewalk/tensor.h"

namespace ropewalk {

/// What a result is compared with.
enum class Reference : uint8_t {
  kExact,      ///< the operator computed in double
  kContract,   ///< the library's own result (docs/numerics.md)
  kEagerBF16,  ///< x * cos + rot(x) * sin, each operation rounded to bf16
  kEagerFP16,  ///< the same in fp16
};

/// How far a result may be from the reference.
struct Limit {
  enum class Kind : uint8_t {
    /// ulp / 2 + 2 * 2^-24 * (|x * cos| + |x' * sin|) + 2^-149: what fp32
    /// arithmetic with one rounding meets. For dcos and dsin
    /// ulp / 2 + 4 * 2^-24 * sum of |terms|. In fp64 with 2^-53. Columns that
    /// do not rotate must be equal.
    kArithmetic,
    /// The library's bits; one NaN equals another. Reads x and dy at once, not
    /// in blocks, where there are dcos and dsin.
    kBits,
    kUlp,        ///< `ulp` units in the last place of the reference
    kTolerance,  ///< atol + rtol * |reference|
  };
  Kind kind = Kind::kArithmetic;
  double ulp = 0.5;
  double rtol = 0;
  double atol = 0;
};

/// Told how far a call is; from the thread that called.
class ROPEWALK_EXPORT VerifyProgress {
 public:
  virtual ~VerifyProgress() = default;
  /// `done` of `total` bytes of the result called `output` have been read, for
  /// the report or, if `diagnosis`, to try causes on all of it. What was read
  /// of all tensors so far may be dropped from memory; it can be read again.
  virtual void OnProgress(const std::string& output, bool diagnosis,
                          size_t done, size_t total) = 0;
};

struct VerifyOptions {
  Reference reference = Reference::kExact;
  Limit limit = {};
  /// Whether causes are tried where a result is outside its limit.
  bool diagnose = true;
  /// How many of the largest errors are listed for each output.
  size_t worst = 5;
  /// Whether the reports get an ErrorMap.
  bool map = false;
  /// Null: DefaultExecutor().
  Executor* executor = nullptr;
  VerifyProgress* progress = nullptr;
};

/// One of the largest errors. An error against NaN, or of an infinity, is
/// infinite.
struct WorstError {
  std::vector<int64_t> index;  ///< in the result's own axes
  /// The row of the tables, or with a cache the (first) position value.
  int64_t position = 0;
  /// Counts the rows that share a table row, from 0. 0 for dcos and dsin.
  int64_t head = 0;
  int64_t column = 0;  ///< of the head
  double got = 0;
  double want = 0;  ///< the reference
  double ulp = 0;   ///< the error in units in the last place of `want`
};

/// Largest errors in ulp over a grid of bins, for pictures.
struct ErrorMap {
  int64_t positions = 0;  ///< how many there are; bins share them evenly
  int64_t columns = 0;
  int64_t heads = 0;
  size_t position_bins = 0, column_bins = 0, head_bins = 0;
  std::vector<double> by_position_and_column;  ///< [position][column]
  std::vector<double> by_head;
  /// Elements by error: exactly 0, then up to 2^-20, ..., 2^20 ulp in powers
  /// of 4, then more, infinite errors among them.
  std::vector<int64_t> histogram;
  static constexpr int kLowest = -20, kStep = 2, kHighest = 20;
};

/// What is found of one output.
struct OutputReport {
  std::string name;  ///< "y", "dx", "dcos", "dsin", "query" or "key"
  Dtype dtype = Dtype::kF32;
  std::vector<int64_t> shape;
  bool ok = false;
  int64_t elements = 0;
  int64_t outside = 0;  ///< elements beyond the limit
  /// Over elements where result and reference are finite; ulp is the unit in
  /// the last place, in the result's dtype, of the reference.
  double max_ulp = 0, mean_ulp = 0, max_abs = 0, mean_abs = 0;
  /// The share of elements that are the reference rounded to nearest even.
  double correctly_rounded = 0;
  /// NaN where the reference, rounded, has none, or the other way round;
  /// likewise infinities (of the right sign).
  int64_t nan_mismatches = 0, inf_mismatches = 0;
  std::vector<WorstError> worst;  ///< largest first
  ErrorMap map;
};

/// A mistake that reproduces a result, or "unknown".
struct Cause {
  std::string id;
  /// The share of the wrong elements, of the outputs named here, that the
  /// mistake reproduces.
  double explains = 0;
  std::vector<std::string> outputs;
  std::string detail;  ///< such as "k = -1"; may be empty
  std::string with;    ///< the id of the other one of two mistakes at once
  /// Shares of all elements of these outputs within the limit: of the right
  /// result, and of the mistaken one.
  double fit_before = 0, fit_after = 0;
};

struct VerifyReport {
  bool ok = false;
  std::vector<OutputReport> outputs;
  /// Empty if ok. Causes that explain the same are in the order of
  /// CauseNames().
  std::vector<Cause> diagnosis;
};

/// The ids of all mistakes that are known, in the order of reports.
ROPEWALK_EXPORT std::vector<std::string> CauseNames();

/// A result of Rotate. x, cos, sin as there; y has x's shape and any float
/// dtype (f64 only with f64).
struct VerifyRotateCall {
  RotateOptions options = {};
  ConstTensor x, cos, sin;
  ConstTensor y;
};
ROPEWALK_EXPORT Result<VerifyReport> Verify(const VerifyRotateCall& call,
                                            const VerifyOptions& options = {});

/// Results of RotateBackward; at least one. dcos and dsin need x.
struct VerifyBackwardCall {
  RotateOptions options = {};
  ConstTensor dy, cos, sin;
  std::optional<ConstTensor> x = {};
  std::optional<ConstTensor> dx = {}, dcos = {}, dsin = {};
};
ROPEWALK_EXPORT Result<VerifyReport> Verify(const VerifyBackwardCall& call,
                                            const VerifyOptions& options = {});

/// Results of RotateCached; at least one. Results may be flat (tokens, heads *
/// head_size) or not, whatever the inputs are. Positions may lie outside of the
/// cache: what is found there is outside the limit, and has no reference.
struct VerifyCachedCall {
  RotateCachedOptions options = {};
  ConstTensor positions, cache, query;
  std::optional<ConstTensor> key = {};
  std::optional<ConstTensor> query_out = {}, key_out = {};
};
ROPEWALK_EXPORT Result<VerifyReport> Verify(const VerifyCachedCall& call,
                                            const VerifyOptions& options = {});

}  // namespace ropewalk

#endif  // ROPEWALK_VERIFY_H_
