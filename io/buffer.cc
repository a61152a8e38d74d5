#include "io/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace ropewalk::io {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

// The number after `key` in a file of keys and numbers, or `otherwise`.
uint64_t Lookup(const std::string& path, std::string_view key,
                uint64_t otherwise) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (word == key) file >> otherwise;
  }
  return otherwise;
}

// What the machine, and the control group of this process, have left.
uint64_t AvailableMemory() {
  constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
  const uint64_t kib =
      Lookup("/proc/meminfo", "MemAvailable:", kNoLimit / 1024);
  std::string group = "/sys/fs/cgroup";
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::")) group += line.substr(3);
  }
  uint64_t limit = 0;  // "max", or no such file: no limit
  if (!(std::ifstream(group + "/memory.max") >> limit)) return kib * 1024;
  // Pages of files can be dropped, so they count as free.
  const uint64_t used = Lookup(group + "/memory.stat", "anon", 0);
  return std::min(kib * 1024, limit - std::min(limit, used));
}

// Asks for pages of a size, for those that lie in the buffer whole.
void Advise(void* data, size_t bytes, Pages pages) {
  if (pages == Pages::kSystem) return;
  if (std::align(kPage, kPage, data, bytes) == nullptr) return;
  const int advice = pages == Pages::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
  // A system without huge pages refuses; then all are small.
  madvise(data, bytes / kPage * kPage, advice);
}

}  // namespace

Result<Buffer> Buffer::Allocate(size_t bytes, Pages pages) {
  const uint64_t available = AvailableMemory();
  Buffer buffer;
  if (bytes <= available) {
    const bool huge = pages == Pages::kHuge && bytes >= kHugePage;
    const size_t unit = huge ? kHugePage : kAlignment;
    buffer.data_.reset(static_cast<std::byte*>(
        std::aligned_alloc(unit, (bytes / unit + 1) * unit)));
  }
  if (buffer.data_ == nullptr) {
    return Status(
        Code::kOutOfMemory,
        "memory: " + std::to_string(bytes) + " bytes are needed, but " +
            (bytes > available ? std::to_string(available) + " are free"
                               : "the system refuses them"));
  }
  buffer.size_ = bytes;
  Advise(buffer.data(), bytes, pages);
  // Touched, so that it counts when the next one asks what is free.
  for (size_t i = 0; i < bytes; i += kPage) buffer.data()[i] = std::byte{0};
  return buffer;
}

}  // namespace ropewalk::io
