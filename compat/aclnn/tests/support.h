// Tensors, and calls of any operator, for the tests.

#ifndef ROPEWALK_COMPAT_ACLNN_TESTS_SUPPORT_H_
#define ROPEWALK_COMPAT_ACLNN_TESTS_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "op.h"

namespace ropewalk_aclnn {

using Shape = std::vector<int64_t>;

// A tensor and its memory.
class TestTensor {
 public:
  // Contiguous; filled with zeros.
  explicit TestTensor(const Shape& shape, aclDataType dtype = ACL_FLOAT);
  TestTensor(const Shape& shape, const std::vector<double>& values,
             aclDataType dtype = ACL_FLOAT);
  // A view of `storage` elements.
  TestTensor(const Shape& shape, const Shape& strides, int64_t offset,
             int64_t storage, aclDataType dtype = ACL_FLOAT,
             aclFormat format = ACL_FORMAT_ND);
  TestTensor(TestTensor&&) = default;
  TestTensor& operator=(TestTensor&&) = default;

  // Fills all of the storage with numbers that are exact in every type.
  TestTensor& FillRandom(uint32_t seed);
  TestTensor& Fill(double value);
  // By index of the view, row-major.
  std::vector<double> Values() const;
  void Set(const std::vector<double>& values);
  // All bytes of the storage.
  const std::vector<unsigned char>& bytes() const { return *bytes_; }

  aclTensor* get() const { return handle_.get(); }
  void* data() const { return bytes_->data(); }
  const Shape& shape() const { return shape_; }
  aclDataType dtype() const { return dtype_; }

 private:
  struct Destroy {
    void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
  };
  // Elements from the start of the storage, of each index of the view.
  std::vector<int64_t> Offsets() const;
  double Load(int64_t element) const;
  void Store(int64_t element, double value);

  Shape shape_;
  Shape strides_;
  int64_t offset_ = 0;
  aclDataType dtype_;
  std::shared_ptr<std::vector<unsigned char>> bytes_;
  std::unique_ptr<aclTensor, Destroy> handle_;
};

int64_t Count(const Shape& shape);
double RoundTo(aclDataType dtype, double value);

// The arguments of a call of any operator. Tensors are numbered as in OpInfo
// (outputs that are inputs do not count).
struct Arguments {
  Op op = Op::kRotaryPositionEmbedding;
  std::vector<std::shared_ptr<TestTensor>> tensors;  // null: null
  std::optional<std::vector<int64_t>> list;          // slice or sections
  int64_t mode = 0;
  int64_t layout = 1;
  int64_t head_size = 64;
  int64_t cache_mode = 0;
  bool neox = true;
  const char* rotary_mode = "half";

  TestTensor& operator[](int number) { return *tensors[number]; }
  // Puts another tensor in place.
  void Put(int number, const Shape& shape, aclDataType dtype = ACL_FLOAT);
  void Put(int number, TestTensor tensor);
  void Null(int number) { tensors[number] = nullptr; }
};

// A call that every profile accepts whose product has the operator.
Arguments Accepted(Op op);

// The pieces. `handles` may replace the tensors' own.
int PhaseOne(const Arguments& arguments, uint64_t* workspace_size,
             aclOpExecutor** executor,
             const std::vector<aclTensor*>& handles = {});
int PhaseTwo(Op op, void* workspace, uint64_t workspace_size,
             aclOpExecutor* executor, aclrtStream stream = nullptr);

// Both phases.
int Call(const Arguments& arguments);
// Phase one, and the end of its executor.
int Plan(const Arguments& arguments);

// Chooses a profile for as long as it lives.
class UseProfile {
 public:
  explicit UseProfile(const char* name);
  ~UseProfile();
};

inline constexpr const char* kProfileNames[] = {"documented", "a2", "950",
                                                "unlimited"};

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_TESTS_SUPPORT_H_
