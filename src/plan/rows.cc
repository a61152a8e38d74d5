#include "plan/rows.h"

#include <algorithm>
#include <cstring>

#include "core/dtype.h"

namespace ropewalk {
namespace {

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

void CallKernel(const OperandPlan& op, const RowRun& run,
                kernels::StoreKind store, bool rotate, bool sums) {
  const auto kind = static_cast<size_t>(store);
  if (!sums) {
    op.kernel->rotate[kind](run.row);
  } else if (rotate) {
    op.kernel->gradient[kind](run);
  } else {
    op.kernel->sums_only(run);
  }
}

// Sets the addresses of one of several rows.
void MoveTo(RowRun& run, const RowRun& all, size_t kept, size_t shared) {
  const auto k = static_cast<ptrdiff_t>(kept);
  const auto s = static_cast<ptrdiff_t>(shared);
  run.row.in = all.row.in + k * all.row.in_kept + s * all.row.in_shared;
  run.row.out = all.row.out + k * all.row.out_kept + s * all.row.out_shared;
  run.x = all.x + k * all.x_kept + s * all.x_shared;
  run.row.table = all.row.table + kept * all.row.table_step;
  run.sums = all.sums + kept * all.sums_step / sizeof(double);
}

// Calls visit(run) for `most` rows or fewer that share a table row, as a run of
// their own, without sums.
template <class Visit>
void ForEachPiece(const RowRun& all, size_t most, Visit visit) {
  for (size_t k = 0; k < all.row.kept; ++k) {
    for (size_t row = 0; row < all.row.shared; row += most) {
      RowRun run = all;
      run.row.kept = 1;
      run.row.shared = std::min(most, all.row.shared - row);
      run.row.next_in = nullptr;
      MoveTo(run, all, k, row);
      visit(run);
    }
  }
}

// Calls visit(run) for each block of rows that add to one row of sums, as a run
// of its own.
template <class Visit>
void ForEachBlock(const RowRun& all, Visit visit) {
  for (size_t k = 0; k < all.row.kept; ++k) {
    size_t in_line = all.in_line;
    for (size_t row = 0; row < all.row.shared;) {
      RowRun run = all;
      run.row.kept = 1;
      run.row.shared = std::min(
          {kernels::kBlockRows, all.line - in_line, all.row.shared - row});
      run.row.next_in = run.next_x = nullptr;
      run.fresh = all.fresh && row == 0;
      run.in_line = in_line;
      MoveTo(run, all, k, row);
      row += run.row.shared;
      in_line = (in_line + run.row.shared) % all.line;
      visit(run);
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
  constexpr ptrdiff_t kStep = sizeof(Gathered::values[0]);
  const TilePairs in(plan, op, kIn, column[kIn], tile);
  const TilePairs x(plan, op, kX, column[kX], tile);
  const TilePairs out(plan, op, kOut, column[kOut], tile);
  Gathered in_rows;
  Gathered x_rows;
  Gathered out_rows;
  ForEachBlock(all, [&](const RowRun& run) {
    RowRun gathered = run;
    gathered.row.in = in_rows.values[0];
    gathered.row.out = out_rows.values[0];
    gathered.x = x_rows.values[0];
    gathered.row.in_part = gathered.row.out_part = gathered.x_part = tile.pairs;
    gathered.row.in_shared = gathered.row.out_shared = gathered.x_shared =
        kStep;
    for (size_t r = 0; r < run.row.shared; ++r) {
      const auto row = static_cast<ptrdiff_t>(r);
      in.Load(run.row.in + row * run.row.in_shared, in_rows.values[r]);
      if (sums) x.Load(run.x + row * run.x_shared, x_rows.values[r]);
    }
    CallKernel(op, gathered, kernels::StoreKind::kPlain, rotate, sums);
    for (size_t r = 0; rotate && r < run.row.shared; ++r) {
      const auto row = static_cast<ptrdiff_t>(r);
      out.Store(out_rows.values[r], run.row.out + row * run.row.out_shared);
    }
  });
}

void RunDirect(const Plan::Impl& plan, const OperandPlan& op,
               kernels::StoreKind store, const ColumnTile& tile, RowRun& run,
               bool rotate, bool sums) {
  const auto element = static_cast<int64_t>(op.element);
  // What is prefetched lies as far into its row as what is read.
  const auto advance = [&](const std::byte*& next, int tensor) {
    if (next == nullptr) return;
    next += (plan.problem.start + FirstColumn(plan, tensor, tile)) * element;
  };
  advance(run.row.next_in, kIn);
  run.row.in += FirstColumn(plan, kIn, tile) * element;
  run.row.in_part = PartColumns(plan, kIn);
  if (rotate) {
    run.row.out += FirstColumn(plan, kOut, tile) * element;
    run.row.out_part = PartColumns(plan, kOut);
  }
  if (sums) {
    advance(run.next_x, kX);
    run.x += FirstColumn(plan, kX, tile) * element;
    run.x_part = PartColumns(plan, kX);
  }
  CallKernel(op, run, store, rotate, sums);
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
  ForEachPiece(all, static_cast<size_t>(most), [&](RowRun& run) {
    for (size_t r = 0; r < run.row.shared; ++r) {
      const auto row = static_cast<int64_t>(r);
      CopyStrided(op.element, run.row.in + row * run.row.in_shared,
                  op.column[kIn], buffer + row * bytes, element,
                  plan.problem.width);
    }
    run.row.in = buffer;
    run.row.in_shared = bytes;
    if (op.strided) {
      RunStrided(plan, op, column, tile, run, true, false);
    } else {
      RunDirect(plan, op, mode.store, tile, run, true, false);
    }
  });
}

}  // namespace

void RunRows(const Plan::Impl& plan, const OperandPlan& op, const RowMode& mode,
             const ColumnTile& tile, RowRun& run, bool rotate, bool sums) {
  const int64_t start = plan.problem.start;
  run.row.in += start * op.column[kIn];
  if (rotate) run.row.out += start * op.column[kOut];
  if (sums) run.x += start * op.column[kX];
  if (!mode.buffered && !op.strided) {
    RunDirect(plan, op, mode.store, tile, run, rotate, sums);
    return;
  }
  const RowRun all = run;
  const bool together = rotate && !mode.buffered;
  if (together || sums) {  // sums first: they read what is overwritten
    if (op.strided) {
      RunStrided(plan, op, op.column, tile, all, together, sums);
    } else {
      RunDirect(plan, op, mode.store, tile, run, together, sums);
    }
  }
  if (mode.buffered && rotate) RotateBuffered(plan, op, mode, tile, all);
}

void CopyRest(const Plan::Impl& plan, const OperandPlan& op,
              const RowRun& all) {
  const int64_t start = plan.problem.start;
  const int64_t end = start + plan.problem.width;
  ForEachPiece(all, 1, [&](const RowRun& run) {
    if (start > 0) {
      CopyStrided(op.element, run.row.in, op.column[kIn], run.row.out,
                  op.column[kOut], start);
    }
    if (end < op.row) {
      CopyStrided(op.element, run.row.in + end * op.column[kIn], op.column[kIn],
                  run.row.out + end * op.column[kOut], op.column[kOut],
                  op.row - end);
    }
  });
}

}  // namespace ropewalk
