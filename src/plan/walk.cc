#include "plan/walk.h"

#include <algorithm>

namespace ropewalk {
namespace {

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

}  // namespace

void WalkRows(const Context& context, int operand, const ColumnTile& tile,
              const Unit& unit, bool rotate, bool sums, int64_t begin,
              int64_t end) {
  RowWalk(context, operand, tile, unit, rotate, sums).Walk(begin, end);
}

}  // namespace ropewalk
