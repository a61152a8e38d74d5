// Streams and events.

#include "streams.h"

#include <chrono>

#include "acl/acl_rt.h"
#include "error.h"
#include "handle_table.h"

namespace ropewalk_aclnn {
namespace {

using Clock = std::chrono::steady_clock;

struct Stream {};
struct Event {
  std::atomic<int64_t> nanoseconds{kNever};
  static constexpr int64_t kNever = INT64_MIN;
  Event() = default;
  Event& operator=(Event&& other) noexcept {
    nanoseconds.store(other.nanoseconds.load());
    return *this;
  }
  Event(Event&& other) noexcept { *this = std::move(other); }
};

constinit HandleTable<Stream> all_streams(8);
constinit HandleTable<Event> all_events(9);

template <class Table>
int Destroy(const char* function, Table& table, void* handle) noexcept {
  if (handle == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: the handle must not be null",
                function);
  }
  if (table.Destroy(ToHandle(handle))) return ACL_SUCCESS;
  return Fail(ACL_ERROR_INVALID_RESOURCE_HANDLE,
              "%s: %p is destroyed, or was never created", function, handle);
}

template <class Table>
int Create(const char* function, Table& table, void** handle) noexcept {
  if (handle == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: the pointer must not be null",
                function);
  }
  const uint64_t made = table.Create({});
  if (made == 0) return Fail(ACL_ERROR_BAD_ALLOC, "%s: no memory", function);
  *handle = ToOpaque<void*>(made);
  return ACL_SUCCESS;
}

// The event, or null and a refusal.
Event* FindEvent(const char* function, aclrtEvent event, int* status) noexcept {
  if (event == nullptr) {
    *status =
        Fail(ACL_ERROR_INVALID_PARAM, "%s: event: must not be null", function);
    return nullptr;
  }
  auto* slot = all_events.Find(ToHandle(event));
  if (slot != nullptr) return &slot->value;
  *status =
      Fail(ACL_ERROR_INVALID_RESOURCE_HANDLE,
           "%s: event: %p is destroyed, or was never created", function, event);
  return nullptr;
}

}  // namespace

bool IsStream(aclrtStream stream) noexcept {
  return stream == nullptr || all_streams.Find(ToHandle(stream)) != nullptr;
}

int CheckStream(const char* function, aclrtStream stream) noexcept {
  if (IsStream(stream)) return ACL_SUCCESS;
  return Fail(ACL_ERROR_INVALID_RESOURCE_HANDLE,
              "%s: stream: %p is destroyed, or was never created", function,
              stream);
}

}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclError aclrtCreateStream(aclrtStream* stream) {
  return Create("aclrtCreateStream", all_streams, stream);
}
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  return Create("aclrtCreateStreamWithConfig", all_streams, stream);
}
aclError aclrtDestroyStream(aclrtStream stream) {
  return Destroy("aclrtDestroyStream", all_streams, stream);
}
aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return Destroy("aclrtDestroyStreamForce", all_streams, stream);
}
aclError aclrtSynchronizeStream(aclrtStream stream) {
  return CheckStream("aclrtSynchronizeStream", stream);
}

aclError aclrtCreateEvent(aclrtEvent* event) {
  return Create("aclrtCreateEvent", all_events, event);
}
aclError aclrtDestroyEvent(aclrtEvent event) {
  return Destroy("aclrtDestroyEvent", all_events, event);
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  int status = CheckStream("aclrtRecordEvent", stream);
  if (status != ACL_SUCCESS) return status;
  Event* found = FindEvent("aclrtRecordEvent", event, &status);
  if (found == nullptr) return status;
  found->nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(
                           Clock::now().time_since_epoch())
                           .count();
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  int status = ACL_SUCCESS;
  FindEvent("aclrtSynchronizeEvent", event, &status);
  return status;
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent,
                               aclrtEvent endEvent) {
  constexpr const char* kName = "aclrtEventElapsedTime";
  if (ms == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: ms: must not be null", kName);
  }
  int status = ACL_SUCCESS;
  const Event* start = FindEvent(kName, startEvent, &status);
  if (start == nullptr) return status;
  const Event* end = FindEvent(kName, endEvent, &status);
  if (end == nullptr) return status;
  const int64_t from = start->nanoseconds;
  const int64_t to = end->nanoseconds;
  if (from == Event::kNever || to == Event::kNever) {
    return Fail(ACL_ERROR_INVALID_PARAM, "%s: %s: was never recorded", kName,
                from == Event::kNever ? "startEvent" : "endEvent");
  }
  *ms = static_cast<float>(static_cast<double>(to - from) * 1e-6);
  return ACL_SUCCESS;
}
