// What a tensor descriptor holds.

#ifndef ROPEWALK_COMPAT_ACLNN_TENSOR_H_
#define ROPEWALK_COMPAT_ACLNN_TENSOR_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "handle_table.h"

namespace ropewalk_aclnn {

// A short list of numbers, in place up to the rank that operators take.
class Dims {
 public:
  Dims() = default;
  Dims(const int64_t* from, uint64_t size) : size_(size) {
    if (size > kInPlace) large_ = std::make_unique<int64_t[]>(size);
    std::copy_n(from, size, data());
  }

  uint64_t size() const noexcept { return size_; }
  const int64_t* data() const noexcept {
    return large_ != nullptr ? large_.get() : small_;
  }
  int64_t* data() noexcept { return large_ != nullptr ? large_.get() : small_; }

 private:
  static constexpr uint64_t kInPlace = 8;
  uint64_t size_ = 0;
  int64_t small_[kInPlace] = {};
  std::unique_ptr<int64_t[]> large_;
};

struct Tensor {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  Dims shape;
  Dims strides;
  Dims storage;
  int64_t offset = 0;
  // Another thread may change it while an executor runs.
  void* data = nullptr;

  void* Address() const noexcept {
    return std::atomic_ref<void*>(const_cast<void*&>(data))
        .load(std::memory_order_relaxed);
  }
  void SetAddress(void* address) noexcept {
    std::atomic_ref<void*>(data).store(address, std::memory_order_relaxed);
  }
};

// Bytes of one element; 0 for types below a byte and of no fixed size.
size_t ElementSize(aclDataType dtype) noexcept;

// "bfloat16", "int64", or "type 12".
std::string TypeText(aclDataType dtype);

using TensorTable = HandleTable<Tensor>;
extern constinit TensorTable all_tensors;

// Null if the descriptor is gone.
Tensor* FindTensor(const aclTensor* tensor) noexcept;

// Null if it is gone.
const std::vector<int64_t>* FindIntArray(const aclIntArray* array) noexcept;
const std::vector<uint64_t>* FindTensorList(const aclTensorList* list) noexcept;

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_TENSOR_H_
