// Shapes and strides that are hard to get right.

#ifndef ROPEWALK_TESTS_SUPPORT_LAYOUTS_H_
#define ROPEWALK_TESTS_SUPPORT_LAYOUTS_H_

#include "support/test_tensor.h"

namespace ropewalk::test {

/// What random strides may do. Strides of outputs must not be 0.
struct LayoutRules {
  bool zero = false;
  bool negative = false;
};
inline constexpr LayoutRules kInputRules = {true, true};
inline constexpr LayoutRules kOutputRules = {false, true};

/// Strides in a random order of axes, with random gaps; without zeros no two
/// elements share memory.
Shape RandomStrides(const Shape& shape, const LayoutRules& rules,
                    Random& random);

/// A random layout: contiguous, or with RandomStrides.
TensorDesc RandomLayout(Dtype dtype, const Shape& shape,
                        const LayoutRules& rules, Random& random);

Placement RandomPlacement(Random& random);

/// A tensor of random layout and placement.
TestTensor RandomTensor(Dtype dtype, const Shape& shape,
                        const LayoutRules& rules, Random& random);

/// `desc` with its axes in another order: axis i of the result is axis
/// order[i].
TensorDesc Permuted(const TensorDesc& desc, const std::vector<int>& order);

/// The shape of tables for `shape`: each leading axis with a bit in `subset`
/// (bit 0 is axis 0) becomes 1, the last axis becomes `width`.
Shape TableShape(const Shape& shape, unsigned subset, int64_t width);

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_LAYOUTS_H_
