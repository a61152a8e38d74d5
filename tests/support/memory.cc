#include "support/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ropewalk::test {
namespace {

constexpr size_t kPadding = 128;
constexpr int kPaddingByte = 0xa5;

bool OnHeap(Placement placement) {
  return placement == Placement::kPadded || placement == Placement::kOdd ||
         placement == Placement::kOddByte;
}

void Require(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

}  // namespace

Memory::Memory(size_t bytes, Placement placement, size_t element_bytes)
    : size_(bytes), placement_(placement), element_bytes_(element_bytes) {
  if (OnHeap(placement)) {
    const size_t shift = placement == Placement::kOdd       ? element_bytes
                         : placement == Placement::kOddByte ? 1
                                                            : 0;
    base_size_ = (bytes + 2 * kPadding + shift + 63) / 64 * 64;
    base_ = static_cast<std::byte*>(std::aligned_alloc(64, base_size_));
    Require(base_ != nullptr, "aligned_alloc");
    std::memset(base_, kPaddingByte, base_size_);
    data_ = base_ + kPadding + shift;
  } else {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inside = (bytes + page - 1) / page * page;
    base_size_ = inside + 2 * page;
    void* map = mmap(nullptr, base_size_, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(map != MAP_FAILED, "mmap");
    base_ = static_cast<std::byte*>(map);
    if (inside > 0) {
      Require(mprotect(base_ + page, inside, PROT_READ | PROT_WRITE) == 0,
              "mprotect");
    }
    data_ = base_ + page;
    if (placement == Placement::kGuardAfter) data_ += inside - bytes;
  }
  if (bytes > 0) std::memset(data_, 0xff, bytes);
}

Memory::Memory(const Memory& other)
    : Memory(other.size_, other.placement_, other.element_bytes_) {
  if (size_ > 0) std::memcpy(data_, other.data_, size_);
}

Memory::~Memory() {
  if (OnHeap(placement_)) {
    std::free(base_);
  } else {
    munmap(base_, base_size_);
  }
}

bool Memory::PaddingIntact() const {
  if (!OnHeap(placement_)) return true;
  for (const std::byte* p = base_; p != base_ + base_size_; ++p) {
    if (p >= data_ && p < data_ + size_) continue;
    if (*p != static_cast<std::byte>(kPaddingByte)) return false;
  }
  return true;
}

}  // namespace ropewalk::test
