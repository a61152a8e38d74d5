#include "support.h"

#include <cstring>
#include <random>

#include "float16.h"
#include "ropewalk_acl.h"

namespace ropewalk_aclnn {
namespace {

Shape RowMajor(const Shape& shape) {
  Shape strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

template <class T>
T Read(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

template <class T>
void Write(unsigned char* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}

}  // namespace

int64_t Count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

TestTensor::TestTensor(const Shape& shape, aclDataType dtype)
    : TestTensor(shape, RowMajor(shape), 0, std::max<int64_t>(Count(shape), 0),
                 dtype) {}

TestTensor::TestTensor(const Shape& shape, const std::vector<double>& values,
                       aclDataType dtype)
    : TestTensor(shape, dtype) {
  Set(values);
}

TestTensor::TestTensor(const Shape& shape, const Shape& strides, int64_t offset,
                       int64_t storage, aclDataType dtype, aclFormat format)
    : shape_(shape), strides_(strides), offset_(offset), dtype_(dtype) {
  const size_t size = std::max<size_t>(aclDataTypeSize(dtype), 1);
  bytes_ = std::make_shared<std::vector<unsigned char>>(
      static_cast<size_t>(storage) * size);
  handle_.reset(aclCreateTensor(shape.data(), shape.size(), dtype,
                                strides.data(), offset, format, &storage, 1,
                                bytes_->data()));
}

double TestTensor::Load(int64_t element) const {
  const unsigned char* at =
      bytes_->data() + element * static_cast<int64_t>(aclDataTypeSize(dtype_));
  switch (dtype_) {
    case ACL_FLOAT16:
      return HalfToFloat(Read<uint16_t>(at));
    case ACL_BF16:
      return BfloatToFloat(Read<uint16_t>(at));
    case ACL_DOUBLE:
      return Read<double>(at);
    case ACL_INT64:
      return static_cast<double>(Read<int64_t>(at));
    case ACL_INT32:
      return Read<int32_t>(at);
    default:
      return Read<float>(at);
  }
}

void TestTensor::Store(int64_t element, double value) {
  unsigned char* at =
      bytes_->data() + element * static_cast<int64_t>(aclDataTypeSize(dtype_));
  switch (dtype_) {
    case ACL_FLOAT16:
      return Write(at, FloatToHalf(static_cast<float>(value)));
    case ACL_BF16:
      return Write(at, FloatToBfloat(static_cast<float>(value)));
    case ACL_DOUBLE:
      return Write(at, value);
    case ACL_INT64:
      return Write(at, static_cast<int64_t>(value));
    case ACL_INT32:
      return Write(at, static_cast<int32_t>(value));
    default:
      return Write(at, static_cast<float>(value));
  }
}

std::vector<int64_t> TestTensor::Offsets() const {
  std::vector<int64_t> offsets;
  const int64_t count = Count(shape_);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    int64_t offset = offset_;
    for (size_t axis = shape_.size(); axis-- > 0;) {
      offset += rest % shape_[axis] * strides_[axis];
      rest /= shape_[axis];
    }
    offsets.push_back(offset);
  }
  return offsets;
}

TestTensor& TestTensor::FillRandom(uint32_t seed) {
  std::minstd_rand random(seed);
  const int64_t count =
      static_cast<int64_t>(bytes_->size() / aclDataTypeSize(dtype_));
  for (int64_t i = 0; i < count; ++i) {
    Store(i, (static_cast<int>(random() % 255) - 127) / 64.0);
  }
  return *this;
}

TestTensor& TestTensor::Fill(double value) {
  Set(std::vector<double>(static_cast<size_t>(Count(shape_)), value));
  return *this;
}

std::vector<double> TestTensor::Values() const {
  std::vector<double> values;
  for (int64_t offset : Offsets()) values.push_back(Load(offset));
  return values;
}

void TestTensor::Set(const std::vector<double>& values) {
  const std::vector<int64_t> offsets = Offsets();
  for (size_t i = 0; i < offsets.size(); ++i) Store(offsets[i], values[i]);
}

double RoundTo(aclDataType dtype, double value) {
  const float single = static_cast<float>(value);
  if (dtype == ACL_FLOAT16) return HalfToFloat(FloatToHalf(single));
  if (dtype == ACL_BF16) return BfloatToFloat(FloatToBfloat(single));
  return dtype == ACL_DOUBLE ? value : single;
}

void Arguments::Put(int number, const Shape& shape, aclDataType dtype) {
  Put(number, std::move(TestTensor(shape, dtype)
                            .FillRandom(static_cast<uint32_t>(number) + 1)));
}

void Arguments::Put(int number, TestTensor tensor) {
  if (tensors.size() <= static_cast<size_t>(number)) {
    tensors.resize(static_cast<size_t>(number) + 1);
  }
  tensors[static_cast<size_t>(number)] =
      std::make_shared<TestTensor>(std::move(tensor));
}

int Call(const Arguments& arguments) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const int status = PhaseOne(arguments, &size, &executor);
  if (status != 0) return status;
  std::vector<unsigned char> workspace(size);
  return PhaseTwo(arguments.op, workspace.data(), size, executor);
}

int Plan(const Arguments& arguments) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const int status = PhaseOne(arguments, &size, &executor);
  if (status == 0) aclDestroyAclOpExecutor(executor);
  return status;
}

UseProfile::UseProfile(const char* name) { ropewalkAclSetProduct(name); }
UseProfile::~UseProfile() { ropewalkAclSetProduct(nullptr); }

}  // namespace ropewalk_aclnn
