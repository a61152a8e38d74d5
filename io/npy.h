// Files of one array: NumPy's .npy, little-endian, versions 1 to 3.

#ifndef ROPEWALK_IO_NPY_H_
#define ROPEWALK_IO_NPY_H_

#include <span>
#include <string>

#include "io/mapped_file.h"
#include "io/stored_tensor.h"
#include "ropewalk/status.h"

namespace ropewalk::io {

/// An open .npy file. Its dtype is one that an operator takes. NumPy has no
/// bfloat16: "<u2" and "V2" (what the package ml_dtypes writes) are read as it.
class NpyFile {
 public:
  /// `name` becomes the tensor's. On refusal the message starts with `path`.
  static Result<NpyFile> Open(const std::string& path, std::string name);

  const StoredTensor& tensor() const { return tensor_; }
  /// As MappedFile.
  void DropFromMemory() const noexcept { file_.DropFromMemory(); }

 private:
  void Parse();

  MappedFile file_;
  StoredTensor tensor_;
};

/// Writes tensors[i] to paths[i], all or none; BF16 as "<V2". On failure each
/// path keeps its content.
Status WriteNpyFiles(std::span<const std::string> paths,
                     std::span<const StoredTensor> tensors,
                     const OnBytes& on_bytes = {});

}  // namespace ropewalk::io

#endif  // ROPEWALK_IO_NPY_H_
