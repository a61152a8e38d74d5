// Shape and stride algebra: sizes, address ranges, overlap.

#ifndef ROPEWALK_SRC_CORE_LAYOUT_H_
#define ROPEWALK_SRC_CORE_LAYOUT_H_

#include <cstdint>

#include "ropewalk/tensor.h"

namespace ropewalk {

/// The bytes that a tensor may touch, relative to its first element:
/// [lowest, end). Empty tensors have lowest == end == 0.
struct Extent {
  int64_t lowest = 0;
  int64_t end = 0;
  bool empty() const { return lowest == end; }
};

/// False if the bytes from the first one touched to the last, or those of the
/// elements, sizes of 0 left out, do not fit 62 bits. Sizes must not be
/// negative.
bool ComputeExtent(const TensorDesc& desc, Extent* extent);

/// Product of the sizes; only after ComputeExtent succeeded.
int64_t NumElements(const TensorDesc& desc);

bool SameShape(const TensorDesc& a, const TensorDesc& b);
/// Shape, strides of axes longer than 1, and dtype.
bool SameLayout(const TensorDesc& a, const TensorDesc& b);

/// (tokens, heads * head_size) seen as (tokens, heads, head_size); rank 3 is
/// that already.
TensorDesc SplitHeads(const TensorDesc& desc, int64_t head_size);

enum class Answer : uint8_t { kNo, kYes, kUnknown };

/// Do two different indices of `desc` share an element?
Answer OverlapsItself(const TensorDesc& desc);

/// Do two tensors share a byte? Exact on elements, not on ranges; kUnknown if
/// that takes too long to find out.
Answer Overlaps(const TensorDesc& a, const void* a_data, const TensorDesc& b,
                const void* b_data);

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_CORE_LAYOUT_H_
