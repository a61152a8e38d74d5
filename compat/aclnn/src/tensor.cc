#include "tensor.h"

#include "aclnn/opdev/op_errno.h"
#include "error.h"

namespace ropewalk_aclnn {

constinit TensorTable all_tensors(1);

Tensor* FindTensor(const aclTensor* tensor) noexcept {
  auto* slot = all_tensors.Find(ToHandle(tensor));
  return slot != nullptr ? &slot->value : nullptr;
}

size_t ElementSize(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

std::string TypeText(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT:
      return "float";
    case ACL_FLOAT16:
      return "float16";
    case ACL_BF16:
      return "bfloat16";
    case ACL_DOUBLE:
      return "double";
    case ACL_INT32:
      return "int32";
    case ACL_INT64:
      return "int64";
    default:
      return "type " + std::to_string(static_cast<int>(dtype));
  }
}

namespace {

struct Description {
  const int64_t* view_dims;
  uint64_t view_rank;
  aclDataType dtype;
  const int64_t* stride;
  int64_t offset;
  aclFormat format;
  const int64_t* storage_dims;
  uint64_t storage_rank;
  void* data;
};

// Strides without gaps; they wrap where sizes are absurd, which operators
// refuse.
Dims Contiguous(const int64_t* shape, uint64_t rank) {
  Dims strides(shape, rank);
  uint64_t step = 1;
  for (uint64_t i = rank; i-- > 0;) {
    strides.data()[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(shape[i]);
  }
  return strides;
}

int Describe(const char* function, const Description& from, Tensor* tensor) {
  if (from.view_dims == nullptr && from.view_rank != 0) {
    return Fail(ACLNN_ERR_PARAM_NULLPTR, "%s: viewDims: must not be null",
                function);
  }
  if (from.storage_dims == nullptr && from.storage_rank != 0) {
    return Fail(ACLNN_ERR_PARAM_NULLPTR, "%s: storageDims: must not be null",
                function);
  }
  constexpr uint64_t kMaxRank = 1024;
  if (from.view_rank > kMaxRank || from.storage_rank > kMaxRank) {
    return Fail(ACLNN_ERR_PARAM_INVALID, "%s: %s: must be at most 1024",
                function,
                from.view_rank > kMaxRank ? "viewDimsNum" : "storageDimsNum");
  }
  tensor->dtype = from.dtype;
  tensor->format = from.format;
  tensor->shape = Dims(from.view_dims, from.view_rank);
  tensor->strides = from.stride != nullptr
                        ? Dims(from.stride, from.view_rank)
                        : Contiguous(from.view_dims, from.view_rank);
  tensor->storage = Dims(from.storage_dims, from.storage_rank);
  tensor->offset = from.offset;
  tensor->data = from.data;
  return ACLNN_SUCCESS;
}

int NullPointer(const char* function, const char* argument) noexcept {
  return Fail(ACLNN_ERR_PARAM_NULLPTR, "%s: %s: must not be null", function,
              argument);
}

// The descriptor, or null and a refusal.
Tensor* Find(const char* function, const aclTensor* handle,
             int* status) noexcept {
  *status = ACLNN_SUCCESS;
  if (handle == nullptr) {
    *status = NullPointer(function, "tensor");
    return nullptr;
  }
  Tensor* tensor = FindTensor(handle);
  if (tensor == nullptr) {
    *status = Fail(ACLNN_ERR_PARAM_INVALID,
                   "%s: tensor: %p is destroyed, or was never created",
                   function, static_cast<const void*>(handle));
  }
  return tensor;
}

// Gives a copy made by new[], as the API asks.
int GetDims(const char* function, const aclTensor* handle, Dims Tensor::*which,
            int64_t** dims, uint64_t* count) noexcept {
  if (dims == nullptr || count == nullptr) {
    return NullPointer(function, "the result pointer");
  }
  int status;
  const Tensor* tensor = Find(function, handle, &status);
  if (tensor == nullptr) return status;
  return Guarded(function, ACLNN_ERR_INNER, [&] {
    const Dims& from = tensor->*which;
    auto copy = std::make_unique<int64_t[]>(from.size());
    std::copy_n(from.data(), from.size(), copy.get());
    *dims = copy.release();
    *count = from.size();
    return ACLNN_SUCCESS;
  });
}

template <class T>
int GetField(const char* function, const aclTensor* handle, T Tensor::*which,
             T* value) noexcept {
  if (value == nullptr) return NullPointer(function, "the result pointer");
  int status;
  const Tensor* tensor = Find(function, handle, &status);
  if (tensor != nullptr) *value = tensor->*which;
  return status;
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                           aclDataType dataType, const int64_t* stride,
                           int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum,
                           void* tensorData) {
  const Description from = {viewDims,    viewDimsNum,    dataType,
                            stride,      offset,         format,
                            storageDims, storageDimsNum, tensorData};
  aclTensor* made = nullptr;
  Guarded("aclCreateTensor", ACLNN_ERR_INNER, [&] {
    Tensor tensor;
    const int status = Describe("aclCreateTensor", from, &tensor);
    if (status != ACLNN_SUCCESS) return status;
    made = ToOpaque<aclTensor*>(all_tensors.Create(std::move(tensor)));
    if (made != nullptr) return ACLNN_SUCCESS;
    return Fail(ACLNN_ERR_INNER, "aclCreateTensor: no memory");
  });
  return made;
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims,
                          uint64_t viewDimsNum, aclDataType dataType,
                          const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims,
                          uint64_t storageDimsNum, void* tensorData) {
  const Description from = {viewDims,    viewDimsNum,    dataType,
                            stride,      offset,         format,
                            storageDims, storageDimsNum, tensorData};
  return Guarded("aclInitTensor", ACLNN_ERR_INNER, [&] {
    int status;
    Tensor* found = Find("aclInitTensor", tensor, &status);
    if (found == nullptr) return status;
    Tensor made;
    status = Describe("aclInitTensor", from, &made);
    if (status == ACLNN_SUCCESS) *found = std::move(made);
    return status;
  });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  if (tensor == nullptr || all_tensors.Destroy(ToHandle(tensor))) {
    return ACLNN_SUCCESS;
  }
  return Fail(ACLNN_ERR_PARAM_INVALID,
              "aclDestroyTensor: tensor: %p is destroyed, or was never created",
              static_cast<const void*>(tensor));
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                            uint64_t* viewDimsNum) {
  return GetDims("aclGetViewShape", tensor, &Tensor::shape, viewDims,
                 viewDimsNum);
}
aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  return GetDims("aclGetStorageShape", tensor, &Tensor::storage, storageDims,
                 storageDimsNum);
}
aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  return GetDims("aclGetViewStrides", tensor, &Tensor::strides, stridesValue,
                 stridesNum);
}
aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return GetField("aclGetViewOffset", tensor, &Tensor::offset, offset);
}
aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return GetField("aclGetFormat", tensor, &Tensor::format, format);
}
aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return GetField("aclGetDataType", tensor, &Tensor::dtype, dataType);
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  int status;
  Tensor* found = Find("aclSetRawTensorAddr", tensor, &status);
  if (found != nullptr) found->SetAddress(addr);
  return status;
}
aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  if (addr == nullptr) return NullPointer("aclGetRawTensorAddr", "addr");
  int status;
  const Tensor* found = Find("aclGetRawTensorAddr", tensor, &status);
  if (found != nullptr) *addr = found->Address();
  return status;
}

size_t aclDataTypeSize(aclDataType dataType) { return ElementSize(dataType); }
