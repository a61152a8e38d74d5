// The door to the kernels: what a row is, and the functions that rotate rows.
//
// A row has one or two segments (two for the quarter pairing), each of `pairs`
// pairs. Tables and sums are kept in "kernel order": blocks of 2 L pairs, L the
// lanes of the target, each block of 8 L numbers: first the four vectors of
// cos, then the four of sin that go with the vectors x0..x3 of the data. Which
// column a lane of x0..x3 holds is the kernel's own business (see Order). If
// `pairs` is not a multiple of 2 L, the last block overlaps the one before.

#ifndef ROPEWALK_SRC_KERNELS_ROW_KERNEL_H_
#define ROPEWALK_SRC_KERNELS_ROW_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "ropewalk/ops.h"
#include "ropewalk/tensor.h"

namespace ropewalk::kernels {

/// How the pairs lie in the rows that are read and written. "Split": first
/// elements together, second elements `part` further. "Joined": side by side.
enum class RowForm : uint8_t {
  kSplit,          ///< half and quarter
  kJoined,         ///< interleave
  kJoinedToSplit,  ///< interleave-half forward
  kSplitToJoined,  ///< interleave-half backward; the only form whose x (of
                   ///< dcos and dsin) lies otherwise than dy: joined
};

/// How rows are stored, and whether the reads ahead are prefetched.
enum class StoreKind : uint8_t {
  kPlain,
  kPrefetch,  ///< ordinary stores, prefetch
  kStream,    ///< non-temporal stores of whole vectors, prefetch; rows, parts
              ///< and segments are aligned to the vector
  kStream16,  ///< non-temporal stores of 16 bytes, prefetch; aligned to 16
};
inline constexpr size_t kStoreKinds = 4;

/// Pairs of a segment that a call takes at most.
inline constexpr size_t kMostSegmentPairs = 512;

/// How rows of the tables are brought into kernel order, with the signs and the
/// crossing of sin that the direction asks for. Offsets count bytes.
struct TableShape {
  bool joined;       ///< values of a pair's two elements are side by side,
  ptrdiff_t second;  ///< else this far apart; 0: a pair shares one value
  Direction direction;
  size_t pairs;  ///< of a segment
  size_t segments;
  ptrdiff_t segment;  ///< from segment to segment
  /// Of a row put together from those of some axes: how many (else 0), and
  /// which one each pair takes its value from.
  int axes;
  const uint8_t* axis;
};

/// Prepares one row: first values at cos and sin; `table`: segment by segment.
using TableFn = void (*)(const TableShape& shape, const std::byte* cos,
                         const std::byte* sin, std::byte* table) noexcept;

/// Prepares one row of one segment whose pairs share one value, from a row of
/// each axis: cos at rows[i], sin `sin` bytes further.
using AxesFn = void (*)(const TableShape& shape, const std::byte* const* rows,
                        ptrdiff_t sin, std::byte* table) noexcept;

/// Table rows that a kernel prepares itself, each right before the first data
/// that need it, so that the reads of data do not pause meanwhile.
struct TableRows {
  TableFn prepare;
  AxesFn prepare_axes;  ///< if there are some
  TableShape shape;
  const std::byte *cos, *sin;    ///< the first row
  ptrdiff_t cos_step, sin_step;  ///< bytes from row to row
  /// Or, if not null, where each row of cos is, or the rows of its axes; sin
  /// lies as in the first.
  const std::byte* const* at;
};

/// Rows to rotate: `shared` rows for each of `kept` table rows. Steps count
/// bytes, parts and segments count elements. All that a unit has is one call
/// where it can be: between calls the reads from memory run dry.
struct RowArgs {
  const std::byte* in;
  std::byte* out;
  ptrdiff_t in_kept, out_kept;      ///< from table row to table row
  ptrdiff_t in_shared, out_shared;  ///< from row to row that share one
  ptrdiff_t in_part, out_part;  ///< from a pair's first to its second element
  size_t kept, shared;
  bool shared_inside;  ///< rows go table row by table row, else share by share
  size_t pairs;        ///< of a segment
  size_t segments;     ///< 1 or 2; the second one starts 2 * pairs further
  std::byte* table;
  size_t table_step;         ///< from table row to table row
  const TableRows* tables;   ///< to be prepared; null: `table` is ready
  const std::byte* next_in;  ///< rows that come after these, to prefetch; or
                             ///< null
};

/// Sums of one segment, brought from kernel order into table order.
struct SumsArgs {
  const double* sums;  ///< kernel order
  bool joined;         ///< order of the result: joined, else split
  size_t pairs;
  double *dcos, *dsin;  ///< out: 2 * pairs each
};

/// Sums rounded once and stored side by side.
struct StoreSumsArgs {
  const double* sums;
  size_t count;
  std::byte* out;
};

/// How a row of sums becomes rows of dcos and dsin: see TableShape, but that
/// each element of a pair has a value of its own.
struct SumsShape {
  bool joined;
  ptrdiff_t second;
  size_t pairs;
  size_t segments;
  ptrdiff_t segment;
};

/// Rounds one row of sums, in kernel order, once and stores it.
using FinishFn = void (*)(const SumsShape& shape, const double* sums,
                          std::byte* dcos, std::byte* dsin) noexcept;

/// Rows of dcos and dsin that a kernel stores itself, each right after the last
/// data that add to it.
struct SumsRows {
  FinishFn finish;
  SumsShape shape;
  std::byte *dcos, *dsin;          ///< the first row
  ptrdiff_t dcos_step, dsin_step;  ///< bytes from row to row
};

/// Rows for dcos and dsin, and dx if `out` of the kernel is used. `in` is dy.
/// Products of up to kBlockRows rows are added in the compute type, then that
/// block is added to the sums in double.
struct GradientArgs {
  RowArgs row;
  const std::byte* x;
  ptrdiff_t x_kept, x_shared;
  ptrdiff_t x_part;
  double* sums;      ///< one row for each table row
  size_t sums_step;  ///< bytes
  bool fresh;        ///< there are no sums yet: these are the first rows
  /// Blocks begin anew at each `line` of the shared rows; the first row is
  /// number `in_line` of its line.
  size_t line, in_line;
  const SumsRows* finish;   ///< to be stored; null: the sums are left as such
  const std::byte* next_x;  ///< as next_in
};
inline constexpr size_t kBlockRows = 4;

using RotateFn = void (*)(const RowArgs&) noexcept;
using GradientFn = void (*)(const GradientArgs&) noexcept;
using SumsFn = void (*)(const SumsArgs&) noexcept;
using StoreSumsFn = void (*)(const StoreSumsArgs&) noexcept;

/// The functions for one dtype and form on one target.
struct RowKernel {
  RotateFn rotate[kStoreKinds];
  GradientFn gradient[kStoreKinds];
  GradientFn sums_only;
  TableFn table[4];  ///< by Dtype of the table; null where not offered
  AxesFn axes[4];    ///< likewise
  SumsFn order_sums;
  StoreSumsFn store_sums[4];  ///< by Dtype of the table; likewise
  FinishFn finish[2][4];      ///< streamed?; by Dtype of the table; likewise
  size_t block_pairs;         ///< 2 L
  size_t whole_pairs;  ///< rows of one segment and so many pairs at most are
                       ///< read whole by `rotate` before they are written
  size_t vector_bytes;
  const char* target;

  /// Table numbers, and sums, of one segment.
  size_t SegmentNumbers(size_t pairs) const {
    return (pairs + block_pairs - 1) / block_pairs * block_pairs * 4;
  }
};

/// The best kernel for data of `dtype` among `targets` (a mask of Highway's
/// target bits). Segments of fewer than 2 L pairs get a narrower target if
/// there is one. Null gradients where the form has none (kJoinedToSplit).
const RowKernel* FindRowKernel(Dtype dtype, RowForm form, size_t pairs,
                               int64_t targets) noexcept;

/// Makes non-temporal stores visible to other threads.
void StreamFence() noexcept;

}  // namespace ropewalk::kernels

#endif  // ROPEWALK_SRC_KERNELS_ROW_KERNEL_H_
