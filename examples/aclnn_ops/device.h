// What every client of aclnn needs: start and end, tensors on the device, the
// two phases. C++11, and the same on an NPU.

#ifndef ROPEWALK_EXAMPLES_ACLNN_OPS_DEVICE_H_
#define ROPEWALK_EXAMPLES_ACLNN_OPS_DEVICE_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace example {

// Ends the program where a call was refused.
inline void Check(int status, const char* call) {
  if (status == ACL_SUCCESS) return;
  const char* why = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d: %s\n", call, status, why ? why : "");
  std::exit(1);
}

class Device {
 public:
  Device() {
    Check(aclInit(nullptr), "aclInit");
    Check(aclrtSetDevice(0), "aclrtSetDevice");
    Check(aclrtCreateStream(&stream_), "aclrtCreateStream");
  }
  ~Device() {
    aclrtDestroyStream(stream_);
    aclrtResetDevice(0);
    aclFinalize();
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // `first(size, executor)` is phase one; `second` is the function of phase
  // two.
  template <class First, class Second>
  void Run(const char* name, First first, Second second) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    Check(first(&size, &executor), name);
    void* workspace = nullptr;
    if (size > 0) {
      Check(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST),
            "aclrtMalloc");
    }
    Check(second(workspace, size, executor, stream_), name);
    Check(aclrtSynchronizeStream(stream_), "aclrtSynchronizeStream");
    if (workspace != nullptr) aclrtFree(workspace);
  }

  aclrtStream stream() const { return stream_; }

 private:
  aclrtStream stream_ = nullptr;
};

// Small numbers that every type holds exactly; `step` makes them differ.
inline std::vector<float> Ramp(int64_t count, int step) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back((static_cast<int>(i * step % 9) - 4) * 0.25f);
  }
  return values;
}

inline uint16_t ToBfloat16(float value) {  // of a number that it holds exactly
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

inline float FromBfloat16(uint16_t half) {
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// A contiguous tensor of float, half or bfloat16 on the device.
class Tensor {
 public:
  Tensor(const std::vector<int64_t>& shape, const std::vector<float>& values,
         aclDataType type = ACL_FLOAT)
      : count_(values.size()), type_(type) {
    std::vector<uint8_t> bytes(count_ * aclDataTypeSize(type));
    for (size_t i = 0; i < count_; ++i) {
      if (type == ACL_FLOAT) {
        std::memcpy(&bytes[4 * i], &values[i], 4);
      } else {
        const uint16_t half = type == ACL_FLOAT16 ? aclFloatToFloat16(values[i])
                                                  : ToBfloat16(values[i]);
        std::memcpy(&bytes[2 * i], &half, 2);
      }
    }
    Create(shape, bytes);
  }
  // Positions.
  Tensor(const std::vector<int64_t>& shape, const std::vector<int64_t>& values)
      : count_(values.size()), type_(ACL_INT64) {
    std::vector<uint8_t> bytes(8 * count_);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    Create(shape, bytes);
  }
  ~Tensor() {
    aclDestroyTensor(tensor_);
    aclrtFree(data_);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  aclTensor* get() const { return tensor_; }
  void* data() const { return data_; }

  std::vector<float> Read() const {
    const size_t size = aclDataTypeSize(type_);
    std::vector<uint8_t> bytes(count_ * size);
    Check(aclrtMemcpy(bytes.data(), bytes.size(), data_, bytes.size(),
                      ACL_MEMCPY_DEVICE_TO_HOST),
          "aclrtMemcpy");
    std::vector<float> values(count_);
    for (size_t i = 0; i < count_; ++i) {
      if (type_ == ACL_FLOAT) {
        std::memcpy(&values[i], &bytes[4 * i], 4);
        continue;
      }
      uint16_t half;
      std::memcpy(&half, &bytes[2 * i], 2);
      values[i] =
          type_ == ACL_FLOAT16 ? aclFloat16ToFloat(half) : FromBfloat16(half);
    }
    return values;
  }

  // One line: the name and the numbers.
  void Print(const char* name) const {
    std::printf("%s:", name);
    for (float value : Read()) std::printf(" %.9g", value);
    std::printf("\n");
  }

 private:
  void Create(const std::vector<int64_t>& shape,
              const std::vector<uint8_t>& bytes) {
    Check(aclrtMalloc(&data_, bytes.size(), ACL_MEM_MALLOC_HUGE_FIRST),
          "aclrtMalloc");
    Check(aclrtMemcpy(data_, bytes.size(), bytes.data(), bytes.size(),
                      ACL_MEMCPY_HOST_TO_DEVICE),
          "aclrtMemcpy");
    tensor_ = aclCreateTensor(shape.data(), shape.size(), type_, nullptr, 0,
                              ACL_FORMAT_ND, shape.data(), shape.size(), data_);
    if (tensor_ == nullptr) Check(ACL_ERROR_INVALID_PARAM, "aclCreateTensor");
  }

  size_t count_;
  aclDataType type_;
  void* data_ = nullptr;
  aclTensor* tensor_ = nullptr;
};

}  // namespace example

#endif  // ROPEWALK_EXAMPLES_ACLNN_OPS_DEVICE_H_
