// Files of bare elements, whose dtype and shape are told by the user.

#ifndef ROPEWALK_IO_RAW_H_
#define ROPEWALK_IO_RAW_H_

#include <string>
#include <string_view>

#include "io/mapped_file.h"
#include "io/stored_tensor.h"
#include "ropewalk/status.h"

namespace ropewalk::io {

/// Parses "y=bf16:1,128,9,64" to a tensor without data. A shape may be empty.
Result<StoredTensor> ParseRawTensor(std::string_view text);

/// An open file of the elements of `as`, row-major, little-endian, and nothing
/// else.
class RawFile {
 public:
  /// On refusal the message starts with `path`.
  static Result<RawFile> Open(const std::string& path, const StoredTensor& as);

  const StoredTensor& tensor() const { return tensor_; }
  /// As MappedFile.
  void DropFromMemory() const noexcept { file_.DropFromMemory(); }

 private:
  MappedFile file_;
  StoredTensor tensor_;
};

}  // namespace ropewalk::io

#endif  // ROPEWALK_IO_RAW_H_
