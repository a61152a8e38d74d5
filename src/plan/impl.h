// What a plan holds: axes, strides and row functions, ready to run.

#ifndef ROPEWALK_SRC_PLAN_IMPL_H_
#define ROPEWALK_SRC_PLAN_IMPL_H_

#include <cstddef>
#include <cstdint>

#include "kernels/row_kernel.h"
#include "plan/problem.h"

namespace ropewalk {

/// Pairs that are worked on at once: wider rows are cut into column tiles, so
/// that tables and sums have a bounded size on the stack.
inline constexpr int64_t kTilePairs = kernels::kMostSegmentPairs;
/// Bytes of stack for the tables and sums of a unit.
inline constexpr size_t kScratchBytes = 96 * 1024;
/// Bytes read and written that are worth waking another thread for.
inline constexpr int64_t kBytesPerThread = 1024 * 1024;
/// Table rows of a unit.
inline constexpr int64_t kMostTableRows = 64;
/// Columns of a row buffer on the stack; wider rows take it from workspace.
inline constexpr int64_t kStackColumns = 4096;
/// Row buffers in workspace, and so tasks, where rows are wider than that.
inline constexpr size_t kRowBuffers = 16;

/// n / d and n % d. Small works divide little, and a division takes longer than
/// a comparison.
struct Division {
  int64_t quotient, rest;
};
inline Division Divide(int64_t n, int64_t d) {
  if (n < d) return {0, n};
  return {n / d, n % d};
}

/// Axes that are walked together: sizes, and strides in bytes for each tensor.
template <int kTensors>
struct Axes {
  int rank = 0;
  int64_t size[kMaxRank] = {};
  int64_t stride[kTensors][kMaxRank] = {};

  int64_t Count() const {
    int64_t count = 1;
    for (int i = 0; i < rank; ++i) count *= size[i];
    return count;
  }
  /// Byte offset of flat index `index` over the first `axes` axes.
  int64_t Offset(int tensor, int64_t index, int first, int end) const {
    int64_t offset = 0;
    for (int i = end - 1; i >= first && index != 0; --i) {
      const Division at = Divide(index, size[i]);
      offset += at.rest * stride[tensor][i];
      index = at.quotient;
    }
    return offset;
  }
};

/// Rows of an operand that share a table row: in, x, out.
struct OperandPlan {
  enum { kIn, kX, kOut, kTensors };
  Dtype dtype;
  size_t element;            ///< bytes
  int64_t row;               ///< columns of the whole row
  int64_t column[kTensors];  ///< bytes between columns
  bool strided;              ///< a column stride is not one element
  kernels::RowForm form;
  const kernels::RowKernel* kernel;
  /// Axes on which the tables are broadcast.
  Axes<kTensors> shared;
  /// The last of them is walked inside of a table row, not outside of a tile.
  bool shared_inside;
  int64_t line;        ///< rows on the descriptor's last of these axes
  int64_t rows;        ///< that share a table row
  int64_t chunk_rows;  ///< rows in a chunk
  int64_t chunks;
  uint64_t step_bits;  ///< all byte strides of out, or-ed: its alignment
};

/// Two tensors that a run must find apart, or exactly together.
struct SlotPair {
  uint8_t out, other;
};

struct Plan::Impl {
  Problem problem;
  /// What a run checks: tensors with elements, and outputs against the others.
  int slots_with_data;
  uint8_t with_data[kSlots];
  int apart_count;
  SlotPair apart[4 * kSlots];

  OperandPlan operand[2];
  bool sums;    ///< dcos and dsin
  bool rotate;  ///< y or dx

  /// Axes of the tables. The last is walked in tiles.
  Axes<kSlots> kept;
  int64_t tile;   ///< table rows in a tile
  int64_t tiles;  ///< along the last axis
  int64_t kept_rows;
  int64_t kept_units;  ///< tiles in all
  int64_t chunks;      ///< of shared rows, one unit each
  bool chunked;        ///< sums of chunks meet in workspace

  int64_t pairs;  ///< of a segment
  int64_t segments;
  bool cut;             ///< rows are cut into column tiles
  int64_t table_width;  ///< columns of cos, and dcos
  Dtype table_dtype;
  size_t table_element;
  size_t compute;  ///< bytes of the compute type

  int64_t bytes;  ///< read and written
  size_t workspace;
  size_t row_buffer;  ///< bytes of each row buffer in workspace, or 0
  int64_t targets;
};

/// Addresses by slot.
struct Addresses {
  const std::byte* at[kSlots] = {};
  std::byte* out(Slot slot) const { return const_cast<std::byte*>(at[slot]); }
};

/// Computes; all checks are done.
Status Execute(const Plan::Impl& plan, const Addresses& addresses,
               const RunOptions& options);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_PLAN_IMPL_H_
