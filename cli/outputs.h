// What a command writes: all of it, at the end, or nothing.

#ifndef ROPEWALK_CLI_OUTPUTS_H_
#define ROPEWALK_CLI_OUTPUTS_H_

#include <string>
#include <vector>

#include "cli/progress.h"
#include "io/buffer.h"
#include "io/stored_tensor.h"
#include "ropewalk/status.h"
#include "ropewalk/tensor.h"

namespace ropewalk::cli {

/// Contiguous results. The first error is kept; ask for it after the Adds.
class Outputs {
 public:
  /// `path` is a .safetensors file, a folder for .npy files (it ends with a
  /// slash, or is there), or a .npy file for a single tensor. `command` starts
  /// the messages.
  Outputs(std::string command, std::string path);

  const Status& status() const { return status_; }

  /// Memory for a tensor; null after an error.
  void* Add(const std::string& name, const TensorDesc& desc);

  Status Write(Progress& progress) const;

 private:
  enum class Form { kSafetensors, kNpyFile, kNpyFolder };

  void Keep(const Status& status);
  Status WriteNpy(const io::OnBytes& on_bytes) const;

  std::string command_;
  std::string path_;
  Form form_ = Form::kSafetensors;
  std::vector<io::Buffer> buffers_;
  std::vector<io::StoredTensor> tensors_;
  Status status_;
};

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_OUTPUTS_H_
