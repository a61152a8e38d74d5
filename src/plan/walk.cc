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
    for (int64_t row = begin; row < end;) {
      RowRun run = EmptyRun(op_, tile_);
      int64_t shared = 1;
      if (op_.shared.rank > 0) {
        const int last = op_.shared.rank - 1;
        const int64_t line = op_.shared.size[last];
        run.row.in_shared = op_.shared.stride[kIn][last];
        run.x_shared = op_.shared.stride[kX][last];
        run.row.out_shared = op_.shared.stride[kOut][last];
        shared = std::min(line - Divide(row, line).rest, end - row);
      }
      run.row.in = At(kIn, row);
      run.x = At(kX, row);
      run.row.out = const_cast<std::byte*>(At(kOut, row));
      run.row.in_kept = tile_stride_[kIn];
      run.x_kept = tile_stride_[kX];
      run.row.out_kept = tile_stride_[kOut];
      run.row.kept = static_cast<size_t>(unit_.count);
      run.row.shared = static_cast<size_t>(shared);
      run.row.table = unit_.table;
      run.row.table_step = unit_.row_table;
      run.row.tables = row == begin ? unit_.tables : nullptr;
      run.sums = unit_.sums;
      run.sums_step = unit_.row_sums;
      run.fresh = row == begin;
      run.in_line = static_cast<size_t>(Divide(row, op_.line).rest);
      row += shared;
      run.finish = row == end ? unit_.finish : nullptr;
      const bool once = op_.shared_inside || shared == 1;
      if (once && run.fresh && row == end) UseOneRow(run);
      run.row.next_in = row < end ? At(kIn, row) : AfterTile(kIn);
      run.next_x = row < end ? At(kX, row) : AfterTile(kX);
      if (copies_rest_) CopyRest(plan_, op_, run);
      if (tile_.pairs > 0) {
        RunRows(plan_, op_, mode_, tile_, run, rotate_, sums_);
      }
    }
  }

 private:
  static constexpr int kIn = OperandPlan::kIn;
  static constexpr int kX = OperandPlan::kX;
  static constexpr int kOut = OperandPlan::kOut;

  // Address of a shared row at the tile's first table row.
  const std::byte* At(int tensor, int64_t row) const {
    if (base_[tensor] == nullptr) return nullptr;
    return base_[tensor] + op_.shared.Offset(tensor, row, 0, op_.shared.rank);
  }

  const std::byte* AfterTile(int tensor) const {
    if (base_[tensor] == nullptr) return nullptr;
    return base_[tensor] + unit_.count * tile_stride_[tensor];
  }

  // Where each table row is done with before the next one begins, one row of
  // tables and one of sums are used again and again: they stay in the nearest
  // cache.
  void UseOneRow(RowRun& run) const {
    if (plan_.problem.operands != 1) return;
    if (run.row.tables != nullptr && sums_) run.row.table_step = 0;
    if (run.finish != nullptr) run.sums_step = 0;
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
};

}  // namespace

void WalkRows(const Context& context, int operand, const ColumnTile& tile,
              const Unit& unit, bool rotate, bool sums, int64_t begin,
              int64_t end) {
  RowWalk(context, operand, tile, unit, rotate, sums).Walk(begin, end);
}

}  // namespace ropewalk
