// Runs the units of a plan: a tile of table rows with all (or a chunk) of the
// rows that share them.

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/cache_size.h"
#include "core/dtype.h"
#include "plan/impl.h"
#include "plan/rows.h"
#include "plan/table.h"

namespace ropewalk {
namespace {

using kernels::StoreKind;

// Work that is worth waking another thread for: some 20 us of it.
constexpr int64_t kBytesPerThread = 1024 * 1024;
// Workers that are used at most, and tasks.
constexpr int64_t kMostWorkers = 1024;
constexpr int64_t kMostTasks = 4 * kMostWorkers;

struct Context {
  const Plan::Impl& plan;
  const Addresses& addresses;
  RowMode mode[2];
  double* partials = nullptr;  // sums of chunks
};

// What the tasks of a run share.
struct Tasks {
  Context context;
  std::byte* row_buffers = nullptr;
  int64_t tasks = 1;
  // One bit a task: an executor that calls one twice must not rotate in place
  // twice, and one that leaves some out is found out.
  std::atomic<uint64_t> begun[kMostTasks / 64] = {};
  std::atomic<int64_t> done{0};
};

// Rows whose products are added in the compute type before they go to the sums.
constexpr int64_t kBlockRows = 4;

// The stack of a unit: tables, then sums.
struct Scratch {
  alignas(64) std::byte bytes[kScratchBytes];
};

// A unit on its way: which table rows, and their stack.
struct Unit {
  int64_t kept_first;  // flat index of the outer kept axes
  int64_t first;       // on the tiled axis
  int64_t count;
  int64_t chunk;  // -1: all rows of all operands
  std::byte* table;
  std::byte* block;
  double* sums;
  double* total;                                     // in table order
  size_t row_table, row_block, row_sums, row_total;  // bytes for a table row
};

int64_t KeptOffset(const Plan::Impl& plan, int slot, const Unit& unit) {
  const int last = plan.kept.rank - 1;
  return plan.kept.Offset(slot, unit.kept_first, 0, last) +
         unit.first * plan.kept.stride[slot][last];
}

void PrepareTables(const Context& c, const OperandPlan& op,
                   const ColumnTile& tile, const Unit& unit) {
  const Plan::Impl& plan = c.plan;
  if (tile.pairs == 0) return;
  const int last = plan.kept.rank - 1;
  int64_t offsets[3];
  const Slot slots[3] = {kCos, kSin, kPositions};
  for (int i = 0; i < 3; ++i) offsets[i] = KeptOffset(plan, slots[i], unit);
  for (int64_t t = 0; t < unit.count; ++t) {
    const std::byte* at[3];
    for (int i = 0; i < 3; ++i) {
      at[i] = c.addresses.at[slots[i]] + offsets[i] +
              t * plan.kept.stride[slots[i]][last];
    }
    PrepareTableRow(plan, *op.kernel, c.addresses, {at[0], at[1], at[2]}, tile,
                    unit.table + static_cast<size_t>(t) * unit.row_table);
  }
}

// Walks the rows [begin, end) of those that share the unit's table rows.
class RowWalk {
 public:
  RowWalk(const Context& c, int index, const ColumnTile& tile, const Unit& unit,
          bool rotate, bool sums)
      : plan_(c.plan),
        op_(c.plan.operand[index]),
        mode_(c.mode[index]),
        tile_(tile),
        unit_(unit),
        rotate_(rotate),
        sums_(sums) {
    const Slot slots[3] = {static_cast<Slot>(kIn0 + index),
                           static_cast<Slot>(kX0 + index),
                           static_cast<Slot>(kOut0 + index)};
    const int last = plan_.kept.rank - 1;
    for (int t = 0; t < 3; ++t) {
      base_[t] = c.addresses.at[slots[t]];
      if (base_[t] != nullptr) base_[t] += KeptOffset(plan_, slots[t], unit);
      tile_stride_[t] = plan_.kept.stride[slots[t]][last];
    }
    copies_rest_ = rotate && !mode_.in_place && tile.segment == 0 &&
                   tile.first == 0 && plan_.problem.width < op_.row;
  }

  void Walk(int64_t begin, int64_t end) {
    begin_ = begin;
    const int64_t inner = op_.inner_count;
    for (int64_t row = begin; row < end;) {
      const int64_t outer = row / inner;
      const int64_t from = row % inner;
      const int64_t to = std::min(inner, from + end - row);
      const std::byte* at[3];
      const std::byte* next[3];
      for (int t = 0; t < 3; ++t) {
        at[t] = base_[t] + op_.shared.Offset(t, outer, 0, op_.outer);
        next[t] = base_[t];
        if (base_[t] == nullptr) continue;
        next[t] += row + to - from < end
                       ? op_.shared.Offset(t, outer + 1, 0, op_.outer)
                       : unit_.count * tile_stride_[t];
      }
      if (op_.outer == op_.shared.rank) {
        RunAlongTile(at, next, row);
      } else {
        RunInside(at, next, row, from, to);
      }
      row += to - from;
    }
  }

 private:
  // No shared axis inside: each row has a table row of its own.
  void RunAlongTile(const std::byte* const* at, const std::byte* const* next,
                    int64_t row) {
    RowRun run = RunAt(at, 0, row);
    run.next_in = next[OperandPlan::kIn];
    run.next_x = next[OperandPlan::kX];
    run.in_step = tile_stride_[OperandPlan::kIn];
    run.x_step = tile_stride_[OperandPlan::kX];
    run.out_step = tile_stride_[OperandPlan::kOut];
    run.rows = unit_.count;
    run.table_step = unit_.row_table;
    run.block_step = unit_.row_block;
    run.sums_step = unit_.row_sums;
    run.phase_step = 0;
    Run(run);
  }

  // Table row by table row, the shared rows [from, to) of the inner axes.
  void RunInside(const std::byte* const* at, const std::byte* const* next,
                 int64_t row, int64_t from, int64_t to) {
    const int last = op_.shared.rank - 1;
    const int64_t line = op_.shared.size[last];
    for (int64_t t = 0; t < unit_.count; ++t) {
      for (int64_t i = from; i < to;) {
        const int64_t count = std::min(line - i % line, to - i);
        const std::byte* start[3];
        for (int k = 0; k < 3; ++k) {
          start[k] = at[k] + t * tile_stride_[k] +
                     op_.shared.Offset(k, i, op_.outer, op_.shared.rank);
        }
        RowRun run = RunAt(start, t, row + i - from);
        run.in_step = op_.shared.stride[OperandPlan::kIn][last];
        run.x_step = op_.shared.stride[OperandPlan::kX][last];
        run.out_step = op_.shared.stride[OperandPlan::kOut][last];
        run.rows = count;
        run.phase_step = 1;
        i += count;
        // Exact where it matters: at the end of one token's rows.
        const bool last_token = t + 1 == unit_.count;
        run.next_in =
            NextOf(OperandPlan::kIn, at, next, t, i < to, last_token, start);
        run.next_x =
            NextOf(OperandPlan::kX, at, next, t, i < to, last_token, start);
        Run(run);
      }
    }
  }

  // What follows a run inside: more of the same table row (about), the next
  // table row, or what the caller says.
  const std::byte* NextOf(int tensor, const std::byte* const* at,
                          const std::byte* const* next, int64_t t, bool more,
                          bool last_token,
                          const std::byte* const* start) const {
    if (at[tensor] == nullptr) return nullptr;
    if (more) return start[tensor];
    if (last_token) return next[tensor];
    return at[tensor] + (t + 1) * tile_stride_[tensor];
  }

  RowRun RunAt(const std::byte* const* at, int64_t t, int64_t row) const {
    const auto i = static_cast<size_t>(t);
    RowRun run = {};
    run.in = at[OperandPlan::kIn];
    run.x = at[OperandPlan::kX];
    run.out = const_cast<std::byte*>(at[OperandPlan::kOut]);
    run.table = unit_.table + i * unit_.row_table;
    run.block = unit_.block + i * unit_.row_block;
    run.sums = unit_.sums + i * unit_.row_sums / sizeof(double);
    run.phase = static_cast<unsigned>((row - begin_) & 3);
    return run;
  }

  void Run(const RowRun& run) {
    if (tile_.pairs > 0) {
      RunRows(plan_, op_, mode_, tile_, run, rotate_, sums_);
    }
    if (copies_rest_) CopyRest(plan_, op_, run);
  }

  const Plan::Impl& plan_;
  const OperandPlan& op_;
  const RowMode& mode_;
  const ColumnTile& tile_;
  const Unit& unit_;
  const bool rotate_;
  const bool sums_;
  bool copies_rest_ = false;
  const std::byte* base_[3];
  int64_t tile_stride_[3];
  int64_t begin_ = 0;
};

// ---- Sums

// Table column of value i of a tile in table order, `half_width` folded.
struct TotalRun {
  int64_t column;  // in dcos
  int64_t count;
  int64_t at;  // in the total row
};

// Folds the two values of each pair, where they share one table value.
void FoldPairs(const Plan::Impl& plan, const ColumnTile& tile, double* total) {
  const bool joined = Info(plan.problem.pairing).y_joined;
  for (int64_t s = 0; s < tile.segments; ++s) {
    double* from = total + s * 2 * tile.pairs;
    double* to = total + s * tile.pairs;
    for (int64_t i = 0; i < tile.pairs; ++i) {
      to[i] = joined ? from[2 * i] + from[2 * i + 1]
                     : from[i] + from[i + tile.pairs];
    }
  }
}

// The runs of side-by-side table columns that a tile's totals make up.
template <class Visit>
void ForEachTotalRun(const Plan::Impl& plan, const ColumnTile& tile,
                     Visit visit) {
  for (int64_t i = 0; i < tile.segments; ++i) {
    const int64_t segment = tile.segment + i;
    if (plan.problem.half_width) {
      visit(TotalRun{segment * plan.pairs + tile.first, tile.pairs,
                     i * tile.pairs});
    } else if (Info(plan.problem.pairing).y_joined) {
      visit(TotalRun{segment * 2 * plan.pairs + 2 * tile.first, 2 * tile.pairs,
                     2 * i * tile.pairs});
    } else {
      const int64_t column = segment * 2 * plan.pairs + tile.first;
      visit(TotalRun{column, tile.pairs, 2 * i * tile.pairs});
      visit(
          TotalRun{column + plan.pairs, tile.pairs, (2 * i + 1) * tile.pairs});
    }
  }
}

// Rounds sums once and stores them at columns of a row of dcos or dsin.
void StoreTotals(const Plan::Impl& plan, Slot slot, const double* sums,
                 int64_t count, std::byte* row, int64_t column) {
  const TensorDesc& desc = plan.problem.desc[slot];
  const auto element = static_cast<int64_t>(plan.table_element);
  const int64_t stride = desc.strides[desc.rank - 1] * element;
  const auto store =
      plan.operand[0].kernel->store_sums[static_cast<size_t>(plan.table_dtype)];
  if (stride == element) {
    store({sums, static_cast<size_t>(count), row + column * element});
    return;
  }
  constexpr int64_t kPiece = 64;
  alignas(64) std::byte rounded[kPiece * sizeof(double)];
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t piece = std::min(kPiece, count - i);
    store({sums + i, static_cast<size_t>(piece), rounded});
    for (int64_t k = 0; k < piece; ++k) {
      memcpy(row + (column + i + k) * stride, rounded + k * element,
             plan.table_element);
    }
  }
}

// Where the totals of table row t of a unit go: workspace, or dcos and dsin.
void StoreTotal(const Context& c, const ColumnTile& tile, const Unit& unit,
                int64_t t, double* total) {
  const Plan::Impl& plan = c.plan;
  const int last = plan.kept.rank - 1;
  const int64_t width = 2 * tile.segments * tile.pairs;
  for (int k = 0; k < 2; ++k) {
    const Slot slot = k == 0 ? kDcos : kDsin;
    double* values = total + k * width;
    if (plan.problem.half_width) FoldPairs(plan, tile, values);
    ForEachTotalRun(plan, tile, [&](const TotalRun& run) {
      if (unit.chunk >= 0) {
        const int64_t row =
            unit.kept_first * plan.kept.size[last] + unit.first + t;
        double* to =
            c.partials +
            ((unit.chunk * plan.kept_rows + row) * 2 + k) * plan.table_width;
        memcpy(to + run.column, values + run.at,
               static_cast<size_t>(run.count) * sizeof(double));
        return;
      }
      std::byte* row = c.addresses.out(slot) + KeptOffset(plan, slot, unit) +
                       t * plan.kept.stride[slot][last];
      StoreTotals(plan, slot, values + run.at, run.count, row, run.column);
    });
  }
}

// Sums of one operand, from kernel order, set or added to the totals.
void FinishOperand(const Context& c, const OperandPlan& op,
                   const ColumnTile& tile, const Unit& unit, int64_t rows,
                   int64_t t, bool add, double* total) {
  const auto i = static_cast<size_t>(t);
  const size_t numbers =
      op.kernel->SegmentNumbers(static_cast<size_t>(tile.pairs));
  const int64_t width = 2 * tile.segments * tile.pairs;
  alignas(64) double added[4 * kTilePairs];
  double* to = add ? added : total;
  for (int64_t s = 0; s < tile.segments; ++s) {
    const auto segment = static_cast<size_t>(s);
    kernels::SumsArgs args = {};
    if (rows >= kBlockRows) {
      args.sums =
          unit.sums + i * unit.row_sums / sizeof(double) + segment * numbers;
    }
    if (rows < kBlockRows || rows % kBlockRows != 0) {
      args.block =
          unit.block + i * unit.row_block + segment * numbers * c.plan.compute;
    }
    args.joined = Info(c.plan.problem.pairing).y_joined;
    args.pairs = static_cast<size_t>(tile.pairs);
    args.dcos = to + s * 2 * tile.pairs;
    args.dsin = args.dcos + width;
    op.kernel->finish(args);
  }
  if (!add) return;
  for (int64_t k = 0; k < 2 * width; ++k) total[k] += added[k];
}

// ---- Units

void LayOutScratch(const Plan::Impl& plan, const ColumnTile& tile,
                   Scratch& scratch, Unit& unit) {
  size_t numbers = 0;
  for (int i = 0; i < plan.problem.operands; ++i) {
    numbers = std::max(numbers, static_cast<size_t>(tile.segments) *
                                    plan.operand[i].kernel->SegmentNumbers(
                                        static_cast<size_t>(tile.pairs)));
  }
  const auto count = static_cast<size_t>(unit.count);
  unit.row_table = numbers * plan.compute;
  unit.row_block = unit.row_table;
  unit.row_sums = numbers * sizeof(double);
  unit.row_total = plan.problem.operands == 2 ? unit.row_sums : 0;
  unit.table = scratch.bytes;
  unit.block = unit.table + count * unit.row_table;
  unit.sums = reinterpret_cast<double*>(unit.block + count * unit.row_block);
  unit.total = unit.sums + count * unit.row_sums / sizeof(double);
}

// The rows of an operand that a unit's chunk holds.
void ChunkOf(const OperandPlan& op, int64_t chunk, int64_t* begin,
             int64_t* end) {
  *begin = std::min(chunk * op.chunk_rows, op.rows);
  *end = std::min(*begin + op.chunk_rows, op.rows);
}

void RunOperand(const Context& c, int index, const ColumnTile& tile,
                const Unit& unit, int64_t begin, int64_t end) {
  const Plan::Impl& plan = c.plan;
  if (plan.sums && begin == end) {
    memset(unit.block, 0, static_cast<size_t>(unit.count) * unit.row_block);
  } else if (plan.sums && end - begin >= kBlockRows) {
    memset(unit.sums, 0, static_cast<size_t>(unit.count) * unit.row_sums);
  }
  // A buffered row wider than a tile would be overwritten before the next tile
  // reads it, so there sums and rotation go one after the other: see below.
  const bool apart = c.mode[index].buffered && plan.cut;
  const bool rotate = plan.rotate && !apart;
  if (rotate || plan.sums) {
    RowWalk(c, index, tile, unit, rotate, plan.sums).Walk(begin, end);
  }
}

template <class Visit>
void ForEachColumnTile(const Plan::Impl& plan, Visit visit) {
  if (!plan.cut) {
    visit(ColumnTile{0, plan.segments, 0, plan.pairs});
    return;
  }
  for (int64_t s = 0; s < plan.segments; ++s) {
    for (int64_t first = 0; first < plan.pairs; first += kTilePairs) {
      visit(ColumnTile{s, 1, first, std::min(kTilePairs, plan.pairs - first)});
    }
  }
}

// Interleave-half in place on rows wider than a column tile: row by row, each
// copied whole before any of its tiles is written.
void RotateWideInPlace(const Context& c, int index, const Unit& whole,
                       int64_t begin, int64_t end, Scratch& scratch) {
  const Plan::Impl& plan = c.plan;
  const OperandPlan& op = plan.operand[index];
  RowMode mode = c.mode[index];
  alignas(64) std::byte stack[kStackColumns * sizeof(double)];
  std::byte* buffer = mode.row_buffer != nullptr ? mode.row_buffer : stack;
  const Slot in_slot = static_cast<Slot>(kIn0 + index);
  const Slot out_slot = static_cast<Slot>(kOut0 + index);
  Unit unit = whole;
  unit.count = 1;
  OperandPlan from_buffer = op;
  from_buffer.column[OperandPlan::kIn] = static_cast<int64_t>(op.element);
  mode.buffered = false;
  for (int64_t t = 0; t < whole.count; ++t) {
    unit.first = whole.first + t;
    for (int64_t row = begin; row < end; ++row) {
      const std::byte* in =
          c.addresses.at[in_slot] + KeptOffset(plan, in_slot, unit) +
          op.shared.Offset(OperandPlan::kIn, row, 0, op.shared.rank);
      RowRun run = {};
      run.in = in + plan.problem.start * op.column[OperandPlan::kIn];
      for (int64_t i = 0; i < plan.problem.width; ++i) {
        memcpy(buffer + static_cast<size_t>(i) * op.element,
               run.in + i * op.column[OperandPlan::kIn], op.element);
      }
      // RunRows skips to the slice, which is where the buffer begins.
      run.in = buffer - plan.problem.start * static_cast<int64_t>(op.element);
      run.out = c.addresses.out(out_slot) + KeptOffset(plan, out_slot, unit) +
                op.shared.Offset(OperandPlan::kOut, row, 0, op.shared.rank);
      run.rows = 1;
      ForEachColumnTile(plan, [&](const ColumnTile& tile) {
        LayOutScratch(plan, tile, scratch, unit);
        PrepareTables(c, op, tile, unit);
        run.table = unit.table;
        RunRows(plan, from_buffer, mode, tile, run, true, false);
      });
    }
  }
}

void RunUnit(const Context& c, int64_t index, Scratch& scratch) {
  const Plan::Impl& plan = c.plan;
  const int operands = plan.problem.operands;
  Unit unit = {};
  int64_t chunk = index % plan.chunks;
  const int64_t kept = index / plan.chunks;
  unit.kept_first = kept / plan.tiles;
  unit.first = kept % plan.tiles * plan.tile;
  unit.count =
      std::min(plan.tile, plan.kept.size[plan.kept.rank - 1] - unit.first);
  unit.chunk = plan.chunked ? chunk : -1;
  int first_operand = 0;
  int end_operand = operands;
  if (plan.chunked) {  // chunks of the first operand, then of the second
    first_operand = chunk >= plan.operand[0].chunks ? 1 : 0;
    end_operand = first_operand + 1;
    if (first_operand == 1) chunk -= plan.operand[0].chunks;
  }
  ForEachColumnTile(plan, [&](const ColumnTile& tile) {
    LayOutScratch(plan, tile, scratch, unit);
    const kernels::RowKernel* prepared = nullptr;
    for (int i = first_operand; i < end_operand; ++i) {
      const OperandPlan& op = plan.operand[i];
      int64_t begin;
      int64_t end;
      ChunkOf(op, chunk, &begin, &end);
      if (plan.rotate && op.kernel != prepared) {
        PrepareTables(c, op, tile, unit);
        prepared = op.kernel;
      }
      RunOperand(c, i, tile, unit, begin, end);
      if (!plan.sums) continue;
      for (int64_t t = 0; t < unit.count; ++t) {
        double* total = unit.total + static_cast<size_t>(t) * unit.row_total /
                                         sizeof(double);
        FinishOperand(c, op, tile, unit, end - begin, t, i > first_operand,
                      total);
        if (i + 1 == end_operand) StoreTotal(c, tile, unit, t, total);
      }
    }
  });
  for (int i = first_operand; i < end_operand; ++i) {
    if (!plan.rotate || !c.mode[i].buffered || !plan.cut) continue;
    int64_t begin;
    int64_t end;
    ChunkOf(plan.operand[i], chunk, &begin, &end);
    RotateWideInPlace(c, i, unit, begin, end, scratch);
  }
}

// Units [begin, end), and the fence that their streamed stores need.
void RunUnits(const Context& c, int64_t begin, int64_t end) {
  Scratch scratch;
  for (int64_t i = begin; i < end; ++i) RunUnit(c, i, scratch);
  for (const RowMode& mode : c.mode) {
    if (mode.store == StoreKind::kStream ||
        mode.store == StoreKind::kStream16) {
      kernels::StreamFence();
      return;
    }
  }
}

void RunTask(void* context, size_t task, size_t /*worker*/,
             size_t /*workers*/) noexcept {
  auto& all = *static_cast<Tasks*>(context);
  if (task >= static_cast<size_t>(all.tasks)) return;
  const uint64_t bit = uint64_t{1} << (task % 64);
  if (all.begun[task / 64].fetch_or(bit, std::memory_order_relaxed) & bit) {
    return;
  }
  Context own = all.context;
  if (all.row_buffers != nullptr) {
    for (RowMode& mode : own.mode) {
      mode.row_buffer = all.row_buffers + task * own.plan.row_buffer;
    }
  }
  const int64_t units = own.plan.kept_units * own.plan.chunks;
  const auto t = static_cast<int64_t>(task);
  const int64_t per_task = units / all.tasks;
  const int64_t more = units % all.tasks;
  const int64_t begin = t * per_task + std::min(t, more);
  RunUnits(own, begin, begin + per_task + (t < more ? 1 : 0));
  all.done.fetch_add(1, std::memory_order_relaxed);
}

// ---- The whole

RowMode ModeOf(const Plan::Impl& plan, int index, const Addresses& addresses) {
  const Problem& p = plan.problem;
  const OperandPlan& op = plan.operand[index];
  RowMode mode;
  const bool large = plan.bytes >= LastLevelCacheBytes();
  if (large) mode.store = StoreKind::kPrefetch;
  if (!plan.rotate) return mode;
  const std::byte* out = addresses.at[kOut0 + index];
  mode.in_place = out == addresses.at[kIn0 + index];
  mode.buffered = mode.in_place && Reorders(p.pairing);
  const bool over_x = plan.sums && out == addresses.at[kX0 + index];
  // Streamed lines must be filled by neighbouring rows, and not be read again.
  const bool whole_rows = p.width == op.row;
  if (!large || mode.in_place || over_x || op.strided || !whole_rows) {
    return mode;
  }
  const uint64_t bits = op.step_bits | reinterpret_cast<uintptr_t>(out);
  if (bits % op.kernel->vector_bytes == 0) {
    mode.store = StoreKind::kStream;
  } else if (bits % 16 == 0) {
    mode.store = StoreKind::kStream16;
  }
  return mode;
}

// Adds the sums of the chunks in their order, and rounds.
void CombineChunks(const Context& c) {
  const Plan::Impl& plan = c.plan;
  const int64_t width = plan.table_width;
  constexpr int64_t kPiece = 256;
  double total[kPiece];
  for (int64_t row = 0; row < plan.kept_rows; ++row) {
    for (int k = 0; k < 2; ++k) {
      const Slot slot = k == 0 ? kDcos : kDsin;
      std::byte* to = c.addresses.out(slot) +
                      plan.kept.Offset(slot, row, 0, plan.kept.rank);
      for (int64_t i = 0; i < width; i += kPiece) {
        const int64_t count = std::min(kPiece, width - i);
        std::fill(total, total + count, 0.0);
        for (int64_t chunk = 0; chunk < plan.chunks; ++chunk) {
          const double* from =
              c.partials + ((chunk * plan.kept_rows + row) * 2 + k) * width + i;
          for (int64_t n = 0; n < count; ++n) total[n] += from[n];
        }
        StoreTotals(plan, slot, total, count, to, i);
      }
    }
  }
}

Status RunParallel(const Context& context, int64_t units, int64_t workers,
                   std::byte* row_buffers, Executor& executor) {
  const size_t most = std::clamp<size_t>(executor.max_workers(), 1,
                                         static_cast<size_t>(kMostWorkers));
  workers = std::min(workers, static_cast<int64_t>(most));
  if (workers == 1) {
    RunUnits(context, 0, units);
    return Status();
  }
  Tasks all{context, row_buffers};
  all.tasks = std::min(units, 4 * workers);
  if (row_buffers != nullptr) {
    all.tasks = std::min(all.tasks, static_cast<int64_t>(kRowBuffers));
  }
  try {
    executor.ParallelFor(static_cast<size_t>(all.tasks), RunTask, &all);
  } catch (...) {
    return Status(Code::kExecutor, std::string("[") + context.plan.problem.op +
                                       "] executor: threw an exception");
  }
  const int64_t done = all.done.load();
  if (done == all.tasks) return Status();
  return Status(Code::kExecutor, std::string("[") + context.plan.problem.op +
                                     "] executor: ran " + std::to_string(done) +
                                     " of " + std::to_string(all.tasks) +
                                     " tasks");
}

}  // namespace

Status Execute(const Plan::Impl& plan, const Addresses& addresses,
               const RunOptions& options) {
  const int64_t units = plan.kept_units * plan.chunks;
  if (units == 0) return Status();
  Context context{plan, addresses, {}};
  bool buffered = false;
  for (int i = 0; i < plan.problem.operands; ++i) {
    context.mode[i] = ModeOf(plan, i, addresses);
    buffered = buffered || context.mode[i].buffered;
  }
  context.partials = reinterpret_cast<double*>(options.workspace.data());
  std::byte* row_buffers = nullptr;
  if (buffered && plan.row_buffer != 0) {
    row_buffers = options.workspace.data() + plan.workspace -
                  kRowBuffers * plan.row_buffer;
    for (RowMode& mode : context.mode) mode.row_buffer = row_buffers;
  }
  const int64_t workers =
      std::clamp<int64_t>(plan.bytes / kBytesPerThread, 1, units);
  if (workers == 1) {
    RunUnits(context, 0, units);
  } else {
    Executor& executor =
        options.executor != nullptr ? *options.executor : DefaultExecutor();
    Status status = RunParallel(context, units, workers, row_buffers, executor);
    if (!status.ok()) return status;
  }
  if (plan.chunked) CombineChunks(context);
  return Status();
}

}  // namespace ropewalk
