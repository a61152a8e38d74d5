// dcos and dsin summed over the wrong axes.

#include <algorithm>
#include <numeric>
#include <utility>

#include "verify/mistakes.h"

namespace ropewalk::verify {
namespace {

// A leading axis of the rows of a SumScene: kept axes come first.
struct Axis {
  int64_t size, step;
  bool kept;
};

std::vector<Axis> AxesOf(const SumScene& scene) {
  std::vector<Axis> axes;
  int64_t step = 1;
  const TensorDesc& desc = scene.rows.x.desc;
  const auto kept = static_cast<int>(scene.kept.size());
  for (int i = desc.rank - 2; i >= 0; --i) {
    axes.insert(axes.begin(), {desc.shape[i], step, i < kept});
    step *= desc.shape[i];
  }
  return axes;
}

// The rows that `index` and all values of the axes that `summed` marks name.
std::vector<int64_t> RowsOver(const std::vector<Axis>& axes,
                              const std::vector<bool>& summed, int64_t base) {
  std::vector<int64_t> rows = {base};
  for (size_t a = 0; a < axes.size(); ++a) {
    if (!summed[a]) continue;
    std::vector<int64_t> more;
    for (const int64_t row : rows) {
      for (int64_t i = 0; i < axes[a].size; ++i) {
        more.push_back(row + i * axes[a].step);
      }
    }
    rows = std::move(more);
  }
  return rows;
}

std::string Names(const SumScene& scene, const std::vector<bool>& summed) {
  std::string text;
  std::vector<int> given = scene.kept;
  given.insert(given.end(), scene.shared.begin(), scene.shared.end());
  for (size_t a = 0; a < summed.size(); ++a) {
    if (!summed[a]) continue;
    text += (text.empty() ? "over axes " : ", ") + std::to_string(given[a]);
  }
  return text.empty() ? "not summed" : text;
}

// Every choice of axes but the right one. Where a kept axis is summed its rows
// are all alike; of a shared one that is not, the first or the last is shown.
void OverOtherAxes(const SumScene& scene, Sum sum,
                   const std::vector<Axis>& axes,
                   std::vector<SumHypothesis>* add) {
  for (uint32_t choice = 0; choice < (1U << axes.size()); ++choice) {
    std::vector<bool> summed(axes.size());
    bool right = true;
    bool trivial = false;
    bool shows_last = false;
    for (size_t a = 0; a < axes.size(); ++a) {
      summed[a] = (choice >> a & 1) != 0;
      trivial = trivial || (axes[a].size == 1 && !summed[a] != axes[a].kept);
      if (axes[a].size == 1) continue;
      right = right && summed[a] != axes[a].kept;
      shows_last = shows_last || (!summed[a] && !axes[a].kept);
    }
    if (right || trivial) continue;
    for (const bool last : {false, true}) {
      if (last && !shows_last) continue;
      SumModel model = RightSumModel(scene, sum);
      const auto base = [axes, summed, last, &scene](int64_t slot) {
        int64_t row = slot * scene.rows.heads;
        for (size_t a = 0; a < axes.size(); ++a) {
          const int64_t index = row / axes[a].step % axes[a].size;
          if (axes[a].kept && summed[a]) row -= index * axes[a].step;
          if (!axes[a].kept && !summed[a] && last) {
            row += (axes[a].size - 1) * axes[a].step;
          }
        }
        return row;
      };
      model.group = base;
      model.rows = [axes, summed, base](int64_t slot) {
        return RowsOver(axes, summed, base(slot));
      };
      add->push_back({Names(scene, summed), model});
    }
  }
}

// A kept axis and a shared one in each other's place: by index where they are
// as long as each other, and by place in memory.
void WithAxesSwapped(const SumScene& scene, Sum sum,
                     const std::vector<Axis>& axes, const Axis& kept,
                     const Axis& shared, std::vector<SumHypothesis>* add) {
  std::vector<bool> others(axes.size());
  for (size_t a = 0; a < axes.size(); ++a) {
    others[a] = !axes[a].kept && axes[a].step != shared.step;
  }
  for (const bool kept_outside : {true, false}) {
    SumModel model = RightSumModel(scene, sum);
    model.rows = [=, &scene](int64_t slot) {
      const int64_t first = slot * scene.rows.heads;
      const int64_t wanted = first / kept.step % kept.size;
      const int64_t base = first - wanted * kept.step;
      std::vector<int64_t> rows;
      for (int64_t k = 0; k < kept.size; ++k) {
        for (int64_t s = 0; s < shared.size; ++s) {
          // Where (k, s) is read if the axes are taken in the other order.
          const int64_t index = kept_outside
                                    ? (k * shared.size + s) % kept.size
                                    : (s * kept.size + k) / shared.size;
          if (index != wanted) continue;
          for (const int64_t row :
               RowsOver(axes, others, base + k * kept.step + s * shared.step)) {
            rows.push_back(row);
          }
        }
      }
      return rows;
    };
    add->push_back({"axes in each other's place", model});
  }
}

}  // namespace

void ReducedAxes(const SumScene& scene, Sum sum,
                 std::vector<SumHypothesis>* add) {
  const std::vector<Axis> axes = AxesOf(scene);
  OverOtherAxes(scene, sum, axes, add);
  for (const Axis& kept : axes) {
    for (const Axis& shared : axes) {
      if (!kept.kept || shared.kept || kept.size == 1 || shared.size == 1) {
        continue;
      }
      WithAxesSwapped(scene, sum, axes, kept, shared, add);
    }
  }
}

}  // namespace ropewalk::verify
