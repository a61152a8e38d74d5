// Memory for the tensors of a case: apart, in place or overlapping.

#ifndef ROPEWALK_TESTS_FUZZ_PLACED_H_
#define ROPEWALK_TESTS_FUZZ_PLACED_H_

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/operator_case.h"
#include "support/memory.h"
#include "support/test_tensor.h"

namespace ropewalk::test {

/// Calls visit(offset) with the byte offset of each element.
template <class Visit>
void ForEachElement(const TensorDesc& desc, const Visit& visit) {
  const auto size = static_cast<int64_t>(DtypeSize(desc.dtype));
  int64_t index[kMaxRank] = {};
  for (int axis = 0; axis < desc.rank; ++axis) {
    if (desc.shape[axis] == 0) return;
  }
  for (int64_t offset = 0;;) {
    visit(offset * size);
    int axis = desc.rank - 1;
    for (; axis >= 0; --axis) {
      if (desc.shape[axis] > 1) offset += desc.strides[axis];
      if (++index[axis] < desc.shape[axis]) break;
      if (desc.shape[axis] > 1) offset -= desc.strides[axis] * index[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

bool IsEmpty(const TensorDesc& desc);
/// Its elements, and the bytes from its address to any of them.
bool Fits63Bits(const TensorDesc& desc);
/// All tensors have a few thousand elements within some kilobytes.
bool IsSmall(const OperatorCase& c);

class Placed {
 public:
  /// Of a case that is small.
  Placed(const OperatorCase& c, Data data, Input& input);

  /// Where the operator finds a tensor, or null.
  void* const* addresses() const { return address_; }
  void* address(int slot) const { return address_[slot]; }
  /// Takes a tensor's address away.
  void Drop(int slot) { address_[slot] = nullptr; }

  /// The tensor before the run, for a reference to read, and the place that it
  /// writes to.
  ConstTensor Before(int slot) const;
  Tensor Want(int slot);

  /// Which memory each tensor is in, and where.
  std::string Text() const;

  /// What a run must say.
  Code Expected() const;
  /// Nothing has been written.
  bool Untouched() const;
  /// Takes over what was got for an output into what is wanted.
  void Accept(int slot);
  /// Rotated columns of an output, [start, end): NaN counts as any quiet NaN.
  void AcceptNan(int slot, int64_t start, int64_t end);
  /// All memory is as wanted; else where not.
  std::string Difference() const;

 private:
  struct Block {
    Block(size_t bytes, Placement placement, size_t element)
        : got(bytes, placement, element) {}
    Memory got;
    std::vector<std::byte> before, want;
  };

  void Place(int slot, Input& input);
  bool PlaceOn(int slot, int other, Input& input);
  void Fill(int slot, Data data, Random& random, Input& input);
  bool Overlap() const;
  bool BadPosition() const;

  const OperatorCase& case_;
  std::list<Block> blocks_;
  Block* block_[kTensorSlots] = {};
  int64_t origin_[kTensorSlots] = {};
  void* address_[kTensorSlots] = {};
};

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_FUZZ_PLACED_H_
