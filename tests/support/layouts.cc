#include "support/layouts.h"

#include <algorithm>
#include <numeric>

namespace ropewalk::test {

Shape RandomStrides(const Shape& shape, const LayoutRules& rules,
                    Random& random) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Mostly the last axis innermost, as users have it.
  std::reverse(order.begin(), order.end());
  if (random.OneIn(2)) {
    random.Shuffle(&order);
  } else if (order.size() > 2) {
    std::vector<size_t> outer(order.begin() + 1, order.end());
    random.Shuffle(&outer);
    std::copy(outer.begin(), outer.end(), order.begin() + 1);
  }
  Shape strides(shape.size());
  int64_t step = random.OneIn(4) ? random.Int(2, 3) : 1;
  for (size_t axis : order) {
    strides[axis] = step;
    if (rules.zero && random.OneIn(6)) strides[axis] = 0;
    if (rules.negative && random.OneIn(4)) strides[axis] *= -1;
    step *= std::max<int64_t>(shape[axis], 1);
    if (random.OneIn(3)) step += random.Int(1, 5);
  }
  return strides;
}

TensorDesc RandomLayout(Dtype dtype, const Shape& shape,
                        const LayoutRules& rules, Random& random) {
  if (random.OneIn(4)) return Contiguous(dtype, shape);
  return Strided(dtype, shape, RandomStrides(shape, rules, random));
}

Placement RandomPlacement(Random& random) {
  static const std::vector<Placement> all = {
      Placement::kPadded, Placement::kOdd, Placement::kGuardAfter,
      Placement::kGuardBefore};
  return random.Pick(all);
}

TestTensor RandomTensor(Dtype dtype, const Shape& shape,
                        const LayoutRules& rules, Random& random) {
  const TensorDesc desc = RandomLayout(dtype, shape, rules, random);
  return TestTensor(desc, RandomPlacement(random));
}

TensorDesc Permuted(const TensorDesc& desc, const std::vector<int>& order) {
  TensorDesc permuted = desc;
  for (int axis = 0; axis < desc.rank; ++axis) {
    permuted.shape[axis] = desc.shape[order[axis]];
    permuted.strides[axis] = desc.strides[order[axis]];
  }
  return permuted;
}

Shape TableShape(const Shape& shape, unsigned subset, int64_t width) {
  Shape table = shape;
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    if ((subset >> axis & 1) != 0) table[axis] = 1;
  }
  table.back() = width;
  return table;
}

}  // namespace ropewalk::test
