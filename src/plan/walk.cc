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
        sums_(sums),
        last_(op_.shared.rank - 1) {
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
      RowRun run = {};
      run.in = At(kIn, row);
      run.x = At(kX, row);
      run.out = const_cast<std::byte*>(At(kOut, row));
      run.table = unit_.table;
      run.tables = row == begin ? unit_.tables : nullptr;
      run.block = unit_.block;
      run.sums = unit_.sums;
      run.phase = static_cast<unsigned>((row - begin) & 3);
      const int64_t line = op_.shared.rank == 0 ? 1 : op_.shared.size[last_];
      const int64_t count = std::min(line - row % line, end - row);
      if (op_.rows_inside) {
        GroupByTableRow(run, count);
      } else {
        GroupBySharedRow(run, count);
      }
      row += count;
      run.next_in = row < end ? At(kIn, row) : AfterTile(kIn);
      run.next_x = row < end ? At(kX, row) : AfterTile(kX);
      Run(run);
    }
  }

 private:
  static constexpr int kIn = OperandPlan::kIn;
  static constexpr int kX = OperandPlan::kX;
  static constexpr int kOut = OperandPlan::kOut;

  // A group: the `count` rows of a line that share a table row.
  void GroupByTableRow(RowRun& run, int64_t count) const {
    run.rows = count;
    run.in_step = op_.shared.stride[kIn][last_];
    run.x_step = op_.shared.stride[kX][last_];
    run.out_step = op_.shared.stride[kOut][last_];
    run.phase_step = 1;
    run.groups = unit_.count;
    run.in_group = tile_stride_[kIn];
    run.x_group = tile_stride_[kX];
    run.out_group = tile_stride_[kOut];
    run.table_group = unit_.row_table;
    run.block_group = unit_.row_block;
    run.sums_group = unit_.row_sums;
  }

  // A group: the rows of the tile, each with a table row of its own.
  void GroupBySharedRow(RowRun& run, int64_t count) const {
    run.rows = unit_.count;
    run.in_step = tile_stride_[kIn];
    run.x_step = tile_stride_[kX];
    run.out_step = tile_stride_[kOut];
    run.table_step = unit_.row_table;
    run.block_step = unit_.row_block;
    run.sums_step = unit_.row_sums;
    run.groups = count;
    run.phase_group = 1;
    if (op_.shared.rank == 0) return;
    run.in_group = op_.shared.stride[kIn][last_];
    run.x_group = op_.shared.stride[kX][last_];
    run.out_group = op_.shared.stride[kOut][last_];
  }

  // Address of a shared row at the tile's first table row.
  const std::byte* At(int tensor, int64_t row) const {
    if (base_[tensor] == nullptr) return nullptr;
    return base_[tensor] + op_.shared.Offset(tensor, row, 0, op_.shared.rank);
  }

  const std::byte* AfterTile(int tensor) const {
    if (base_[tensor] == nullptr) return nullptr;
    return base_[tensor] + unit_.count * tile_stride_[tensor];
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
  const int last_;  // of the shared axes
};

}  // namespace

void WalkRows(const Context& context, int operand, const ColumnTile& tile,
              const Unit& unit, bool rotate, bool sums, int64_t begin,
              int64_t end) {
  RowWalk(context, operand, tile, unit, rotate, sums).Walk(begin, end);
}

}  // namespace ropewalk
