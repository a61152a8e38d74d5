#include "plan/sums.h"

#include <algorithm>
#include <cstring>

#include "core/cache_size.h"
#include "core/dtype.h"

namespace ropewalk {
namespace {

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

}  // namespace

bool SumsDirect(const Plan::Impl& plan) {
  const Problem& p = plan.problem;
  const TensorDesc& dcos = p.desc[kDcos];
  const TensorDesc& dsin = p.desc[kDsin];
  return plan.sums && !plan.chunked && p.operands == 1 && !p.half_width &&
         !plan.operand[0].strided && dcos.strides[dcos.rank - 1] == 1 &&
         dsin.strides[dsin.rank - 1] == 1;
}

kernels::SumsRows DirectSums(const Context& c, const ColumnTile& tile,
                             const Unit& unit, bool stream) {
  const Plan::Impl& plan = c.plan;
  const auto element = static_cast<int64_t>(plan.table_element);
  const int last = plan.kept.rank - 1;
  const bool joined = Info(plan.problem.pairing).y_joined;
  kernels::SumsRows rows = {};
  rows.shape.joined = joined;
  rows.shape.second = plan.pairs * element;
  rows.shape.segment = 2 * plan.pairs * element;
  rows.shape.pairs = static_cast<size_t>(tile.pairs);
  rows.shape.segments = static_cast<size_t>(tile.segments);
  const int64_t column =
      tile.segment * 2 * plan.pairs + (joined ? 2 : 1) * tile.first;
  const auto at = [&](Slot slot) {
    return c.addresses.out(slot) + KeptOffset(plan, slot, unit) +
           column * element;
  };
  rows.dcos = at(kDcos);
  rows.dsin = at(kDsin);
  rows.dcos_step = plan.kept.stride[kDcos][last];
  rows.dsin_step = plan.kept.stride[kDsin][last];
  const uint64_t bits = reinterpret_cast<uintptr_t>(rows.dcos) |
                        reinterpret_cast<uintptr_t>(rows.dsin) |
                        static_cast<uint64_t>(rows.dcos_step) |
                        static_cast<uint64_t>(rows.dsin_step) |
                        static_cast<uint64_t>(rows.shape.second);
  const kernels::RowKernel& kernel = *plan.operand[0].kernel;
  const bool large =
      plan.kept_rows * plan.table_width * 2 * element >= LastLevelCacheBytes();
  const size_t streamed =
      stream && large && bits % kernel.vector_bytes == 0 ? 1 : 0;
  rows.finish = kernel.finish[streamed][static_cast<size_t>(plan.table_dtype)];
  return rows;
}

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

void FinishOperand(const Context& c, const OperandPlan& op,
                   const ColumnTile& tile, const Unit& unit, int64_t t,
                   bool add, double* total) {
  const auto i = static_cast<size_t>(t);
  const size_t numbers =
      op.kernel->SegmentNumbers(static_cast<size_t>(tile.pairs));
  const int64_t columns = 2 * tile.pairs;  // of a segment
  alignas(64) double added[2][2 * kTilePairs];
  for (int64_t s = 0; s < tile.segments; ++s) {
    const auto segment = static_cast<size_t>(s);
    kernels::SumsArgs args = {};
    args.sums =
        unit.sums + i * unit.row_sums / sizeof(double) + segment * numbers;
    args.joined = Info(c.plan.problem.pairing).y_joined;
    args.pairs = static_cast<size_t>(tile.pairs);
    double* dcos = total + s * columns;
    double* dsin = dcos + tile.segments * columns;
    args.dcos = add ? added[0] : dcos;
    args.dsin = add ? added[1] : dsin;
    op.kernel->order_sums(args);
    for (int64_t k = 0; add && k < columns; ++k) {
      dcos[k] += added[0][k];
      dsin[k] += added[1][k];
    }
  }
}

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

}  // namespace ropewalk
