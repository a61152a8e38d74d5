#include "plan/rows.h"

#include <algorithm>
#include <cstring>

#include "core/dtype.h"

namespace ropewalk {
namespace {

using kernels::GradientArgs;

constexpr int kIn = OperandPlan::kIn;
constexpr int kX = OperandPlan::kX;
constexpr int kOut = OperandPlan::kOut;

// Is a pair's second element right behind its first one in this tensor?
bool IsJoined(const Problem& p, int tensor) {
  const bool forward = p.direction == Direction::kForward;
  const bool like_x = tensor == kX || (tensor == kIn) == forward;
  return like_x ? Info(p.pairing).x_joined : Info(p.pairing).y_joined;
}

// Column, within the slice, of the first element of a pair.
int64_t FirstColumn(const Plan::Impl& plan, int tensor,
                    const ColumnTile& tile) {
  return tile.segment * 2 * plan.pairs +
         (IsJoined(plan.problem, tensor) ? 2 : 1) * tile.first;
}

// Columns from a pair's first element to its second.
int64_t PartColumns(const Plan::Impl& plan, int tensor) {
  return IsJoined(plan.problem, tensor) ? 1 : plan.pairs;
}

void CallKernel(const OperandPlan& op, const GradientArgs& args,
                kernels::StoreKind store, bool rotate, bool sums) {
  const auto kind = static_cast<size_t>(store);
  if (!sums) {
    op.kernel->rotate[kind](args.row);
  } else if (rotate) {
    op.kernel->gradient[kind](args);
  } else {
    op.kernel->sums_only(args);
  }
}

GradientArgs ArgsOf(const OperandPlan& op, const RowRun& run,
                    const ColumnTile& tile) {
  GradientArgs args = {};
  args.row.in = run.in;
  args.row.out = run.out;
  args.row.in_kept = run.in_kept;
  args.row.out_kept = run.out_kept;
  args.row.in_shared = run.in_shared;
  args.row.out_shared = run.out_shared;
  args.row.kept = static_cast<size_t>(run.kept);
  args.row.shared = static_cast<size_t>(run.shared);
  args.row.shared_inside = op.shared_inside;
  args.row.pairs = static_cast<size_t>(tile.pairs);
  args.row.segments = static_cast<size_t>(tile.segments);
  args.row.table = run.table;
  args.row.table_step = run.table_step;
  args.row.tables = run.tables;
  args.row.next_in = run.next_in;
  args.x = run.x;
  args.x_kept = run.x_kept;
  args.x_shared = run.x_shared;
  args.sums = run.sums;
  args.sums_step = run.sums_step;
  args.fresh = run.fresh;
  args.finish = run.finish;
  args.line = static_cast<size_t>(op.line);
  args.in_line = static_cast<size_t>(run.in_line);
  args.next_x = run.next_x;
  return args;
}

// Calls visit(run) for `most` rows or fewer that share a table row, as a run of
// their own, without sums.
template <class Visit>
void ForEachPiece(const RowRun& all, int64_t most, Visit visit) {
  RowRun run = all;
  run.kept = 1;
  run.next_in = run.next_x = nullptr;
  for (int64_t k = 0; k < all.kept; ++k) {
    run.table = all.table + static_cast<size_t>(k) * all.table_step;
    for (int64_t row = 0; row < all.shared; row += most) {
      run.in = all.in + k * all.in_kept + row * all.in_shared;
      run.out = all.out + k * all.out_kept + row * all.out_shared;
      run.shared = std::min(most, all.shared - row);
      visit(run);
    }
  }
}

// Calls visit(run) for each block of rows that add to one row of sums, as a run
// of its own.
template <class Visit>
void ForEachBlock(const OperandPlan& op, const RowRun& all, Visit visit) {
  RowRun run = all;
  run.kept = 1;
  run.next_in = run.next_x = nullptr;
  for (int64_t k = 0; k < all.kept; ++k) {
    run.table = all.table + static_cast<size_t>(k) * all.table_step;
    run.sums =
        all.sums + static_cast<size_t>(k) * all.sums_step / sizeof(double);
    run.fresh = all.fresh;
    run.in_line = all.in_line;
    for (int64_t row = 0; row < all.shared; row += run.shared) {
      run.in = all.in + k * all.in_kept + row * all.in_shared;
      run.x = all.x + k * all.x_kept + row * all.x_shared;
      run.out = all.out + k * all.out_kept + row * all.out_shared;
      run.shared = std::min({static_cast<int64_t>(kernels::kBlockRows),
                             op.line - run.in_line, all.shared - row});
      visit(run);
      run.fresh = false;
      run.in_line = (run.in_line + run.shared) % op.line;
    }
  }
}

template <class Bits>
void CopyStridedAs(const std::byte* from, int64_t from_stride, std::byte* to,
                   int64_t to_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    memcpy(to + i * to_stride, from + i * from_stride, sizeof(Bits));
  }
}

void CopyStrided(size_t element, const std::byte* from, int64_t from_stride,
                 std::byte* to, int64_t to_stride, int64_t count) {
  const auto unit = static_cast<int64_t>(element);
  if (from_stride == unit && to_stride == unit) {
    memcpy(to, from, static_cast<size_t>(count) * element);
  } else if (element == 2) {
    CopyStridedAs<uint16_t>(from, from_stride, to, to_stride, count);
  } else if (element == 4) {
    CopyStridedAs<uint32_t>(from, from_stride, to, to_stride, count);
  } else {
    CopyStridedAs<uint64_t>(from, from_stride, to, to_stride, count);
  }
}

// A tile of a block of rows, gathered: row by row first elements, then second
// ones, segment by segment.
struct Gathered {
  alignas(64)
      std::byte values[kernels::kBlockRows][2 * kTilePairs * sizeof(double)];
};

// Pairs in memory against pairs in a buffer, for one tensor.
class TilePairs {
 public:
  TilePairs(const Plan::Impl& plan, const OperandPlan& op, int tensor,
            int64_t column, const ColumnTile& tile)
      : element_(op.element),
        step_(IsJoined(plan.problem, tensor) ? 2 * column : column),
        part_(PartColumns(plan, tensor) * column),
        first_(FirstColumn(plan, tensor, tile) * column),
        segment_(2 * plan.pairs * column),
        tile_(tile) {}

  void Load(const std::byte* row, std::byte* buffer) const {
    ForEachPart([&](int64_t offset, size_t at) {
      CopyStrided(element_, row + offset, step_, buffer + at,
                  static_cast<int64_t>(element_), tile_.pairs);
    });
  }
  void Store(const std::byte* buffer, std::byte* row) const {
    ForEachPart([&](int64_t offset, size_t at) {
      CopyStrided(element_, buffer + at, static_cast<int64_t>(element_),
                  row + offset, step_, tile_.pairs);
    });
  }

 private:
  template <class Copy>
  void ForEachPart(Copy copy) const {
    const size_t bytes = static_cast<size_t>(tile_.pairs) * element_;
    for (int64_t s = 0; s < tile_.segments; ++s) {
      copy(first_ + s * segment_, static_cast<size_t>(2 * s) * bytes);
      copy(first_ + s * segment_ + part_,
           static_cast<size_t>(2 * s + 1) * bytes);
    }
  }

  size_t element_;
  int64_t step_, part_, first_, segment_;
  ColumnTile tile_;
};

// The kernel works on gathered pairs, which are split.
void RunStrided(const Plan::Impl& plan, const OperandPlan& op,
                const int64_t (&column)[OperandPlan::kTensors],
                const ColumnTile& tile, const RowRun& all, bool rotate,
                bool sums) {
  const TilePairs in(plan, op, kIn, column[kIn], tile);
  const TilePairs x(plan, op, kX, column[kX], tile);
  const TilePairs out(plan, op, kOut, column[kOut], tile);
  Gathered in_rows;
  Gathered x_rows;
  Gathered out_rows;
  ForEachBlock(op, all, [&](const RowRun& run) {
    GradientArgs args = ArgsOf(op, run, tile);
    args.row.in = in_rows.values[0];
    args.row.out = out_rows.values[0];
    args.x = x_rows.values[0];
    args.row.in_part = args.row.out_part = args.x_part = tile.pairs;
    args.row.in_shared = args.row.out_shared = args.x_shared =
        sizeof(Gathered::values[0]);
    for (int64_t r = 0; r < run.shared; ++r) {
      in.Load(run.in + r * run.in_shared, in_rows.values[r]);
      if (sums) x.Load(run.x + r * run.x_shared, x_rows.values[r]);
    }
    CallKernel(op, args, kernels::StoreKind::kPlain, rotate, sums);
    for (int64_t r = 0; rotate && r < run.shared; ++r) {
      out.Store(out_rows.values[r], run.out + r * run.out_shared);
    }
  });
}

void RunDirect(const Plan::Impl& plan, const OperandPlan& op,
               kernels::StoreKind store, const ColumnTile& tile,
               const RowRun& run, bool rotate, bool sums) {
  const auto element = static_cast<int64_t>(op.element);
  GradientArgs args = ArgsOf(op, run, tile);
  // What is prefetched lies as far into its row as what is read.
  const auto advance = [&](const std::byte*& next, int tensor) {
    if (next == nullptr) return;
    next += (plan.problem.start + FirstColumn(plan, tensor, tile)) * element;
  };
  advance(args.row.next_in, kIn);
  advance(args.next_x, kX);
  args.row.in += FirstColumn(plan, kIn, tile) * element;
  args.row.in_part = PartColumns(plan, kIn);
  if (rotate) {
    args.row.out += FirstColumn(plan, kOut, tile) * element;
    args.row.out_part = PartColumns(plan, kOut);
  }
  if (sums) {
    args.x += FirstColumn(plan, kX, tile) * element;
    args.x_part = PartColumns(plan, kX);
  }
  CallKernel(op, args, store, rotate, sums);
}

// Interleave-half in place: rows are read from copies of themselves, several
// in one call, but no more than stay in the nearest cache.
void RotateBuffered(const Plan::Impl& plan, const OperandPlan& op,
                    const RowMode& mode, const ColumnTile& tile,
                    const RowRun& all) {
  constexpr int64_t kCopyBytes = 8 * 1024;
  alignas(64) std::byte stack[kStackColumns * sizeof(double)];
  std::byte* buffer = mode.row_buffer != nullptr ? mode.row_buffer : stack;
  const auto element = static_cast<int64_t>(op.element);
  const int64_t bytes = plan.problem.width * element;
  const int64_t most = std::max<int64_t>(1, kCopyBytes / bytes);
  const int64_t column[OperandPlan::kTensors] = {element, op.column[kX],
                                                 op.column[kOut]};
  ForEachPiece(all, most, [&](const RowRun& rows) {
    for (int64_t row = 0; row < rows.shared; ++row) {
      CopyStrided(op.element, rows.in + row * rows.in_shared, op.column[kIn],
                  buffer + row * bytes, element, plan.problem.width);
    }
    RowRun run = rows;
    run.in = buffer;
    run.in_shared = bytes;
    if (op.strided) {
      RunStrided(plan, op, column, tile, run, true, false);
    } else {
      RunDirect(plan, op, mode.store, tile, run, true, false);
    }
  });
}

}  // namespace

void RunRows(const Plan::Impl& plan, const OperandPlan& op, const RowMode& mode,
             const ColumnTile& tile, const RowRun& all, bool rotate,
             bool sums) {
  RowRun run = all;
  const int64_t start = plan.problem.start;
  run.in += start * op.column[kIn];
  if (rotate) run.out += start * op.column[kOut];
  if (sums) run.x += start * op.column[kX];
  const bool buffered = mode.buffered && rotate;
  const bool together = rotate && !buffered;
  if (together || sums) {  // sums first: they read what is overwritten
    if (op.strided) {
      RunStrided(plan, op, op.column, tile, run, together, sums);
    } else {
      RunDirect(plan, op, mode.store, tile, run, together, sums);
    }
  }
  if (buffered) RotateBuffered(plan, op, mode, tile, run);
}

void CopyRest(const Plan::Impl& plan, const OperandPlan& op,
              const RowRun& all) {
  const int64_t start = plan.problem.start;
  const int64_t end = start + plan.problem.width;
  ForEachPiece(all, 1, [&](const RowRun& run) {
    if (start > 0) {
      CopyStrided(op.element, run.in, op.column[kIn], run.out, op.column[kOut],
                  start);
    }
    if (end < op.row) {
      CopyStrided(op.element, run.in + end * op.column[kIn], op.column[kIn],
                  run.out + end * op.column[kOut], op.column[kOut],
                  op.row - end);
    }
  });
}

}  // namespace ropewalk
