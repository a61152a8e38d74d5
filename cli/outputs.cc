#include "cli/outputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "io/npy.h"
#include "io/safetensors.h"

namespace ropewalk::cli {

namespace fs = std::filesystem;

Outputs::Outputs(std::string command, std::string path)
    : command_(std::move(command)), path_(std::move(path)) {
  const fs::path file(path_);
  std::error_code error;
  if (!file.has_filename() || fs::is_directory(file, error)) {
    form_ = Form::kNpyFolder;
  } else if (file.extension() == ".npy") {
    form_ = Form::kNpyFile;
  } else if (file.has_extension() && file.extension() != ".safetensors") {
    Keep(Status(Code::kOption,
                fmt::format("--output must be a .safetensors file, a .npy file "
                            "or a folder (with / at its end), but is {}",
                            path_)));
  }
}

void* Outputs::Add(const std::string& name, const TensorDesc& desc) {
  if (form_ == Form::kNpyFile && !tensors_.empty()) {
    Keep(Status(Code::kOption,
                fmt::format("--output must be a .safetensors file or a folder "
                            "for several tensors ({}, {}), but is {}",
                            tensors_.front().name, name, path_)));
  }
  if (!status_.ok()) return nullptr;
  tensors_.push_back(io::Store(name, {desc, nullptr}));
  Result<io::Buffer> buffer = io::Buffer::Allocate(tensors_.back().bytes);
  if (!buffer.ok()) {
    Keep(Status(buffer.status().code(),
                name + ": " + buffer.status().message()));
    return nullptr;
  }
  tensors_.back().data = buffer->data();
  buffers_.push_back(std::move(*buffer));
  return buffers_.back().data();
}

Status Outputs::Write(Progress& progress) const {
  size_t bytes = 0;
  for (const io::StoredTensor& tensor : tensors_) bytes += tensor.bytes;
  progress.Start("write", bytes);
  const auto on_bytes = [&progress](size_t written) { progress.Add(written); };
  const Status status =
      form_ == Form::kSafetensors
          ? io::WriteSafetensors(path_, tensors_, {}, on_bytes)
          : WriteNpy(on_bytes);
  if (status.ok()) return status;
  return Status(status.code(),
                fmt::format("[{}] {}", command_, status.message()));
}

Status Outputs::WriteNpy(const io::OnBytes& on_bytes) const {
  std::vector<std::string> paths = {path_};
  if (form_ == Form::kNpyFolder) {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) return Status(io::kFileCode, path_ + ": " + error.message());
    paths.clear();
    for (const io::StoredTensor& tensor : tensors_) {
      paths.push_back((fs::path(path_) / (tensor.name + ".npy")).string());
    }
  }
  return io::WriteNpyFiles(paths, tensors_, on_bytes);
}

void Outputs::Keep(const Status& status) {
  if (!status_.ok()) return;
  status_ =
      Status(status.code(), fmt::format("[{}] {}", command_, status.message()));
}

}  // namespace ropewalk::cli
