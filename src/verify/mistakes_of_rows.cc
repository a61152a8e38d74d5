// Mistakes of which row goes with which: positions, heads, axes, slices.

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "verify/mistakes.h"

namespace ropewalk::verify {
namespace {

constexpr int64_t kQuickShifts = 64;
constexpr int64_t kNearShifts = 4096;
constexpr int64_t kFarShifts = 65536;
constexpr size_t kMaxFound = 8;
constexpr int64_t kMaxScannedSlots = 200'000;
constexpr int64_t kMaxColumnsForAllSlices = 256;

// Up to `most` of the rows that are wrong, spread evenly.
std::vector<int64_t> SomeWrongRows(const Clues& clues, size_t most) {
  const std::vector<int64_t>& wrong = clues.evidence.wrong.items();
  std::vector<int64_t> rows;
  const size_t count = std::min(most, wrong.size());
  for (size_t i = 0; i < count; ++i) {
    rows.push_back(wrong[(2 * i + 1) * wrong.size() / (2 * count)]);
  }
  return rows;
}

using PositionMap = std::function<int64_t(int64_t position, int64_t slot)>;

Model WithPositions(const Clues& clues, PositionMap map) {
  Model model = clues.base;
  model.position = std::move(map);
  return model;
}

// Applies `map` to the position within the innermost axis of the tables.
PositionMap Within(int64_t period, const std::function<int64_t(int64_t)>& map) {
  return [period, map](int64_t position, int64_t) {
    const int64_t inner = map(position % period);
    return 0 <= inner && inner < period ? position - position % period + inner
                                        : int64_t{-1};
  };
}

Model Shifted(const Clues& clues, int64_t k, bool within) {
  const auto shift = [k](int64_t position) { return position + k; };
  const int64_t period = clues.scene().tables.period();
  return WithPositions(clues, within
                                  ? Within(period, shift)
                                  : PositionMap([k](int64_t position, int64_t) {
                                      return position + k;
                                    }));
}

// Whether the tables have more axes than the innermost.
bool HasPeriods(const Clues& clues) {
  const Tables& tables = clues.scene().tables;
  return !tables.cached() && tables.period() < tables.rows();
}

// The shifts from `first` up to `last`, both directions, that fit a row.
void FindShifts(const Clues& clues, int64_t row, int64_t first, int64_t last,
                std::vector<int64_t>* found) {
  for (int64_t k = first; k <= last && found->size() < kMaxFound; ++k) {
    for (const int64_t shift : {-k, k}) {
      if (clues.trial.FitsRow(Shifted(clues, shift, false), row)) {
        found->push_back(shift);
      }
    }
  }
}

}  // namespace

void PositionShift(const Clues& clues, std::vector<Hypothesis>* add) {
  const int64_t rows = std::min(clues.scene().tables.rows(),
                                clues.quickly ? kQuickShifts : kFarShifts);
  std::set<int64_t> shifts;
  for (const int64_t row : SomeWrongRows(clues, 3)) {
    std::vector<int64_t> found;
    FindShifts(clues, row, 1, std::min(rows, kNearShifts), &found);
    if (found.empty() && shifts.empty()) {
      FindShifts(clues, row, kNearShifts + 1, rows, &found);
    }
    shifts.insert(found.begin(), found.end());
  }
  for (const int64_t k : shifts) {
    const std::string detail = "k = " + std::to_string(k);
    add->push_back({detail, Shifted(clues, k, false)});
    if (HasPeriods(clues)) add->push_back({detail, Shifted(clues, k, true)});
  }
}

// Follows the result slot by slot: the positions go on as they do, or start
// again at 0 or at the first one given.
void PositionReset(const Clues& clues, std::vector<Hypothesis>* add) {
  const Scene& scene = clues.scene();
  const Tables& tables = scene.tables;
  if (tables.slots() > kMaxScannedSlots || scene.rows == 0) return;
  auto offsets = std::make_shared<std::vector<int64_t>>();
  const int64_t first = tables.Position(0, 0);
  int64_t offset = 0;
  size_t resets = 0;
  for (int64_t slot = 0; slot < tables.slots(); ++slot) {
    const int64_t position = tables.Position(0, slot);
    const int64_t row = scene.RowOf(slot, 0);
    const auto fits = [&](int64_t with) {
      const Model model = WithPositions(
          clues, [with](int64_t given, int64_t) { return given + with; });
      return clues.trial.FitsRow(model, row);
    };
    if (!fits(offset)) {
      const int64_t before = offset;
      offset = -position;
      if (!fits(offset)) offset = first - position;
      if (offset == before || !fits(offset)) return;
      if (slot > 0) ++resets;
    }
    offsets->push_back(offset);
  }
  // At most every other slot starts a sequence.
  if (resets == 0 || 2 * static_cast<int64_t>(resets) > tables.slots()) return;
  add->push_back(
      {std::to_string(resets + 1) + " sequences",
       WithPositions(clues, [offsets](int64_t position, int64_t slot) {
         return position + (*offsets)[static_cast<size_t>(slot)];
       })});
}

namespace {

// The largest position that is used and lies below another.
int64_t PositionBelow(const Tables& tables, int64_t bound) {
  int64_t below = 0;
  for (int section = 0; section < tables.sections(); ++section) {
    for (int64_t slot = 0; slot < tables.slots(); ++slot) {
      const int64_t position = tables.Position(section, slot);
      if (position < bound) below = std::max(below, position);
    }
  }
  return below;
}

// Sizes that the tables of a mistake may have had: as given, or up to the first
// position that is wrong. Where not all positions are used, it may have been
// less than that, down to the last one that is right.
void ForEachLimit(
    const Clues& clues,
    const std::function<void(int64_t limit, bool within)>& visit) {
  const int64_t rows = clues.scene().tables.rows();
  const int64_t first_wrong = clues.evidence.first_wrong_position;
  visit(rows, false);
  if (first_wrong > 0 && first_wrong < rows) {
    const int64_t last_right = PositionBelow(clues.scene().tables, first_wrong);
    const int64_t least =
        std::max({last_right + 1, first_wrong - kNearShifts, int64_t{1}});
    for (int64_t limit = first_wrong; limit >= least; --limit) {
      visit(limit, false);
    }
  }
  if (!HasPeriods(clues)) return;
  const int64_t period = clues.scene().tables.period();
  if (first_wrong % period > 0) visit(first_wrong % period, true);
  visit(period, false);
}

// Most sizes are ruled out by one row that is wrong.
void AddIfItFits(const Clues& clues, const std::string& detail,
                 const std::function<int64_t(int64_t)>& map, bool within,
                 std::vector<Hypothesis>* add) {
  const PositionMap all = [map](int64_t position, int64_t) {
    return map(position);
  };
  Model model = WithPositions(
      clues, within ? Within(clues.scene().tables.period(), map) : all);
  for (const int64_t row : SomeWrongRows(clues, 1)) {
    if (!clues.trial.FitsRow(model, row)) return;
  }
  add->push_back({detail, std::move(model)});
}

}  // namespace

void PositionClamped(const Clues& clues, std::vector<Hypothesis>* add) {
  ForEachLimit(clues, [&](int64_t limit, bool within) {
    const auto clamp = [limit](int64_t position) {
      return std::clamp<int64_t>(position, 0, limit - 1);
    };
    AddIfItFits(clues, "to " + std::to_string(limit) + " rows", clamp, within,
                add);
  });
}

void PositionModulo(const Clues& clues, std::vector<Hypothesis>* add) {
  ForEachLimit(clues, [&](int64_t limit, bool within) {
    const auto wrap = [limit](int64_t position) {
      return (position % limit + limit) % limit;
    };
    AddIfItFits(clues, std::to_string(limit) + " rows", wrap, within, add);
  });
}

namespace {

// A leading axis of x: its size, and the rows from one index to the next.
struct LeadingAxis {
  int64_t size, step;
  bool kept;
};

std::vector<LeadingAxis> LeadingAxes(const Scene& scene) {
  std::vector<LeadingAxis> axes;
  int64_t step = 1;
  const TensorDesc& desc = scene.x.desc;
  for (int i = desc.rank - 2; i >= 0; --i) {
    const int64_t size = desc.shape[i];
    if (size > 1) {
      const bool kept = scene.Place(step).slot != scene.Place(0).slot;
      axes.insert(axes.begin(), {size, step, kept});
    }
    step *= size;
  }
  return axes;
}

// An index of a pair of neighbouring axes, split as if they had changed places.
struct Swapped {
  int64_t outer_size, inner_size, inner_step;

  // The row at (o, i) becomes that at (o', i').
  template <class Map>
  int64_t Row(int64_t row, const Map& map) const {
    const int64_t outer_step = inner_step * inner_size;
    const int64_t outer = row / outer_step % outer_size;
    const int64_t inner = row / inner_step % inner_size;
    const auto [o, i] = map(outer, inner);
    return row + (o - outer) * outer_step + (i - inner) * inner_step;
  }
  // Flat index f = i * outer_size + o of the memory read the other way.
  int64_t Transposed(int64_t row) const {
    return Row(row, [this](int64_t outer, int64_t inner) {
      const int64_t flat = outer * inner_size + inner;
      return std::pair{flat % outer_size, flat / outer_size};
    });
  }
};

}  // namespace

void AxesSwapped(const Clues& clues, std::vector<Hypothesis>* add) {
  const Scene& scene = clues.scene();
  const std::vector<LeadingAxis> axes = LeadingAxes(scene);
  for (size_t a = 0; a + 1 < axes.size(); ++a) {
    const LeadingAxis& outer = axes[a];
    const LeadingAxis& inner = axes[a + 1];
    const Swapped swapped{outer.size, inner.size, inner.step};
    Model model = clues.base;
    model.source = [swapped](int64_t row) { return swapped.Transposed(row); };
    add->push_back({"the result lies transposed", model});
    if (!outer.kept && !inner.kept) continue;
    // The tables see row (o, i) of the memory as if the axes had changed
    // places.
    model = clues.base;
    model.slot = [swapped, &scene](int64_t row, const RowPlace&) {
      return scene.Place(swapped.Transposed(row)).slot;
    };
    add->push_back({"the tables go by the other axis, by place", model});
    // The same by index: the kept axis takes the other's index.
    model.slot = [swapped, &scene](int64_t row, const RowPlace&) {
      bool inside = true;
      const int64_t other = swapped.Row(row, [&](int64_t o, int64_t i) {
        inside = i < swapped.outer_size && o < swapped.inner_size;
        return inside ? std::pair{i, o} : std::pair{o, i};
      });
      return inside ? scene.Place(other).slot : int64_t{-1};
    };
    if (outer.kept != inner.kept) {
      const bool outer_kept = outer.kept;
      model.slot = [swapped, &scene, outer_kept](int64_t row, const RowPlace&) {
        bool inside = true;
        const int64_t other = swapped.Row(row, [&](int64_t o, int64_t i) {
          const int64_t index = outer_kept ? i : o;
          inside =
              index < (outer_kept ? swapped.outer_size : swapped.inner_size);
          if (!inside) return std::pair{o, i};
          return outer_kept ? std::pair{index, i} : std::pair{o, index};
        });
        return inside ? scene.Place(other).slot : int64_t{-1};
      };
    }
    add->push_back({"the tables go by the other axis, by index", model});
  }
}

namespace {

// For each index of an axis the one whose right rows stand there; empty if
// there is none for some.
std::vector<int64_t> FindSources(const Clues& clues, const LeadingAxis& axis) {
  std::vector<int64_t> bases;
  for (const int64_t row : SomeWrongRows(clues, 4)) {
    bases.push_back(row - row / axis.step % axis.size * axis.step);
  }
  std::vector<int64_t> sources;
  for (int64_t index = 0; index < axis.size; ++index) {
    const auto fits = [&](int64_t from) {
      return std::ranges::all_of(bases, [&](int64_t base) {
        Model model = clues.base;
        const int64_t back = (from - index) * axis.step;
        model.source = [back](int64_t row) { return row + back; };
        return clues.trial.FitsRow(model, base + index * axis.step);
      });
    };
    int64_t source = fits(index) ? index : -1;
    // Most often the one that stands in the last, too.
    if (source < 0 && !sources.empty() && fits(sources.back())) {
      source = sources.back();
    }
    for (int64_t from = 0; from < axis.size && source < 0; ++from) {
      if (fits(from)) source = from;
    }
    if (source < 0) return {};
    sources.push_back(source);
  }
  return sources;
}

}  // namespace

void HeadRepeated(const Clues& clues, std::vector<Hypothesis>* add) {
  for (const LeadingAxis& axis : LeadingAxes(clues.scene())) {
    if (axis.kept && clues.scene().heads > 1) continue;
    if (axis.size > 4096) continue;
    const auto sources =
        std::make_shared<std::vector<int64_t>>(FindSources(clues, axis));
    const std::set<int64_t> different(sources->begin(), sources->end());
    if (sources->empty() || different.size() == sources->size()) continue;
    Model model = clues.base;
    model.source = [sources, axis](int64_t row) {
      const int64_t index = row / axis.step % axis.size;
      return row + ((*sources)[static_cast<size_t>(index)] - index) * axis.step;
    };
    std::string detail = "heads shown:";
    for (size_t i = 0; i < std::min<size_t>(sources->size(), 16); ++i) {
      detail += " " + std::to_string((*sources)[i]);
    }
    add->push_back({detail, model});
  }
}

void WrongSlice(const Clues& clues, std::vector<Hypothesis>* add) {
  const Scene& scene = clues.scene();
  const int64_t columns = scene.columns;
  const int64_t table = scene.tables.width();
  const bool full = scene.tables.full();
  const std::vector<int64_t> wrong = SomeWrongRows(clues, 1);
  if (wrong.empty()) return;
  const int64_t row = wrong[0];
  std::set<std::vector<int64_t>> tried;
  const auto try_slice = [&](int64_t start, int64_t width, int64_t offset) {
    if (start < 0 || width <= 0 || start + width > columns || width % 2 != 0 ||
        offset + width > table ||
        (start == scene.start && width == scene.width) ||
        (scene.pairing == Pairing::kQuarter && width % 4 != 0) ||
        !tried.insert({start, width, offset}).second) {
      return;
    }
    Model model = clues.base;
    model.start = start;
    model.width = width;
    for (int64_t c = 0; c < width && full; ++c) {
      model.table_columns.push_back(c + offset);
    }
    if (!full && offset > 0) {
      model.table_columns = PairColumns(model.pairing, width, false);
      for (int64_t& column : model.table_columns) column += offset / 2;
    }
    if (!clues.trial.FitsRow(model, row)) return;
    add->push_back(
        {std::to_string(start) + ":" + std::to_string(start + width), model});
  };
  for (int64_t start = 0; start + table <= columns; ++start) {
    try_slice(start, table, 0);
  }
  // Rows that are wider: only what is likely.
  const bool few = columns <= kMaxColumnsForAllSlices && !clues.quickly;
  for (int64_t width = 2; width <= table; width += 2) {
    for (int64_t start = 0; start + width <= columns; ++start) {
      const bool likely = start == 0 || start == scene.start ||
                          start + width == scene.start + scene.width ||
                          start + width == columns;
      if (!few && !likely) continue;
      try_slice(start, width, 0);
      try_slice(start, width, std::max<int64_t>(start - scene.start, 0));
    }
  }
}

}  // namespace ropewalk::verify
