// Files of named tensors: https://github.com/huggingface/safetensors

#ifndef ROPEWALK_IO_SAFETENSORS_H_
#define ROPEWALK_IO_SAFETENSORS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/mapped_file.h"
#include "io/stored_tensor.h"
#include "ropewalk/status.h"

namespace ropewalk::io {

using Metadata = std::map<std::string, std::string>;

/// An open file. Opening checks all of the header against the format's rules
/// (no gap, no overlap, byte counts that agree with shapes) and reads no data.
class SafetensorsFile {
 public:
  /// On refusal the message starts with `path` and names the tensor.
  static Result<SafetensorsFile> Open(const std::string& path);

  /// All tensors, in the order of their bytes.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// The tensor of that name, or null.
  const StoredTensor* Find(std::string_view name) const;
  const Metadata& metadata() const { return metadata_; }
  /// As MappedFile.
  void DropFromMemory() const noexcept { file_.DropFromMemory(); }

 private:
  void Parse();

  MappedFile file_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, size_t, std::less<>> index_;
  Metadata metadata_;
};

/// Writes contiguous tensors, those with larger elements first, so that each is
/// aligned in the file. On failure `path` keeps its content. `on_bytes` is told
/// of progress.
Status WriteSafetensors(const std::string& path,
                        std::span<const StoredTensor> tensors,
                        const Metadata& metadata = {},
                        const OnBytes& on_bytes = {});

}  // namespace ropewalk::io

#endif  // ROPEWALK_IO_SAFETENSORS_H_
