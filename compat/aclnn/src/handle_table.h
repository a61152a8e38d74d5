// Tables of the objects behind opaque handles. A handle names a slot and the
// generation of the object in it, so that the handle of an object that is gone
// is recognised and any bit pattern may be looked up. Slots are never given
// back to the system, and reused in the order in which they became free.

#ifndef ROPEWALK_COMPAT_ACLNN_HANDLE_TABLE_H_
#define ROPEWALK_COMPAT_ACLNN_HANDLE_TABLE_H_

#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

namespace ropewalk_aclnn {

template <class T>
class HandleTable {
 public:
  // Generation in the upper half of the state; below it kLive and bits that
  // belong to whoever uses the table.
  static constexpr uint64_t kLive = 1;

  struct Slot {
    std::atomic<uint64_t> state{0};
    uint32_t index = 0;
    uint32_t next_free = 0;
    T value;
  };

  // `kind` tells the tables of a program apart; 1 to 15.
  explicit constexpr HandleTable(uint64_t kind) : kind_(kind) {}

  // A slot that no handle finds yet; null when memory is short.
  Slot* Reserve() noexcept {
    std::lock_guard<std::mutex> lock(mutex_);
    if (first_free_ == 0 && !Grow()) return nullptr;
    Slot* slot = SlotAt(first_free_ - 1);
    first_free_ = slot->next_free;
    return slot;
  }

  // Makes the slot's value findable by the handle that it returns.
  uint64_t Publish(Slot* slot) noexcept {
    const uint64_t generation =
        (slot->state.load(std::memory_order_relaxed) >> 32) + 1;
    slot->state.store(generation << 32 | kLive, std::memory_order_release);
    return (generation & 0xffffffffu) << 31 | kind_ << 27 |
           uint64_t{slot->index} << 3;
  }

  // Takes back a slot that is not live.
  void Recycle(Slot* slot) noexcept {
    slot->value = T();
    std::lock_guard<std::mutex> lock(mutex_);
    slot->next_free = 0;
    if (first_free_ == 0) {
      first_free_ = slot->index + 1;
    } else {
      SlotAt(last_free_ - 1)->next_free = slot->index + 1;
    }
    last_free_ = slot->index + 1;
  }

  // 0 when memory is short.
  uint64_t Create(T value) noexcept {
    Slot* slot = Reserve();
    if (slot == nullptr) return 0;
    slot->value = std::move(value);
    return Publish(slot);
  }

  // Null if the object is gone or never was.
  Slot* Find(uint64_t handle) const noexcept {
    if (((handle >> 27) & 15) != kind_ || (handle & 7) != 0) return nullptr;
    const uint32_t index = (handle >> 3) & 0xffffff;
    Slot* chunk = chunks_[ChunkOf(index)].load(std::memory_order_acquire);
    if (chunk == nullptr) return nullptr;
    Slot* slot = chunk + (index - FirstOf(ChunkOf(index)));
    const uint64_t state = slot->state.load(std::memory_order_acquire);
    return (state & kLive) != 0 && Matches(state, handle) ? slot : nullptr;
  }

  static bool Matches(uint64_t state, uint64_t handle) noexcept {
    return (state >> 32) == (handle >> 31);
  }

  // False if the object is gone.
  bool Destroy(uint64_t handle) noexcept {
    Slot* slot = Find(handle);
    if (slot == nullptr) return false;
    uint64_t state = slot->state.load(std::memory_order_relaxed);
    if (!Matches(state, handle) || (state & kLive) == 0) return false;
    if (!slot->state.compare_exchange_strong(state, state & ~kLive)) {
      return false;
    }
    Recycle(slot);
    return true;
  }

 private:
  // Chunk k has 64 << k slots.
  static constexpr int kChunks = 18;
  static int ChunkOf(uint32_t index) noexcept {
    return std::bit_width(index / 64 + 1) - 1;
  }
  static uint32_t FirstOf(int chunk) noexcept { return (64u << chunk) - 64u; }

  Slot* SlotAt(uint32_t index) const noexcept {
    const int chunk = ChunkOf(index);
    return chunks_[chunk].load(std::memory_order_acquire) + index -
           FirstOf(chunk);
  }

  bool Grow() noexcept {
    if (used_chunks_ == kChunks) return false;
    const uint32_t count = 64u << used_chunks_;
    const uint32_t first = FirstOf(used_chunks_);
    Slot* slots = new (std::nothrow) Slot[count];
    if (slots == nullptr) return false;
    for (uint32_t i = 0; i < count; ++i) {
      slots[i].index = first + i;
      slots[i].next_free = i + 1 < count ? first + i + 2 : 0;
    }
    chunks_[used_chunks_++].store(slots, std::memory_order_release);
    first_free_ = first + 1;
    last_free_ = first + count;
    return true;
  }

  const uint64_t kind_;
  std::atomic<Slot*> chunks_[kChunks] = {};
  std::mutex mutex_;
  int used_chunks_ = 0;
  uint32_t first_free_ = 0;  // index + 1; 0: none
  uint32_t last_free_ = 0;
};

// Handles as the types that clients see.
static_assert(sizeof(void*) == 8);
template <class Opaque>
Opaque ToOpaque(uint64_t handle) noexcept {
  return reinterpret_cast<Opaque>(static_cast<uintptr_t>(handle));
}
inline uint64_t ToHandle(const void* opaque) noexcept {
  return reinterpret_cast<uintptr_t>(opaque);
}

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_HANDLE_TABLE_H_
