#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "io/stored_tensor.h"

namespace ropewalk::io {
namespace {

Status Refuse(const std::string& path, const char* what, int error) {
  return Status(
      error == ENOMEM ? Code::kOutOfMemory : kFileCode,
      path + ": " + what + ": " + std::generic_category().message(error));
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK: a pipe without a writer is refused, not waited for.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Refuse(path, "cannot open", errno);
  const std::unique_ptr<const int, void (*)(const int*)> closer(
      &fd, [](const int* file) { close(*file); });
  struct stat status {};
  if (fstat(fd, &status) != 0) return Refuse(path, "cannot read", errno);
  if (!S_ISREG(status.st_mode)) {
    return Status(
        kFileCode,
        path + ": must be a regular file, but is a " +
            (S_ISDIR(status.st_mode) ? "folder" : "pipe, socket or device"));
  }
  MappedFile file;
  file.size_ = static_cast<size_t>(status.st_size);
  if (file.size_ == 0) return file;  // mmap refuses a length of 0
  void* data = mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return Refuse(path, "cannot map", errno);
  file.data_ = std::shared_ptr<const std::byte>(
      static_cast<const std::byte*>(data), [size = file.size_](const auto* p) {
        munmap(const_cast<std::byte*>(p), size);
      });
  return file;
}

Result<const void*> MappedFile::Aligned(std::span<const std::byte> part,
                                        size_t element_size) {
  if (element_size == 0 ||
      reinterpret_cast<uintptr_t>(part.data()) % element_size == 0) {
    return part.data();
  }
  Result<Buffer> copy = Buffer::Allocate(part.size());
  if (!copy.ok()) return copy.status();
  std::ranges::copy(part, copy->data());
  copies_.push_back(std::move(*copy));
  return copies_.back().data();
}

void MappedFile::DropFromMemory() const noexcept {
  if (size_ == 0) return;
  // A hint: without it the pages stay, and nothing else changes.
  (void)madvise(const_cast<std::byte*>(data_.get()), size_, MADV_DONTNEED);
}

}  // namespace ropewalk::io
