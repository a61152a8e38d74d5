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

/// Rows to rotate. Steps count bytes, parts and segments count elements.
struct RowArgs {
  const std::byte* in;
  std::byte* out;
  ptrdiff_t in_step, out_step;  ///< from row to row
  ptrdiff_t in_part, out_part;  ///< from a pair's first to its second element
  size_t rows;
  size_t pairs;     ///< of a segment
  size_t segments;  ///< 1 or 2; the second one starts 2 * pairs further
  const std::byte* table;
  size_t table_step;  ///< from row to row; 0: all rows share one
  const std::byte*
      next_in;  ///< rows that come after these, to prefetch; or null
};

/// Rows for dcos and dsin, and dx if `out` of the kernel is used. `in` is dy.
/// Products of up to four rows are added in `block` in the compute type (phase
/// 0 to 3), then the block is added to `sums` in double.
struct GradientArgs {
  RowArgs row;
  const std::byte* x;
  ptrdiff_t x_step;
  ptrdiff_t x_part;
  std::byte* block;
  double* sums;
  size_t block_step, sums_step;  ///< bytes; 0: all rows add to one
  unsigned phase;                ///< of the first row
  unsigned phase_step;           ///< 1 if all rows add to one, else 0
  const std::byte* next_x;       ///< as next_in
};

/// One row of the tables to bring into kernel order, with the signs and the
/// crossing of sin that the direction asks for.
struct TableArgs {
  /// Tables of the pairs' first and second elements: equal pointers if a pair
  /// shares one value. If joined, only the first are used: both, side by side.
  const std::byte *cos_a, *cos_b, *sin_a, *sin_b;
  bool joined;
  Direction direction;
  size_t pairs;
  std::byte* table;  ///< out; one segment
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
using TableFn = void (*)(const TableArgs&) noexcept;
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
