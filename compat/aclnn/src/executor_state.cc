#include "executor_state.h"

namespace ropewalk_aclnn {
namespace {

using Slot = ExecutorTable::Slot;

constexpr uint64_t kLive = ExecutorTable::kLive;
constexpr uint64_t kRepeatable = 2;
constexpr uint64_t kUsed = 4;  // by a run of one that is not repeatable
constexpr uint64_t kDestroyed = 8;
constexpr uint64_t kUser = 16;
constexpr uint64_t kUsers = 0xfffffff0;

bool Usable(uint64_t state, uint64_t handle) noexcept {
  return ExecutorTable::Matches(state, handle) &&
         (state & (kLive | kUsed | kDestroyed)) == kLive;
}

// Changes the state to what `change` makes of it while the executor is usable.
// The new state, or 0.
template <class Change>
uint64_t Update(Slot* slot, uint64_t handle, Change change) noexcept {
  uint64_t state = slot->state.load(std::memory_order_relaxed);
  uint64_t next;
  do {
    if (!Usable(state, handle)) return 0;
    next = change(state);
  } while (!slot->state.compare_exchange_weak(state, next,
                                              std::memory_order_acq_rel));
  return next;
}

void Retire(Slot* slot) noexcept {
  slot->state.fetch_and(~uint64_t{0xffffffff}, std::memory_order_acq_rel);
  all_executors.Recycle(slot);
}

// Takes `taken` from the state and retires where nobody needs the executor.
void Leave(Slot* slot, uint64_t taken) noexcept {
  const uint64_t state =
      slot->state.fetch_sub(taken, std::memory_order_acq_rel) - taken;
  if ((state & kUsers) == 0 && (state & (kUsed | kDestroyed)) != 0) {
    Retire(slot);
  }
}

}  // namespace

Slot* Acquire(const aclOpExecutor* executor) noexcept {
  const uint64_t handle = ToHandle(executor);
  Slot* slot = all_executors.Find(handle);
  if (slot == nullptr) return nullptr;
  const uint64_t state = Update(slot, handle, [](uint64_t now) {
    return (now + kUser) | ((now & kRepeatable) != 0 ? 0 : kUsed);
  });
  return state != 0 ? slot : nullptr;
}

void Release(Slot* slot) noexcept { Leave(slot, kUser); }

void PutBack(Slot* slot) noexcept {
  const uint64_t state = slot->state.load(std::memory_order_relaxed);
  Leave(slot, kUser + (state & kUsed));
}

Slot* Borrow(const aclOpExecutor* executor) noexcept {
  const uint64_t handle = ToHandle(executor);
  Slot* slot = all_executors.Find(handle);
  if (slot == nullptr) return nullptr;
  const uint64_t state =
      Update(slot, handle, [](uint64_t now) { return now + kUser; });
  return state != 0 ? slot : nullptr;
}

bool SetRepeatable(const aclOpExecutor* executor) noexcept {
  const uint64_t handle = ToHandle(executor);
  Slot* slot = all_executors.Find(handle);
  return slot != nullptr && Update(slot, handle, [](uint64_t now) {
                              return now | kRepeatable;
                            }) != 0;
}

bool Destroy(const aclOpExecutor* executor) noexcept {
  const uint64_t handle = ToHandle(executor);
  Slot* slot = all_executors.Find(handle);
  if (slot == nullptr) return false;
  const uint64_t state =
      Update(slot, handle, [](uint64_t now) { return now | kDestroyed; });
  if (state == 0) return false;
  if ((state & kUsers) == 0) Retire(slot);
  return true;
}

}  // namespace ropewalk_aclnn
