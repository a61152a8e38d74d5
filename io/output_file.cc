#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ropewalk::io {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChunk = size_t{16} << 20;

// A name in the target's folder that no other process or thread takes.
std::string TemporaryName(const std::string& target) {
  static std::atomic<unsigned> count{0};
  const std::string name = ".ropewalk-" + std::to_string(getpid()) + "-" +
                           std::to_string(count.fetch_add(1));
  return (fs::path(target).parent_path() / name).string();
}

}  // namespace

Result<OutputFile> OutputFile::Create(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    file.fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.fd_ < 0) return file.Refuse("cannot open to write", errno);
    return file;
  }
  if (exists && access(path.c_str(), W_OK) != 0) {
    return file.Refuse("cannot be written", errno);
  }
  std::error_code error;
  file.target_ = fs::weakly_canonical(path, error).string();
  if (error) return file.Refuse("cannot be written", error.value());
  do {
    file.temporary_ = TemporaryName(file.target_);
    file.fd_ = open(file.temporary_.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file.fd_ < 0 && errno == EEXIST);
  if (file.fd_ < 0) {
    const int open_error = errno;
    file.temporary_.clear();
    return file.Refuse("cannot create a file in this folder", open_error);
  }
  if (exists && fchmod(file.fd_, status.st_mode & 07777) != 0) {
    return file.Refuse("cannot set permissions", errno);
  }
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status OutputFile::Write(const void* data, size_t bytes,
                         const OnBytes& on_bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(fd_, next, std::min(bytes, kChunk));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Refuse("cannot write", errno);
    next += written;
    bytes -= static_cast<size_t>(written);
    if (on_bytes) on_bytes(static_cast<size_t>(written));
  }
  return Status();
}

Status OutputFile::Commit() {
  if (close(std::exchange(fd_, -1)) != 0) return Refuse("cannot write", errno);
  if (temporary_.empty()) return Status();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    return Refuse("cannot rename to this name", errno);
  }
  temporary_.clear();
  return Status();
}

Status OutputFile::Refuse(const char* what, int error) const {
  return Status(kFileCode, path_ + ": " + what + ": " +
                               std::generic_category().message(error));
}

}  // namespace ropewalk::io
