// Device and host memory (both are the process's) and conversion of halves.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "acl/acl_rt.h"
#include "error.h"
#include "float16.h"
#include "streams.h"

namespace ropewalk_aclnn {
namespace {

enum class Kind : uint8_t { kDevice, kHost };

// All living allocations, to recognise what was freed twice, freed by the wrong
// function or never allocated. Keys are inverted addresses: a leak checker must
// not take the map for a use.
struct Allocations {
  std::mutex mutex;
  std::unordered_map<uintptr_t, Kind> kinds;
};

Allocations& All() {
  static Allocations& all = *new Allocations;  // outlives all destructors
  return all;
}

uintptr_t Key(void* address) { return ~reinterpret_cast<uintptr_t>(address); }

int Allocate(const char* function, const char* argument, void** address,
             size_t size, Kind kind) noexcept {
  if (address == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: %s: must not be null", function,
                argument);
  }
  if (size == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: size: must not be 0", function);
  }
  return Guarded(function, ACL_ERROR_BAD_ALLOC, [&] {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, size) != 0) {
      return Fail(ACL_ERROR_BAD_ALLOC, "%s: no memory for %zu bytes", function,
                  size);
    }
    try {
      std::lock_guard<std::mutex> lock(All().mutex);
      All().kinds.emplace(Key(memory), kind);
    } catch (...) {
      std::free(memory);
      throw;
    }
    *address = memory;
    return ACL_SUCCESS;
  });
}

int Release(const char* function, void* address, Kind kind) noexcept {
  if (address == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: the address must not be null",
                function);
  }
  return Guarded(function, ACL_ERROR_BAD_ALLOC, [&] {
    std::lock_guard<std::mutex> lock(All().mutex);
    const auto found = All().kinds.find(Key(address));
    if (found == All().kinds.end()) {
      return Fail(ACL_ERROR_INVALID_PARAM,
                  "%s: %p was not allocated, or is already freed", function,
                  address);
    }
    if (found->second != kind) {
      return Fail(ACL_ERROR_INVALID_PARAM, "%s: %p is %s memory", function,
                  address, kind == Kind::kDevice ? "host" : "device");
    }
    All().kinds.erase(found);
    std::free(address);
    return ACL_SUCCESS;
  });
}

int Copy(const char* function, void* dst, size_t dest_max, const void* src,
         size_t count, int kind) noexcept {
  if (dst == nullptr || src == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: %s: must not be null", function,
                dst == nullptr ? "dst" : "src");
  }
  if (dest_max < count) {
    return Fail(ACL_ERROR_INVALID_PARAM,
                "%s: destMax: must be at least count, %zu, but is %zu",
                function, count, dest_max);
  }
  if (kind < ACL_MEMCPY_HOST_TO_HOST ||
      kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: kind: must be 0 to 7, but is %d",
                function, kind);
  }
  std::memmove(dst, src, count);
  return ACL_SUCCESS;
}

int Set(const char* function, void* address, size_t max_count, int32_t value,
        size_t count) noexcept {
  if (address == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: devPtr: must not be null",
                function);
  }
  if (max_count < count) {
    return Fail(ACL_ERROR_INVALID_PARAM,
                "%s: maxCount: must be at least count, %zu, but is %zu",
                function, count, max_count);
  }
  std::memset(address, value, count);
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return Allocate("aclrtMalloc", "devPtr", devPtr, size, Kind::kDevice);
}
aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return Allocate("aclrtMallocAlign32", "devPtr", devPtr, size, Kind::kDevice);
}
aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return Allocate("aclrtMallocCached", "devPtr", devPtr, size, Kind::kDevice);
}
aclError aclrtFree(void* devPtr) {
  return Release("aclrtFree", devPtr, Kind::kDevice);
}
aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return Allocate("aclrtMallocHost", "hostPtr", hostPtr, size, Kind::kHost);
}
aclError aclrtFreeHost(void* hostPtr) {
  return Release("aclrtFreeHost", hostPtr, Kind::kHost);
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return Copy("aclrtMemcpy", dst, destMax, src, count, kind);
}
aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src,
                          size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  const int status = CheckStream("aclrtMemcpyAsync", stream);
  if (status != ACL_SUCCESS) return status;
  return Copy("aclrtMemcpyAsync", dst, destMax, src, count, kind);
}
aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value,
                     size_t count) {
  return Set("aclrtMemset", devPtr, maxCount, value, count);
}
aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value,
                          size_t count, aclrtStream stream) {
  const int status = CheckStream("aclrtMemsetAsync", stream);
  if (status != ACL_SUCCESS) return status;
  return Set("aclrtMemsetAsync", devPtr, maxCount, value, count);
}

float aclFloat16ToFloat(aclFloat16 value) { return HalfToFloat(value); }

aclFloat16 aclFloatToFloat16(float value) {
  if (std::abs(value) <= 65504.0f) return FloatToHalf(value);
  return std::signbit(value) ? 0xfbff : 0x7bff;
}
