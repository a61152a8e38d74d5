// A file's bytes, mapped to read.

#ifndef ROPEWALK_IO_MAPPED_FILE_H_
#define ROPEWALK_IO_MAPPED_FILE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/buffer.h"
#include "ropewalk/status.h"

namespace ropewalk::io {

/// A regular file, mapped, so that a large one costs nothing until it is read.
/// Anything else (a pipe, a folder) is refused.
class MappedFile {
 public:
  static Result<MappedFile> Open(const std::string& path);

  std::span<const std::byte> bytes() const noexcept {
    return {data_.get(), size_};
  }

  /// The address of `part`, which lies in bytes(), or of a copy of it that is
  /// aligned for elements of `element_size` bytes and lives as long as this.
  Result<const void*> Aligned(std::span<const std::byte> part,
                              size_t element_size);

  /// Lets go of the pages that are in memory; they are read again when needed.
  void DropFromMemory() const noexcept;

 private:
  std::shared_ptr<const std::byte> data_;
  size_t size_ = 0;
  std::vector<Buffer> copies_;
};

}  // namespace ropewalk::io

#endif  // ROPEWALK_IO_MAPPED_FILE_H_
