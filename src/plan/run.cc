// Runs the units of a plan, one after the other or as tasks of an executor.

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/cache_size.h"
#include "core/dtype.h"
#include "plan/impl.h"
#include "plan/sums.h"
#include "plan/unit.h"
#include "plan/walk.h"

namespace ropewalk {
namespace {

using kernels::StoreKind;

// Workers that are used at most, and tasks.
constexpr int64_t kMostWorkers = 1024;
constexpr int64_t kMostTasks = 4 * kMostWorkers;

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

// The stack of a unit: tables, then sums.
struct Scratch {
  alignas(64) std::byte bytes[kScratchBytes];
  kernels::TableRows tables;
  kernels::SumsRows sums;
  TableRoom table_room;
};

// The unit's tables as they lie in memory.
RawTables TablesOf(const Context& c, const Unit& unit) {
  const auto& strides = c.plan.kept.stride;
  const int last = c.plan.kept.rank - 1;
  const auto at = [&](Slot slot) {
    return c.addresses.at[slot] + KeptOffset(c.plan, slot, unit);
  };
  return {at(kCos),
          at(kSin),
          at(kPositions),
          strides[kCos][last],
          strides[kSin][last],
          strides[kPositions][last],
          unit.count};
}

// Brings the unit's table rows into kernel order, or leaves that to the first
// run of rows.
void PrepareUnit(const Context& c, int index, const ColumnTile& tile,
                 Scratch& scratch, Unit& unit) {
  const OperandPlan& op = c.plan.operand[index];
  const RawTables raw = TablesOf(c, unit);
  if (TablesDirect(c.plan.problem) && !op.strided && !c.mode[index].buffered) {
    scratch.tables = DirectTables(c.plan, *op.kernel, c.addresses, raw, tile,
                                  scratch.table_room);
    unit.tables = &scratch.tables;
  } else {
    PrepareTables(c.plan, *op.kernel, c.addresses, raw, tile, unit.table,
                  unit.row_table);
  }
}

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
  unit.row_sums = numbers * sizeof(double);
  unit.row_total = plan.problem.operands == 2 ? unit.row_sums : 0;
  unit.table = scratch.bytes;
  unit.sums = reinterpret_cast<double*>(unit.table + count * unit.row_table);
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
    memset(unit.sums, 0, static_cast<size_t>(unit.count) * unit.row_sums);
  }
  // A buffered row wider than a tile would be overwritten before the next tile
  // reads it, so there sums and rotation go one after the other: see below.
  const bool apart = c.mode[index].buffered && plan.cut;
  const bool rotate = plan.rotate && !apart;
  if (rotate || plan.sums) {
    WalkRows(c, index, tile, unit, rotate, plan.sums, begin, end);
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
  constexpr int kIn = OperandPlan::kIn;
  constexpr int kOut = OperandPlan::kOut;
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
  from_buffer.column[kIn] = static_cast<int64_t>(op.element);
  mode.buffered = false;
  for (int64_t t = 0; t < whole.count; ++t) {
    unit.first = whole.first + t;
    for (int64_t row = begin; row < end; ++row) {
      const std::byte* in = c.addresses.at[in_slot] +
                            KeptOffset(plan, in_slot, unit) +
                            op.shared.Offset(kIn, row, 0, op.shared.rank);
      const std::byte* from = in + plan.problem.start * op.column[kIn];
      for (int64_t i = 0; i < plan.problem.width; ++i) {
        memcpy(buffer + static_cast<size_t>(i) * op.element,
               from + i * op.column[kIn], op.element);
      }
      ForEachColumnTile(plan, [&](const ColumnTile& tile) {
        LayOutScratch(plan, tile, scratch, unit);
        PrepareTables(plan, *op.kernel, c.addresses, TablesOf(c, unit), tile,
                      unit.table, unit.row_table);
        RowRun run = EmptyRun(op, tile);
        // RunRows skips to the slice, which is where the buffer begins.
        run.row.in =
            buffer - plan.problem.start * static_cast<int64_t>(op.element);
        run.row.out = c.addresses.out(out_slot) +
                      KeptOffset(plan, out_slot, unit) +
                      op.shared.Offset(kOut, row, 0, op.shared.rank);
        run.row.kept = run.row.shared = 1;
        run.row.table = unit.table;
        RunRows(plan, from_buffer, mode, tile, run, true, false);
      });
    }
  }
}

void RunUnit(const Context& c, int64_t index, Scratch& scratch) {
  const Plan::Impl& plan = c.plan;
  const int operands = plan.problem.operands;
  Unit unit = {};
  const Division chunks = Divide(index, plan.chunks);
  const Division tiles = Divide(chunks.quotient, plan.tiles);
  int64_t chunk = chunks.rest;
  unit.kept_first = tiles.quotient;
  unit.first = tiles.rest * plan.tile;
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
      unit.tables = nullptr;
      if (plan.rotate && op.kernel != prepared && begin < end &&
          tile.pairs > 0) {
        PrepareUnit(c, i, tile, scratch, unit);
        prepared = op.kernel;
      }
      unit.finish = nullptr;
      if (SumsDirect(plan) && begin < end && tile.pairs > 0) {
        scratch.sums =
            DirectSums(c, tile, unit, c.mode[i].store == StoreKind::kStream);
        unit.finish = &scratch.sums;
      }
      RunOperand(c, i, tile, unit, begin, end);
      if (!plan.sums || unit.finish != nullptr) continue;
      for (int64_t t = 0; t < unit.count; ++t) {
        double* total = unit.total + static_cast<size_t>(t) * unit.row_total /
                                         sizeof(double);
        FinishOperand(c, op, tile, unit, t, i > first_operand, total);
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

RowMode ModeOf(const Plan::Impl& plan, int index, const Addresses& addresses) {
  const Problem& p = plan.problem;
  const OperandPlan& op = plan.operand[index];
  RowMode mode;
  const bool large = plan.bytes >= LastLevelCacheBytes();
  if (large) mode.store = StoreKind::kPrefetch;
  if (!plan.rotate) return mode;
  const std::byte* out = addresses.at[kOut0 + index];
  mode.in_place = out == addresses.at[kIn0 + index];
  const bool whole = !plan.sums && !op.strided && plan.segments == 1 &&
                     plan.pairs <= static_cast<int64_t>(op.kernel->whole_pairs);
  mode.buffered = mode.in_place && Reorders(p.pairing) && !whole;
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
