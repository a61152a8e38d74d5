// One rotated output as rows: where row i of x, of the result and of the tables
// lies, whichever operator it is of.

#ifndef ROPEWALK_SRC_VERIFY_SCENE_H_
#define ROPEWALK_SRC_VERIFY_SCENE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ropewalk/ops.h"
#include "ropewalk/tensor.h"

namespace ropewalk::verify {

/// The tables of cos and sin as rows. A row of x names a slot; a slot names,
/// for each of `sections` position rows, a position; a position is the number
/// of a table row. For tables given as tensors slot and position are one.
class Tables {
 public:
  Tables() = default;
  Tables(const ConstTensor& cos, const ConstTensor& sin, int64_t width);
  Tables(const ConstTensor& positions, const ConstTensor& cache,
         const RotateCachedOptions& options);

  bool cached() const { return cached_; }
  Dtype dtype() const { return cos_.desc.dtype; }
  int64_t width() const { return width_; }
  /// Whether a row has a value for each column, not for each pair.
  bool full() const { return full_; }
  int64_t numbers() const { return full_ ? width_ : width_ / 2; }
  int64_t slots() const { return slots_; }
  int64_t rows() const { return rows_; }
  /// Of the innermost axis of the table rows: 1, 2, 3, ... are neighbours.
  int64_t period() const { return period_; }
  int sections() const { return sections_; }
  const std::vector<int64_t>& section_sizes() const { return section_sizes_; }
  AxisLayout axes() const { return axes_; }

  int64_t Position(int section, int64_t slot) const;
  bool Holds(int64_t position) const {
    return 0 <= position && position < rows_;
  }
  /// numbers() cosines and sines of a row that it holds.
  void LoadRow(int64_t row, double* cos, double* sin) const;

 private:
  struct Axis {
    int64_t size, cos_stride, sin_stride;
  };

  bool cached_ = false, full_ = false;
  int64_t width_ = 0, slots_ = 1, rows_ = 1, period_ = 1;
  int sections_ = 1;
  std::vector<int64_t> section_sizes_;  // empty: plain positions
  AxisLayout axes_ = AxisLayout::kSegmented;
  ConstTensor cos_, sin_;  // cached: the cache's first and second half
  ConstTensor positions_;
  std::vector<Axis> table_axes_;  // outermost first
};

/// Which position row serves each of width / 2 pairs.
std::vector<int> SectionOfPair(const std::vector<int64_t>& sizes,
                               AxisLayout axes, int64_t width);

struct RowPlace {
  int64_t slot, head;     ///< head counts the rows that share a slot
  int64_t x, x2, result;  ///< offsets in elements
};

/// x2 is a second input of the same shape, if any (x of a backward, for dcos).
struct Scene {
  std::string name;
  Pairing pairing = Pairing::kHalf;
  Direction direction = Direction::kForward;
  ConstTensor x, x2, result;         ///< equal shapes, the last axis the row
  std::vector<int64_t> shown_shape;  ///< the result's as it was given
  int64_t start = 0, width = 0, columns = 0;
  int64_t rows = 0, heads = 1;
  Tables tables;

  /// Sets columns, rows and places; `kept` says on which leading axes the
  /// tables have a row for each index.
  void SetRows(const std::vector<bool>& kept);

  RowPlace Place(int64_t row) const;
  /// The row of a slot and a head.
  int64_t RowOf(int64_t slot, int64_t head) const;
  void LoadX(const RowPlace& place, double* to) const;
  void LoadX2(const RowPlace& place, double* to) const;
  void LoadResult(const RowPlace& place, double* to) const;
  /// The index in the result's own axes.
  std::vector<int64_t> ShownIndex(int64_t row, int64_t column) const;
  /// The rows that share a slot and follow one another, from a row that starts
  /// such a run.
  int64_t RunOfSlot() const { return run_; }

  struct Axis {
    int64_t size;
    int64_t slot_step, head_step;
    int64_t x_stride, x2_stride, result_stride;
  };
  /// Outermost first; neighbours that can be one are one.
  const std::vector<Axis>& axes() const { return axes_; }

 private:
  std::vector<Axis> axes_;
  int64_t run_ = 1;
};

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_SCENE_H_
