// Start and end, the one device, and contexts.

#include <atomic>
#include <cstdio>
#include <mutex>

#include "acl/acl_rt.h"
#include "aclnn/aclnn_base.h"
#include "error.h"
#include "handle_table.h"
#include "profile.h"

namespace ropewalk_aclnn {
namespace {

enum class Phase : uint8_t { kNew, kInitialized, kFinalized };
std::mutex phase_mutex;
Phase phase = Phase::kNew;

struct Context {};
constinit HandleTable<Context> all_contexts(7);
// 0: the device's default context.
thread_local uint64_t current_context = 0;

// The context of threads that set none; made when first asked for.
uint64_t DefaultContext() noexcept {
  static std::atomic<uint64_t> made{0};
  uint64_t handle = made.load();
  if (all_contexts.Find(handle) != nullptr) return handle;
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  handle = made.load();
  if (all_contexts.Find(handle) != nullptr) return handle;
  handle = all_contexts.Create({});
  made.store(handle);
  return handle;
}

int CheckDevice(const char* function, int32_t device) noexcept {
  if (device == 0) return ACL_SUCCESS;
  return Fail(ACL_ERROR_INVALID_DEVICE,
              "%s: deviceId: must be 0, the only device, but is %d", function,
              static_cast<int>(device));
}

int NullPointer(const char* function, const char* argument) noexcept {
  return Fail(ACL_ERROR_INVALID_PARAM, "%s: %s: must not be null", function,
              argument);
}

int CheckOption(const char* function, int option) noexcept {
  if (option >= ACL_OPT_DETERMINISTIC &&
      option <= ACL_OPT_ENABLE_KERNEL_EARLY_START) {
    return ACL_SUCCESS;
  }
  return Fail(ACL_ERROR_INVALID_PARAM, "%s: opt: must be 0 to 3, but is %d",
              function, option);
}

int CheckContext(const char* function, aclrtContext context) noexcept {
  if (context == nullptr) return NullPointer(function, "context");
  if (all_contexts.Find(ToHandle(context)) != nullptr) return ACL_SUCCESS;
  return Fail(ACL_ERROR_INVALID_RESOURCE_HANDLE,
              "%s: context: %p is destroyed, or was never created", function,
              context);
}

bool Readable(const char* path) noexcept {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return false;
  std::fclose(file);
  return true;
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclError aclInit(const char* configPath) {
  std::lock_guard<std::mutex> lock(phase_mutex);
  if (phase == Phase::kInitialized) {
    return Fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: already initialized");
  }
  if (configPath != nullptr && *configPath != '\0' && !Readable(configPath)) {
    return Fail(ACL_ERROR_INVALID_FILE, "aclInit: configPath: cannot read %s",
                configPath);
  }
  phase = Phase::kInitialized;
  return ACL_SUCCESS;
}

aclError aclFinalize(void) {
  std::lock_guard<std::mutex> lock(phase_mutex);
  if (phase == Phase::kNew) {
    return Fail(ACL_ERROR_UNINITIALIZE, "aclFinalize: aclInit was not called");
  }
  if (phase == Phase::kFinalized) {
    return Fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize: already finalized");
  }
  phase = Phase::kFinalized;
  return ACL_SUCCESS;
}

aclnnStatus aclnnInit(const char*) { return OK; }
aclnnStatus aclnnFinalize(void) { return OK; }

const char* aclGetRecentErrMsg(void) { return LastError(); }

aclError aclrtSetDevice(int32_t deviceId) {
  const int status = CheckDevice("aclrtSetDevice", deviceId);
  if (status == ACL_SUCCESS) current_context = 0;
  return status;
}
aclError aclrtResetDevice(int32_t deviceId) {
  const int status = CheckDevice("aclrtResetDevice", deviceId);
  if (status == ACL_SUCCESS) current_context = 0;
  return status;
}
aclError aclrtGetDevice(int32_t* deviceId) {
  if (deviceId == nullptr) return NullPointer("aclrtGetDevice", "deviceId");
  *deviceId = 0;
  return ACL_SUCCESS;
}
aclError aclrtGetDeviceCount(uint32_t* count) {
  if (count == nullptr) return NullPointer("aclrtGetDeviceCount", "count");
  *count = 1;
  return ACL_SUCCESS;
}
aclError aclrtSynchronizeDevice(void) { return ACL_SUCCESS; }

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  if (runMode == nullptr) return NullPointer("aclrtGetRunMode", "runMode");
  *runMode = ACL_HOST;
  return ACL_SUCCESS;
}

const char* aclrtGetSocName(void) {
  Profile profile;
  CurrentProfile(&profile);
  return profile == Profile::k950 ? "Ascend950PR_9589" : "Ascend910B1";
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t) {
  return CheckOption("aclrtCtxSetSysParamOpt", opt);
}
aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t) {
  return CheckOption("aclrtSetSysParamOpt", opt);
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  if (context == nullptr) return NullPointer("aclrtCreateContext", "context");
  const int status = CheckDevice("aclrtCreateContext", deviceId);
  if (status != ACL_SUCCESS) return status;
  const uint64_t handle = all_contexts.Create({});
  if (handle == 0) {
    return Fail(ACL_ERROR_BAD_ALLOC, "aclrtCreateContext: no memory");
  }
  current_context = handle;
  *context = ToOpaque<aclrtContext>(handle);
  return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
  const int status = CheckContext("aclrtDestroyContext", context);
  if (status != ACL_SUCCESS) return status;
  all_contexts.Destroy(ToHandle(context));
  return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  const int status = CheckContext("aclrtSetCurrentContext", context);
  if (status == ACL_SUCCESS) current_context = ToHandle(context);
  return status;
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (context == nullptr) {
    return NullPointer("aclrtGetCurrentContext", "context");
  }
  uint64_t handle = current_context;
  if (all_contexts.Find(handle) == nullptr) handle = DefaultContext();
  if (handle == 0) {
    return Fail(ACL_ERROR_BAD_ALLOC, "aclrtGetCurrentContext: no memory");
  }
  *context = ToOpaque<aclrtContext>(handle);
  return ACL_SUCCESS;
}
