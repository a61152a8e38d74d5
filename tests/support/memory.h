// Memory whose neighbourhood is watched.

#ifndef ROPEWALK_TESTS_SUPPORT_MEMORY_H_
#define ROPEWALK_TESTS_SUPPORT_MEMORY_H_

#include <cstddef>

namespace ropewalk::test {

/// Where a block lies.
enum class Placement {
  kPadded,      ///< on the heap, 64-byte aligned, padding around it
  kOdd,         ///< on the heap, at an odd multiple of the element
  kOddByte,     ///< on the heap, one byte beyond a multiple of 64
  kGuardAfter,  ///< its last byte is the last before an unmapped page
  kGuardBefore  ///< its first byte is the first after an unmapped page
};

/// A block of `bytes` bytes, all 0xff (NaN in every float dtype).
class Memory {
 public:
  Memory(size_t bytes, Placement placement, size_t element_bytes);
  Memory(const Memory& other);
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  /// False if the padding around the block has changed.
  bool PaddingIntact() const;

 private:
  size_t size_ = 0;
  Placement placement_ = Placement::kPadded;
  size_t element_bytes_ = 1;
  std::byte* base_ = nullptr;
  size_t base_size_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_MEMORY_H_
