// Memory for tensors: aligned, and refused rather than promised and missing.

#ifndef ROPEWALK_IO_BUFFER_H_
#define ROPEWALK_IO_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "ropewalk/status.h"

namespace ropewalk::io {

/// Sizes of the pages that a buffer lies on.
enum class Pages : uint8_t {
  kSystem,  ///< as the system is set up
  kSmall,   ///< ordinary ones only
  kHuge,    ///< huge ones where the system has them to give
};

/// Bytes at a 64-byte boundary, not initialised. Movable; data() is never null
/// but in a default or moved-from buffer.
class Buffer {
 public:
  Buffer() = default;

  /// Refuses (Code::kOutOfMemory) more than the machine has free: Linux would
  /// grant it, and end the process at the first use.
  static Result<Buffer> Allocate(size_t bytes, Pages pages = Pages::kSystem);

  std::byte* data() const noexcept { return data_.get(); }
  size_t size() const noexcept { return size_; }
  std::span<std::byte> bytes() const noexcept { return {data(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept { std::free(data); }
  };

  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

}  // namespace ropewalk::io

#endif  // ROPEWALK_IO_BUFFER_H_
