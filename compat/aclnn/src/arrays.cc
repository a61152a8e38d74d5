// Scalars, arrays and lists.

#include <cstring>
#include <vector>

#include "acl/acl_rt.h"
#include "aclnn/opdev/op_errno.h"
#include "error.h"
#include "streams.h"
#include "tensor.h"

namespace ropewalk_aclnn {
namespace {

struct Scalar {
  aclDataType dtype = ACL_DT_UNDEFINED;
  unsigned char bytes[16] = {};
};

using Handles = std::vector<uint64_t>;

constinit HandleTable<Scalar> all_scalars(2);
constinit HandleTable<std::vector<int64_t>> all_int_arrays(3);
constinit HandleTable<std::vector<float>> all_float_arrays(4);
constinit HandleTable<std::vector<bool>> all_bool_arrays(5);
constinit HandleTable<Handles> all_tensor_lists(6);
constinit HandleTable<Handles> all_scalar_lists(10);

// A null array of size 0 is an empty array.
template <class Opaque, class Array, class From>
Opaque* Create(const char* function, HandleTable<Array>& table,
               const From* from, uint64_t size) noexcept {
  Opaque* made = nullptr;
  Guarded(function, ACLNN_ERR_INNER, [&] {
    if (from == nullptr && size != 0) {
      return Fail(ACLNN_ERR_PARAM_NULLPTR, "%s: value: must not be null",
                  function);
    }
    Array array;
    array.reserve(size);
    for (uint64_t i = 0; i < size; ++i) {
      if constexpr (std::is_pointer_v<From>) {
        array.push_back(ToHandle(from[i]));
      } else {
        array.push_back(from[i]);
      }
    }
    made = ToOpaque<Opaque*>(table.Create(std::move(array)));
    if (made != nullptr) return ACLNN_SUCCESS;
    return Fail(ACLNN_ERR_INNER, "%s: no memory", function);
  });
  return made;
}

int Gone(const char* function, const void* handle) noexcept {
  return Fail(ACLNN_ERR_PARAM_INVALID,
              "%s: %p is destroyed, or was never created", function, handle);
}

template <class Table>
int Destroy(const char* function, Table& table, const void* handle) noexcept {
  if (handle == nullptr || table.Destroy(ToHandle(handle))) {
    return ACLNN_SUCCESS;
  }
  return Gone(function, handle);
}

// Destroys the elements, then the list. Elements that are gone already are not
// counted as a mistake of this call.
template <class Elements>
int DestroyList(const char* function, HandleTable<Handles>& lists,
                Elements& elements, const void* handle) noexcept {
  if (handle == nullptr) return ACLNN_SUCCESS;
  auto* slot = lists.Find(ToHandle(handle));
  if (slot == nullptr) return Gone(function, handle);
  for (uint64_t element : slot->value) elements.Destroy(element);
  return Destroy(function, lists, handle);
}

template <class Table>
int GetSize(const char* function, const Table& table, const void* handle,
            uint64_t* size) noexcept {
  if (handle == nullptr || size == nullptr) {
    return Fail(ACLNN_ERR_PARAM_NULLPTR, "%s: %s: must not be null", function,
                handle == nullptr ? "the handle" : "size");
  }
  auto* slot = table.Find(ToHandle(handle));
  if (slot == nullptr) return Gone(function, handle);
  *size = slot->value.size();
  return ACLNN_SUCCESS;
}

}  // namespace

const std::vector<int64_t>* FindIntArray(const aclIntArray* array) noexcept {
  auto* slot = all_int_arrays.Find(ToHandle(array));
  return slot != nullptr ? &slot->value : nullptr;
}

const std::vector<uint64_t>* FindTensorList(
    const aclTensorList* list) noexcept {
  auto* slot = all_tensor_lists.Find(ToHandle(list));
  return slot != nullptr ? &slot->value : nullptr;
}

}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  const size_t size = ElementSize(dataType);
  if (value == nullptr || size == 0) {
    Fail(ACLNN_ERR_PARAM_INVALID, "aclCreateScalar: %s",
         value == nullptr ? "value: must not be null"
                          : "dataType: has no size of whole bytes");
    return nullptr;
  }
  Scalar scalar;
  scalar.dtype = dataType;
  std::memcpy(scalar.bytes, value, size);
  const uint64_t handle = all_scalars.Create(scalar);
  if (handle == 0) Fail(ACLNN_ERR_INNER, "aclCreateScalar: no memory");
  return ToOpaque<aclScalar*>(handle);
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return Create<aclIntArray>("aclCreateIntArray", all_int_arrays, value, size);
}
aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return Create<aclFloatArray>("aclCreateFloatArray", all_float_arrays, value,
                               size);
}
aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return Create<aclBoolArray>("aclCreateBoolArray", all_bool_arrays, value,
                              size);
}
aclTensorList* aclCreateTensorList(const aclTensor* const* value,
                                   uint64_t size) {
  return Create<aclTensorList>("aclCreateTensorList", all_tensor_lists, value,
                               size);
}
aclScalarList* aclCreateScalarList(const aclScalar* const* value,
                                   uint64_t size) {
  return Create<aclScalarList>("aclCreateScalarList", all_scalar_lists, value,
                               size);
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return Destroy("aclDestroyScalar", all_scalars, scalar);
}
aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return Destroy("aclDestroyIntArray", all_int_arrays, array);
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return Destroy("aclDestroyFloatArray", all_float_arrays, array);
}
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return Destroy("aclDestroyBoolArray", all_bool_arrays, array);
}
aclnnStatus aclDestroyTensorList(const aclTensorList* list) {
  return DestroyList("aclDestroyTensorList", all_tensor_lists, all_tensors,
                     list);
}
aclnnStatus aclDestroyScalarList(const aclScalarList* list) {
  return DestroyList("aclDestroyScalarList", all_scalar_lists, all_scalars,
                     list);
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return GetSize("aclGetIntArraySize", all_int_arrays, array, size);
}
aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return GetSize("aclGetFloatArraySize", all_float_arrays, array, size);
}
aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return GetSize("aclGetBoolArraySize", all_bool_arrays, array, size);
}
aclnnStatus aclGetTensorListSize(const aclTensorList* list, uint64_t* size) {
  return GetSize("aclGetTensorListSize", all_tensor_lists, list, size);
}
aclnnStatus aclGetScalarListSize(const aclScalarList* list, uint64_t* size) {
  return GetSize("aclGetScalarListSize", all_scalar_lists, list, size);
}

aclnnStatus aclDumpOpTensors(const char* opType, const char* opName,
                             aclTensor** tensors, size_t inputTensorNum,
                             size_t outputTensorNum, aclrtStream stream) {
  constexpr const char* kName = "aclDumpOpTensors";
  const size_t count = inputTensorNum + outputTensorNum;
  if (opType == nullptr || opName == nullptr ||
      (tensors == nullptr && count != 0)) {
    return Fail(ACLNN_ERR_PARAM_NULLPTR, "%s: %s: must not be null", kName,
                opType == nullptr   ? "opType"
                : opName == nullptr ? "opName"
                                    : "tensors");
  }
  for (size_t i = 0; i < count; ++i) {
    if (FindTensor(tensors[i]) == nullptr) return Gone(kName, tensors[i]);
  }
  const int status = CheckStream(kName, stream);
  return status == ACL_SUCCESS ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
}
