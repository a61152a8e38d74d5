#include "io/buffer.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace ropewalk::io {
namespace {

constexpr size_t kAlignment = 64;

// MemAvailable of the machine or the limit of the control group.
uint64_t AvailableMemory() {
  uint64_t available = std::numeric_limits<uint64_t>::max();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key;) {
    uint64_t kib = 0;
    if (key == "MemAvailable:" && meminfo >> kib) available = kib * 1024;
  }
  std::ifstream cgroup("/sys/fs/cgroup/memory.max");
  uint64_t limit = 0;  // "max" fails to read: no limit
  if (cgroup >> limit) available = std::min(available, limit);
  return available;
}

}  // namespace

Result<Buffer> Buffer::Allocate(size_t bytes) {
  const uint64_t available = AvailableMemory();
  Buffer buffer;
  if (bytes <= available &&
      bytes < std::numeric_limits<size_t>::max() - kAlignment) {
    const size_t lines = std::max<size_t>(1, (bytes + kAlignment - 1) / 64);
    buffer.data_.reset(static_cast<std::byte*>(
        std::aligned_alloc(kAlignment, lines * kAlignment)));
  }
  if (buffer.data_ == nullptr) {
    return Status(Code::kOutOfMemory, "memory: " + std::to_string(bytes) +
                                          " bytes are needed, but at most " +
                                          std::to_string(available) +
                                          " are free");
  }
  buffer.size_ = bytes;
  return buffer;
}

}  // namespace ropewalk::io
