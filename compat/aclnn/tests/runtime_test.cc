// Devices, contexts, streams, memory, events, halves.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "gtest/gtest.h"
#include "ropewalk_acl.h"

namespace {

std::string Message() { return aclGetRecentErrMsg(); }

TEST(Runtime, BeginsAndEndsOnce) {
  EXPECT_EQ(aclFinalize(), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclInit("/no/such/file"), ACL_ERROR_INVALID_FILE);
  EXPECT_NE(Message().find("/no/such/file"), std::string::npos);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInit(""), ACL_SUCCESS);
  EXPECT_EQ(aclnnInit(nullptr), OK);
  EXPECT_EQ(aclnnFinalize(), OK);
}

TEST(Runtime, HasOneDevice) {
  int32_t device = 7;
  uint32_t count = 0;
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS);
  EXPECT_EQ(mode, ACL_HOST);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(1), ACL_ERROR_INVALID_DEVICE);
  EXPECT_NE(Message().find("deviceId"), std::string::npos);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(-1), ACL_ERROR_INVALID_DEVICE);
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetSysParamOpt(static_cast<aclSysParamOpt>(9), 1),
            ACL_ERROR_INVALID_PARAM);
}

TEST(Runtime, NamesTheProfilesProduct) {
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
  EXPECT_EQ(ropewalkAclSetProduct("950"), OK);
  EXPECT_STREQ(aclrtGetSocName(), "Ascend950PR_9589");
  EXPECT_STREQ(ropewalkAclGetProduct(), "950");
  EXPECT_EQ(ropewalkAclSetProduct("910"), 161002);
  EXPECT_NE(Message().find("910"), std::string::npos);
  EXPECT_STREQ(ropewalkAclGetProduct(), "950");
  EXPECT_EQ(ropewalkAclSetProduct(nullptr), OK);
  EXPECT_STREQ(ropewalkAclGetProduct(), "documented");
  setenv("ROPEWALK_ACL_PRODUCT", "a2", 1);
  EXPECT_STREQ(ropewalkAclGetProduct(), "a2");
  unsetenv("ROPEWALK_ACL_PRODUCT");
}

TEST(Runtime, ContextsBelongToThreads) {
  aclrtContext first = nullptr;
  aclrtContext second = nullptr;
  aclrtContext current = nullptr;
  ASSERT_EQ(aclrtCreateContext(&first, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&second, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, second);
  EXPECT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  std::thread([&] {
    aclrtContext other = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&other), ACL_SUCCESS);
    EXPECT_NE(other, first);
    EXPECT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  }).join();
  EXPECT_EQ(aclrtDestroyContext(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(first), ACL_ERROR_INVALID_RESOURCE_HANDLE);
  EXPECT_EQ(aclrtSetCurrentContext(first), ACL_ERROR_INVALID_RESOURCE_HANDLE);
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_NE(current, first);
  EXPECT_EQ(aclrtDestroyContext(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateContext(&first, 3), ACL_ERROR_INVALID_DEVICE);
}

TEST(Runtime, StreamsAreRecognised) {
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);  // the default one
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_INVALID_RESOURCE_HANDLE);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_INVALID_RESOURCE_HANDLE);
  EXPECT_EQ(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtCreateStreamWithConfig(
                &stream, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  int any = 0;
  EXPECT_EQ(aclrtSynchronizeStream(&any), ACL_ERROR_INVALID_RESOURCE_HANDLE);
  EXPECT_EQ(aclrtMemsetAsync(&any, 4, 1, 4, stream),
            ACL_ERROR_INVALID_RESOURCE_HANDLE);
  EXPECT_EQ(any, 0);
}

TEST(Runtime, MemoryIsAlignedAndFreedOnce) {
  for (auto* allocate : {aclrtMalloc, aclrtMallocAlign32, aclrtMallocCached}) {
    void* memory = nullptr;
    ASSERT_EQ(allocate(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    EXPECT_EQ(aclrtFreeHost(memory), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(memory), ACL_ERROR_INVALID_PARAM);
  }
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtMallocHost(&memory, 8), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(Message().find("host memory"), std::string::npos);
  EXPECT_EQ(aclrtFreeHost(memory), ACL_SUCCESS);
}

TEST(Runtime, CopiesCheckSizes) {
  const int from[4] = {1, 2, 3, 4};
  int to[4] = {};
  for (int kind = 0; kind <= 7; ++kind) {
    std::memset(to, 0, sizeof(to));
    EXPECT_EQ(aclrtMemcpy(to, 16, from, 16, static_cast<aclrtMemcpyKind>(kind)),
              ACL_SUCCESS);
    EXPECT_EQ(to[3], 4);
  }
  to[0] = 9;
  EXPECT_EQ(aclrtMemcpy(to, 15, from, 16, ACL_MEMCPY_DEFAULT),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(Message().find("destMax"), std::string::npos);
  EXPECT_EQ(to[0], 9);
  EXPECT_EQ(aclrtMemcpy(nullptr, 16, from, 16, ACL_MEMCPY_DEFAULT),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(to, 16, from, 16, static_cast<aclrtMemcpyKind>(8)),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(
      aclrtMemcpyAsync(to, 16, from, 16, ACL_MEMCPY_HOST_TO_DEVICE, nullptr),
      ACL_SUCCESS);
  EXPECT_EQ(to[0], 1);
  EXPECT_EQ(aclrtMemset(to, 16, 0xff, 8), ACL_SUCCESS);
  EXPECT_EQ(to[1], -1);
  EXPECT_EQ(to[2], 3);
  EXPECT_EQ(aclrtMemset(to, 4, 0, 8), ACL_ERROR_INVALID_PARAM);
}

TEST(Runtime, EventsMeasureTime) {
  aclrtEvent start = nullptr;
  aclrtEvent end = nullptr;
  float ms = -1;
  ASSERT_EQ(aclrtCreateEvent(&start), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&end), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtRecordEvent(start, nullptr), ACL_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(aclrtRecordEvent(end, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  EXPECT_GE(ms, 5.0f);
  EXPECT_LT(ms, 5000.0f);
  EXPECT_EQ(aclrtDestroyEvent(start), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end),
            ACL_ERROR_INVALID_RESOURCE_HANDLE);
  EXPECT_EQ(aclrtDestroyEvent(end), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(end), ACL_ERROR_INVALID_RESOURCE_HANDLE);
}

TEST(Runtime, ConvertsHalves) {
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const float value = aclFloat16ToFloat(static_cast<aclFloat16>(bits));
    EXPECT_EQ(value, static_cast<float>(
                         std::ldexp(bits < 1024 ? bits : 1024 + bits % 1024,
                                    bits < 1024 ? -24 : bits / 1024 - 25)));
    EXPECT_EQ(aclFloatToFloat16(value), bits);
    EXPECT_EQ(aclFloatToFloat16(-value), bits | 0x8000);
  }
  EXPECT_EQ(aclFloatToFloat16(0x1.002p0f), 0x3c00);  // ties to even
  EXPECT_EQ(aclFloatToFloat16(0x1.006p0f), 0x3c02);
  EXPECT_EQ(aclFloatToFloat16(0x1p-25f), 0);
  EXPECT_EQ(aclFloatToFloat16(0x1.8p-25f), 1);
  EXPECT_EQ(aclFloatToFloat16(65520.0f), 0x7bff);  // saturates
  EXPECT_EQ(aclFloatToFloat16(HUGE_VALF), 0x7bff);
  EXPECT_EQ(aclFloatToFloat16(-HUGE_VALF), 0xfbff);
  EXPECT_EQ(aclFloatToFloat16(NAN), 0x7bff);
  EXPECT_EQ(aclFloat16ToFloat(0x7c00), HUGE_VALF);
  EXPECT_TRUE(std::isnan(aclFloat16ToFloat(0x7e00)));
}

TEST(Runtime, MessagesBelongToThreads) {
  aclrtFree(nullptr);
  const std::string here = Message();
  EXPECT_NE(here.find("aclrtFree"), std::string::npos);
  std::thread([] {
    ASSERT_NE(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(Message(), "");
    aclrtSetDevice(5);
    EXPECT_NE(Message().find("aclrtSetDevice"), std::string::npos);
  }).join();
  EXPECT_EQ(Message(), here);
}

TEST(Runtime, KnowsSizesOfTypes) {
  EXPECT_EQ(aclDataTypeSize(ACL_FLOAT), 4u);
  EXPECT_EQ(aclDataTypeSize(ACL_BF16), 2u);
  EXPECT_EQ(aclDataTypeSize(ACL_INT64), 8u);
  EXPECT_EQ(aclDataTypeSize(ACL_COMPLEX128), 16u);
  EXPECT_EQ(aclDataTypeSize(ACL_INT4), 0u);
  EXPECT_EQ(aclDataTypeSize(ACL_DT_UNDEFINED), 0u);
}

}  // namespace
