// A file that appears only when it is complete.

#ifndef ROPEWALK_IO_OUTPUT_FILE_H_
#define ROPEWALK_IO_OUTPUT_FILE_H_

#include <cstddef>
#include <string>

#include "io/stored_tensor.h"
#include "ropewalk/status.h"

namespace ropewalk::io {

/// Written beside its target and renamed over it by Commit(). Without Commit()
/// the target keeps its content and nothing is left behind. A target that is a
/// pipe or a device is written directly.
class OutputFile {
 public:
  static Result<OutputFile> Create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Status Write(const void* data, size_t bytes, const OnBytes& on_bytes = {});
  Status Commit();

 private:
  OutputFile() = default;
  Status Refuse(const char* what, int error) const;

  int fd_ = -1;
  std::string path_;       // as given
  std::string target_;     // links resolved
  std::string temporary_;  // empty when written directly, or renamed
};

}  // namespace ropewalk::io

#endif  // ROPEWALK_IO_OUTPUT_FILE_H_
