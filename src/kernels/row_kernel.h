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

/// How rows of the tables are brought into kernel order, with the signs and the
/// crossing of sin that the direction asks for. Offsets count bytes.
struct TableShape {
  bool joined;       ///< values of a pair's two elements are side by side,
  ptrdiff_t second;  ///< else this far apart; 0: a pair shares one value
  Direction direction;
  size_t pairs;  ///< of a segment
  size_t segments;
  ptrdiff_t segment;  ///< from segment to segment
};

/// Prepares one row: first values at cos and sin; `table`: segment by segment.
using TableFn = void (*)(const TableShape& shape, const std::byte* cos,
                         const std::byte* sin, std::byte* table) noexcept;

/// Table rows that a kernel prepares itself, each right before the first data
/// that need it, so that the reads of data do not pause meanwhile.
struct TableRows {
  TableFn prepare;
  TableShape shape;
  const std::byte *cos, *sin;    ///< the first row
  ptrdiff_t cos_step, sin_step;  ///< bytes from row to row
  /// Or, if not null, where each row of cos is; sin lies as in the first.
  const std::byte* const* at;
};

/// Groups of rows to rotate. Steps count bytes, parts and segments count
/// elements. All that a unit has is one call where it can be: between calls
/// the reads from memory run dry.
struct RowArgs {
  const std::byte* in;
  std::byte* out;
  ptrdiff_t in_step, out_step;    ///< from row to row
  ptrdiff_t in_group, out_group;  ///< from group to group
  ptrdiff_t in_part, out_part;    ///< from a pair's first to its second element
  size_t rows, groups;
  size_t pairs;     ///< of a segment
  size_t segments;  ///< 1 or 2; the second one starts 2 * pairs further
  std::byte* table;
  size_t table_step, table_group;  ///< likewise; 0: they share one
  const TableRows* tables;         ///< to be prepared; null: `table` is ready
  const std::byte* next_in;  ///< rows that come after these, to prefetch; or
                             ///< null
};

/// Rows for dcos and dsin, and dx if `out` of the kernel is used. `in` is dy.
/// Products of up to four rows are added in `block` in the compute type (phase
/// 0 to 3), then the block is added to `sums` in double.
struct GradientArgs {
  RowArgs row;
  const std::byte* x;
  ptrdiff_t x_step, x_group;
  ptrdiff_t x_part;
  std::byte* block;
  double* sums;
  size_t block_step, sums_step;    ///< bytes; 0: the rows add to one
  size_t block_group, sums_group;  ///< bytes; 0: the groups add to one
  unsigned phase;                  ///< of the first row
  unsigned phase_step;      ///< 1 if the rows of a group add to one, else 0
  unsigned phase_group;     ///< 1 if the groups add to one, else 0
  const std::byte* next_x;  ///< as next_in
};

/// Sums of one segment, brought from kernel order into table order.
struct SumsArgs {
  const double* sums;      ///< kernel order; null: all products are in block
  const std::byte* block;  ///< products not yet in sums; null: there are none
  bool joined;             ///< order of the result: joined, else split
  size_t pairs;
  double *dcos, *dsin;  ///< out: 2 * pairs each
};

/// Sums rounded once and stored side by side.
struct StoreSumsArgs {
  const double* sums;
  size_t count;
  std::byte* out;
};

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
  SumsFn finish;
  StoreSumsFn store_sums[4];  ///< by Dtype of the table; likewise
  size_t block_pairs;         ///< 2 L
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
