// Tensors, scalars, arrays and lists.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/opdev/op_errno.h"
#include "gtest/gtest.h"

namespace {

using Numbers = std::vector<int64_t>;
using Getter = aclnnStatus (*)(const aclTensor*, int64_t**, uint64_t*);

Numbers Get(Getter getter, const aclTensor* tensor) {
  int64_t* numbers = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(getter(tensor, &numbers, &count), OK);
  const std::unique_ptr<int64_t[]> owner(numbers);
  return Numbers(numbers, numbers + count);
}

aclTensor* Create(const Numbers& shape, const Numbers* strides = nullptr,
                  int64_t offset = 0) {
  const int64_t storage = 1000;
  return aclCreateTensor(shape.data(), shape.size(), ACL_BF16,
                         strides != nullptr ? strides->data() : nullptr, offset,
                         ACL_FORMAT_NCL, &storage, 1, nullptr);
}

TEST(Tensor, RemembersItsDescription) {
  Numbers shape = {2, 3, 4};
  Numbers strides = {12, -4, 0};
  aclTensor* tensor = Create(shape, &strides, 5);
  ASSERT_NE(tensor, nullptr);
  shape[0] = 9;  // the tensor has its own
  strides[0] = 9;
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_ND;
  aclDataType dtype = ACL_FLOAT;
  void* address = tensor;
  EXPECT_EQ(Get(aclGetViewShape, tensor), (Numbers{2, 3, 4}));
  EXPECT_EQ(Get(aclGetViewStrides, tensor), (Numbers{12, -4, 0}));
  EXPECT_EQ(Get(aclGetStorageShape, tensor), (Numbers{1000}));
  EXPECT_EQ(aclGetViewOffset(tensor, &offset), OK);
  EXPECT_EQ(offset, 5);
  EXPECT_EQ(aclGetFormat(tensor, &format), OK);
  EXPECT_EQ(format, ACL_FORMAT_NCL);
  EXPECT_EQ(aclGetDataType(tensor, &dtype), OK);
  EXPECT_EQ(dtype, ACL_BF16);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), OK);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(aclSetRawTensorAddr(tensor, &offset), OK);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), OK);
  EXPECT_EQ(address, &offset);
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
}

TEST(Tensor, StridesDefaultToContiguous) {
  aclTensor* tensor = Create({2, 3, 4});
  EXPECT_EQ(Get(aclGetViewStrides, tensor), (Numbers{12, 4, 1}));
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
  tensor = aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                           nullptr, 0, nullptr);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(Get(aclGetViewShape, tensor), Numbers{});
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
  const Numbers nine = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  tensor = Create(nine);
  EXPECT_EQ(Get(aclGetViewShape, tensor), nine);
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
  const int64_t big = std::numeric_limits<int64_t>::max();
  tensor = Create({big, big, 0});
  EXPECT_NE(tensor, nullptr);
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
}

TEST(Tensor, NullDimsAreRefused) {
  const int64_t two[] = {1, 2};
  EXPECT_EQ(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                            two, 2, nullptr),
            nullptr);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("viewDims"),
            std::string::npos);
  EXPECT_EQ(aclCreateTensor(two, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                            nullptr, 2, nullptr),
            nullptr);
  EXPECT_EQ(
      aclCreateTensor(two, std::numeric_limits<uint64_t>::max() / 16, ACL_FLOAT,
                      nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr),
      nullptr);
}

TEST(Tensor, IsKnownToBeGone) {
  aclTensor* tensor = Create({2});
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("destroyed"),
            std::string::npos);
  int64_t offset = 0;
  EXPECT_EQ(aclGetViewOffset(tensor, &offset), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetRawTensorAddr(tensor, nullptr), ACLNN_ERR_PARAM_INVALID);
  aclTensor* next = Create({2});
  EXPECT_NE(next, tensor);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensor(next), OK);
  const int64_t one = 1;
  aclIntArray* array = aclCreateIntArray(&one, 1);  // another kind of handle
  EXPECT_EQ(aclDestroyTensor(reinterpret_cast<aclTensor*>(array)),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyIntArray(array), OK);
}

TEST(Tensor, CanBeDescribedAnew) {
  aclTensor* tensor = Create({2});
  const int64_t shape[] = {3, 5};
  EXPECT_EQ(aclInitTensor(tensor, shape, 2, ACL_FLOAT, nullptr, 1,
                          ACL_FORMAT_ND, shape, 2, tensor),
            OK);
  EXPECT_EQ(Get(aclGetViewShape, tensor), (Numbers{3, 5}));
  EXPECT_EQ(Get(aclGetViewStrides, tensor), (Numbers{5, 1}));
  EXPECT_EQ(aclInitTensor(tensor, nullptr, 2, ACL_FLOAT, nullptr, 1,
                          ACL_FORMAT_ND, shape, 2, tensor),
            ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(Get(aclGetViewShape, tensor), (Numbers{3, 5}));
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
  EXPECT_EQ(aclInitTensor(tensor, shape, 2, ACL_FLOAT, nullptr, 1,
                          ACL_FORMAT_ND, shape, 2, tensor),
            ACLNN_ERR_PARAM_INVALID);
}

TEST(Tensor, GettersWantPointers) {
  aclTensor* tensor = Create({2});
  int64_t* numbers = nullptr;
  uint64_t count = 0;
  for (Getter getter :
       {aclGetViewShape, aclGetStorageShape, aclGetViewStrides}) {
    EXPECT_EQ(getter(nullptr, &numbers, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(getter(tensor, nullptr, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(getter(tensor, &numbers, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  }
  EXPECT_EQ(aclGetViewOffset(nullptr, numbers), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetFormat(tensor, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetDataType(tensor, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetRawTensorAddr(nullptr, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
}

TEST(Null, IsDestroyedWithoutComplaint) {
  EXPECT_EQ(aclDestroyTensor(nullptr), OK);
  EXPECT_EQ(aclDestroyScalar(nullptr), OK);
  EXPECT_EQ(aclDestroyIntArray(nullptr), OK);
  EXPECT_EQ(aclDestroyFloatArray(nullptr), OK);
  EXPECT_EQ(aclDestroyBoolArray(nullptr), OK);
  EXPECT_EQ(aclDestroyTensorList(nullptr), OK);
  EXPECT_EQ(aclDestroyScalarList(nullptr), OK);
}

TEST(Arrays, KnowTheirSize) {
  const int64_t ints[] = {1, 2, 3};
  const float floats[] = {1, 2};
  const bool bools[] = {true};
  aclIntArray* i = aclCreateIntArray(ints, 3);
  aclFloatArray* f = aclCreateFloatArray(floats, 2);
  aclBoolArray* b = aclCreateBoolArray(bools, 1);
  aclIntArray* none = aclCreateIntArray(nullptr, 0);
  uint64_t size = 9;
  EXPECT_EQ(aclGetIntArraySize(i, &size), OK);
  EXPECT_EQ(size, 3u);
  EXPECT_EQ(aclGetFloatArraySize(f, &size), OK);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(aclGetBoolArraySize(b, &size), OK);
  EXPECT_EQ(size, 1u);
  EXPECT_EQ(aclGetIntArraySize(none, &size), OK);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(aclCreateIntArray(nullptr, 2), nullptr);
  EXPECT_EQ(aclGetIntArraySize(nullptr, &size), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetIntArraySize(i, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclDestroyIntArray(i), OK);
  EXPECT_EQ(aclDestroyIntArray(i), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclGetIntArraySize(i, &size), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyIntArray(none), OK);
  EXPECT_EQ(aclDestroyFloatArray(f), OK);
  EXPECT_EQ(aclDestroyBoolArray(b), OK);
}

TEST(Lists, OwnTheirElements) {
  const aclTensor* tensors[] = {Create({1}), Create({2})};
  aclTensorList* list = aclCreateTensorList(tensors, 2);
  uint64_t size = 0;
  EXPECT_EQ(aclGetTensorListSize(list, &size), OK);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(aclDestroyTensorList(list), OK);
  EXPECT_EQ(aclDestroyTensor(tensors[1]), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID);

  float value = 1;
  const aclScalar* scalars[] = {aclCreateScalar(&value, ACL_FLOAT)};
  EXPECT_NE(scalars[0], nullptr);
  EXPECT_EQ(aclCreateScalar(nullptr, ACL_FLOAT), nullptr);
  aclScalarList* scalar_list = aclCreateScalarList(scalars, 1);
  EXPECT_EQ(aclGetScalarListSize(scalar_list, &size), OK);
  EXPECT_EQ(size, 1u);
  EXPECT_EQ(aclDestroyScalarList(scalar_list), OK);
  EXPECT_EQ(aclDestroyScalar(scalars[0]), ACLNN_ERR_PARAM_INVALID);
}

TEST(Dump, ChecksItsArguments) {
  aclTensor* tensor = Create({1});
  EXPECT_EQ(aclDumpOpTensors("op", "name", &tensor, 1, 0, nullptr), OK);
  EXPECT_EQ(aclDumpOpTensors("op", nullptr, &tensor, 1, 0, nullptr),
            ACLNN_ERR_PARAM_NULLPTR);
  aclDestroyTensor(tensor);
  EXPECT_EQ(aclDumpOpTensors("op", "name", &tensor, 0, 1, nullptr),
            ACLNN_ERR_PARAM_INVALID);
}

}  // namespace
