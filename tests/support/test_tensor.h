// Tensors with memory of their own, and how to compare them.

#ifndef ROPEWALK_TESTS_SUPPORT_TEST_TENSOR_H_
#define ROPEWALK_TESTS_SUPPORT_TEST_TENSOR_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "ropewalk/tensor.h"
#include "support/memory.h"
#include "support/random.h"

namespace ropewalk::test {

using Shape = std::vector<int64_t>;

/// What a tensor is filled with.
enum class Data {
  kNormal,   ///< around 1
  kUnit,     ///< in [-1, 1], as cosines are
  kBits,     ///< any bit pattern
  kSpecial,  ///< zeros, infinities, NaNs, subnormals, the largest; some normal
};

TensorDesc Contiguous(Dtype dtype, const Shape& shape);
TensorDesc Strided(Dtype dtype, const Shape& shape, const Shape& strides);
int64_t Count(const TensorDesc& desc);
Shape ShapeOf(const TensorDesc& desc);

/// A tensor on memory of its own that just holds its elements.
class TestTensor {
 public:
  TestTensor(const TensorDesc& desc, Placement placement = Placement::kPadded);
  TestTensor(Dtype dtype, const Shape& shape,
             Placement placement = Placement::kPadded);
  /// Filled at once.
  TestTensor(Dtype dtype, const Shape& shape, Data data, Random& random);

  const TensorDesc& desc() const { return desc_; }
  void* data() const { return memory_.data() + origin_; }
  ConstTensor in() const { return {desc_, data()}; }
  Tensor out() const { return {desc_, data()}; }
  const Memory& memory() const { return memory_; }

  /// Fills the elements; what lies between them is left alone.
  TestTensor& Fill(Data data, Random& random);
  /// Fills all elements with one value.
  TestTensor& Fill(double value);
  /// The value of the element with this number in lexicographic order.
  double At(int64_t ordinal) const;
  void Set(int64_t ordinal, double value);
  void* Address(int64_t ordinal) const;

 private:
  TensorDesc desc_;
  int64_t origin_;
  Memory memory_;
};

/// The address of an element by its number in lexicographic order.
void* ElementAddress(const ConstTensor& tensor, int64_t ordinal);

/// Copies elements; shapes and dtypes are equal.
void CopyElements(const ConstTensor& from, const Tensor& to);
/// A contiguous copy.
TestTensor Packed(const ConstTensor& tensor);

/// Elements of equal bits, where any NaN equals any other.
testing::AssertionResult SameElements(const ConstTensor& got,
                                      const ConstTensor& want);

/// The same, and all bytes between and around the elements equal too. Both
/// have the same layout.
testing::AssertionResult SameMemory(const TestTensor& got,
                                    const TestTensor& want);

/// Fills one element.
void FillElement(Dtype dtype, Data data, Random& random, void* element);

/// "f32 [2, 3] strides [3, 1]".
std::string ToString(const TensorDesc& desc);

}  // namespace ropewalk::test

namespace ropewalk {
/// So that failures can be read.
void PrintTo(const TensorDesc& desc, std::ostream* os);
}  // namespace ropewalk

#endif  // ROPEWALK_TESTS_SUPPORT_TEST_TENSOR_H_
