#include "plan/lower.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/cache_size.h"
#include "core/dtype.h"
#include "ropewalk/executor.h"
#include "targets/allowed.h"

namespace ropewalk {
namespace {

using kernels::RowForm;

template <int kTensors>
void SwapAxes(Axes<kTensors>& axes, int i, int j) {
  std::swap(axes.size[i], axes.size[j]);
  for (auto& stride : axes.stride) std::swap(stride[i], stride[j]);
}

// Longest stride of `tensor` first.
template <int kTensors>
void SortAxes(Axes<kTensors>& axes, int tensor) {
  const auto& stride = axes.stride[tensor];
  for (int i = 1; i < axes.rank; ++i) {
    for (int j = i; j > 0 && std::abs(stride[j - 1]) < std::abs(stride[j]);
         --j) {
      SwapAxes(axes, j - 1, j);
    }
  }
}

// Makes one axis of neighbours that are walked like one in every tensor.
template <int kTensors>
void Coalesce(Axes<kTensors>& axes) {
  int last = 0;
  for (int i = 1; i < axes.rank; ++i) {
    bool joins = true;
    for (const auto& stride : axes.stride) {
      joins = joins && stride[last] == stride[i] * axes.size[i];
    }
    if (joins) {
      axes.size[last] *= axes.size[i];
    } else {
      axes.size[++last] = axes.size[i];
    }
    for (auto& stride : axes.stride) stride[last] = stride[i];
  }
  if (axes.rank > 0) axes.rank = last + 1;
}

bool IsShared(const Problem& p, int axis) {
  return p.cached ? axis == 1 : p.desc[kCos].shape[axis] == 1;
}

void KeptAxes(Plan::Impl& plan) {
  const Problem& p = plan.problem;
  Axes<kSlots>& kept = plan.kept;
  for (int axis = 0; axis + 1 < p.desc[kIn0].rank; ++axis) {
    const int64_t size = p.desc[kIn0].shape[axis];
    if (IsShared(p, axis) || size == 1) continue;
    kept.size[kept.rank] = size;
    for (int slot = 0; slot < kSlots; ++slot) {
      if (!p.present[slot] || slot == kCache) continue;
      const TensorDesc& desc = p.desc[slot];
      // Positions run along their last axis, whatever precedes the tokens.
      const int at = slot == kPositions ? desc.rank - 1 : axis;
      kept.stride[slot][kept.rank] =
          desc.strides[at] * static_cast<int64_t>(DtypeSize(desc.dtype));
    }
    ++kept.rank;
  }
  SortAxes(kept, kIn0);
  Coalesce(kept);
  if (kept.rank == 0) kept.size[kept.rank++] = 1;
  plan.kept_rows = kept.Count();
}

RowForm FormOf(const Problem& p, bool strided) {
  if (strided) return RowForm::kSplit;  // gathered so
  const PairingInfo& info = Info(p.pairing);
  const bool forward = p.direction == Direction::kForward;
  const bool from_joined = forward ? info.x_joined : info.y_joined;
  const bool to_joined = forward ? info.y_joined : info.x_joined;
  if (from_joined) {
    return to_joined ? RowForm::kJoined : RowForm::kJoinedToSplit;
  }
  return to_joined ? RowForm::kSplitToJoined : RowForm::kSplit;
}

// Axes with broadcast tables. Sums go in the order of the descriptor, as their
// bits must not depend on strides; without sums the order of memory is free.
void SharedAxes(const Plan::Impl& plan, const Slot (&slots)[3],
                OperandPlan& op) {
  const Problem& p = plan.problem;
  const TensorDesc& in = p.desc[slots[OperandPlan::kIn]];
  for (int axis = 0; axis + 1 < in.rank; ++axis) {
    if (!IsShared(p, axis) || in.shape[axis] == 1) continue;
    op.shared.size[op.shared.rank] = in.shape[axis];
    for (int t = 0; t < OperandPlan::kTensors; ++t) {
      if (!p.present[slots[t]]) continue;
      op.shared.stride[t][op.shared.rank] =
          p.desc[slots[t]].strides[axis] * static_cast<int64_t>(op.element);
    }
    ++op.shared.rank;
  }
  op.line = op.shared.rank == 0 ? 1 : op.shared.size[op.shared.rank - 1];
  if (!plan.sums) SortAxes(op.shared, OperandPlan::kIn);
  Coalesce(op.shared);
  op.rows = op.shared.Count();

  const int last = plan.kept.rank - 1;
  const int64_t tile_stride = plan.kept.size[last] == 1
                                  ? INT64_MAX
                                  : std::abs(plan.kept.stride[slots[0]][last]);
  op.shared_inside =
      op.shared.rank > 0 &&
      std::abs(op.shared.stride[OperandPlan::kIn][op.shared.rank - 1]) <
          tile_stride;
}

void LowerOperand(Plan::Impl& plan, int index) {
  const Problem& p = plan.problem;
  const Slot slots[3] = {static_cast<Slot>(kIn0 + index),
                         static_cast<Slot>(kX0 + index),
                         static_cast<Slot>(kOut0 + index)};
  OperandPlan& op = plan.operand[index];
  const TensorDesc& in = p.desc[slots[0]];
  op.dtype = in.dtype;
  op.element = DtypeSize(in.dtype);
  op.row = in.shape[in.rank - 1];
  op.step_bits = 0;
  for (int t = 0; t < OperandPlan::kTensors; ++t) {
    const TensorDesc& desc = p.present[slots[t]] ? p.desc[slots[t]] : in;
    const int64_t stride = desc.strides[desc.rank - 1];
    op.column[t] = stride * static_cast<int64_t>(op.element);
    op.strided = op.strided || (stride != 1 && op.row > 1);
  }
  op.form = FormOf(p, op.strided);
  op.kernel = kernels::FindRowKernel(
      op.dtype, op.form, static_cast<size_t>(plan.pairs), plan.targets);
  SharedAxes(plan, slots, op);

  const auto bits = [&op](int64_t bytes) {
    op.step_bits |= static_cast<uint64_t>(bytes);
  };
  const auto element = static_cast<int64_t>(op.element);
  for (int i = 0; i < op.shared.rank; ++i) {
    bits(op.shared.stride[OperandPlan::kOut][i]);
  }
  for (int i = 0; i < plan.kept.rank; ++i) bits(plan.kept.stride[slots[2]][i]);
  bits(p.start * element);
  bits(plan.pairs * element *
       (op.form == RowForm::kSplit || op.form == RowForm::kJoinedToSplit ? 1
                                                                         : 2));
  const int64_t tensors = 1 + p.present[slots[1]] + p.present[slots[2]];
  const auto bytes = static_cast<__int128>(plan.kept_rows) * op.rows * op.row *
                     element * tensors;
  plan.bytes =
      static_cast<int64_t>(std::min<__int128>(bytes + plan.bytes, INT64_MAX));
}

// Sums over many rows with few table rows are cut into chunks that depend on
// the shapes alone, so that threads share the work and the bits stay.
void ChunkSums(Plan::Impl& plan) {
  constexpr int64_t kLeastRows = 256;
  // Fewer for wide rows, whose sums take workspace.
  const int64_t table_rows = std::clamp<int64_t>(
      (int64_t{1} << 20) / std::max<int64_t>(plan.table_width, 1), 1, 256);
  const int64_t most = plan.kept_rows >= table_rows || plan.kept_rows == 0
                           ? 1
                           : (table_rows + plan.kept_rows - 1) / plan.kept_rows;
  plan.chunks = 0;
  for (int i = 0; i < plan.problem.operands; ++i) {
    OperandPlan& op = plan.operand[i];
    const int64_t even = (op.rows + most - 1) / most;
    op.chunk_rows = std::max(kLeastRows, (even + 3) / 4 * 4);
    op.chunks =
        std::max<int64_t>(1, (op.rows + op.chunk_rows - 1) / op.chunk_rows);
    plan.chunks += op.chunks;
  }
  plan.chunked = most > 1 && plan.chunks > plan.problem.operands;
  if (!plan.chunked) {
    plan.chunks = 1;
    for (OperandPlan& op : plan.operand) op.chunk_rows = op.rows;
  }
}

// Without sums the rows that share a table row may be cut anywhere.
void ChunkRows(Plan::Impl& plan, int64_t wanted_units) {
  int64_t rows = 0;
  for (int i = 0; i < plan.problem.operands; ++i) {
    rows = std::max(rows, plan.operand[i].rows);
  }
  const int64_t wanted = (wanted_units + plan.kept_units - 1) /
                         std::max<int64_t>(plan.kept_units, 1);
  plan.chunks = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(rows, 1));
  for (int i = 0; i < plan.problem.operands; ++i) {
    OperandPlan& op = plan.operand[i];
    op.chunk_rows = (op.rows + plan.chunks - 1) / plan.chunks;
  }
}

size_t TileRowBytes(const Plan::Impl& plan) {
  const auto pairs =
      static_cast<size_t>(std::min<int64_t>(plan.pairs, kTilePairs));
  const auto segments = static_cast<size_t>(plan.cut ? 1 : plan.segments);
  size_t numbers = 0;
  for (int i = 0; i < plan.problem.operands; ++i) {
    numbers = std::max(
        numbers, segments * plan.operand[i].kernel->SegmentNumbers(pairs));
  }
  size_t bytes = numbers * plan.compute;
  if (plan.sums) bytes += numbers * sizeof(double);
  if (plan.sums && plan.problem.operands == 2)
    bytes += numbers * sizeof(double);
  return std::max<size_t>(bytes, 1);
}

void Schedule(Plan::Impl& plan) {
  const int64_t threads = std::min(static_cast<int64_t>(NumThreads()),
                                   plan.bytes / kBytesPerThread);
  const int64_t wanted = threads <= 1 ? 1 : 8 * threads;
  const int64_t along = plan.kept.size[plan.kept.rank - 1];
  // Tables and sums that a tile's rows come back to are kept in the nearest
  // cache.
  const auto scratch = std::min<size_t>(
      kScratchBytes, static_cast<size_t>(FirstLevelCacheBytes()) / 3 * 2);
  const auto fits = static_cast<int64_t>(scratch / TileRowBytes(plan));
  const int64_t most = plan.sums ? 32 : kMostTableRows;
  plan.tile = std::clamp<int64_t>(std::min(fits, along), 1, most);
  if (plan.sums) {
    plan.tile = std::clamp<int64_t>((plan.kept_rows + wanted - 1) / wanted, 1,
                                    plan.tile);
  }
  plan.tiles = (along + plan.tile - 1) / plan.tile;
  plan.kept_units = along == 0 ? 0 : plan.kept_rows / along * plan.tiles;
  if (plan.sums) {
    ChunkSums(plan);
  } else {
    ChunkRows(plan, wanted);
  }
}

// In place, a pairing that reorders reads and writes different columns.
bool MayNeedRowBuffer(const Problem& p) {
  return Reorders(p.pairing) && p.width > kStackColumns;
}

}  // namespace

void Lower(Plan::Impl& plan) {
  const Problem& p = plan.problem;
  plan.targets = AllowedTargets();
  plan.sums = p.present[kDcos];
  plan.rotate = p.present[kOut0];
  plan.segments = Info(p.pairing).segments;
  plan.pairs = p.width / 2 / plan.segments;
  plan.cut = plan.segments * plan.pairs > kTilePairs;
  plan.table_width = p.half_width ? p.width / 2 : p.width;
  plan.table_dtype = p.desc[p.cached ? kCache : kCos].dtype;
  plan.table_element = DtypeSize(plan.table_dtype);
  plan.compute = ComputeSize(p.desc[kIn0].dtype);
  KeptAxes(plan);
  for (int i = 0; i < p.operands; ++i) LowerOperand(plan, i);
  Schedule(plan);
  if (plan.chunked) {
    plan.workspace = static_cast<size_t>(plan.chunks * plan.kept_rows * 2 *
                                         plan.table_width) *
                     sizeof(double);
  }
  if (MayNeedRowBuffer(p)) {
    plan.row_buffer = static_cast<size_t>(p.width) * 8;
    plan.workspace = (plan.workspace + 63) / 64 * 64;
    plan.workspace += kRowBuffers * plan.row_buffer;
  }
}

}  // namespace ropewalk
