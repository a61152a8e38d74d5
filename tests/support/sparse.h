// Address space that is only memory where it is written.

#ifndef ROPEWALK_TESTS_SUPPORT_SPARSE_H_
#define ROPEWALK_TESTS_SUPPORT_SPARSE_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace ropewalk::test {

/// Reads as zeros.
class SparseMemory {
 public:
  explicit SparseMemory(size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ != MAP_FAILED) return;
    std::perror("mmap");
    std::abort();
  }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  ~SparseMemory() { munmap(data_, bytes_); }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  size_t size() const { return bytes_; }

 private:
  size_t bytes_;
  void* data_;
};

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_SPARSE_H_
