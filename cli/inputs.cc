#include "cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace ropewalk::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kListed = 8;  // names in a message
constexpr char kRawSuffix[] = ".bin";

}  // namespace

Inputs::Inputs(std::string command, const std::vector<std::string>& sources,
               const std::string& prefix, const std::vector<std::string>& raws)
    : command_(std::move(command)),
      prefix_(prefix.empty() ? "" : prefix + ".") {
  for (const std::string& raw : raws) {
    const Result<io::StoredTensor> tensor = io::ParseRawTensor(raw);
    if (!tensor.ok()) {
      Keep(Status(Code::kOption, "--raw " + tensor.status().message()));
      return;
    }
    raws_.push_back(*tensor);
  }
  for (const std::string& source : sources) Add(source);
}

void Inputs::Add(const std::string& source) {
  std::error_code error;
  if (fs::is_directory(source, error)) {
    AddFolder(source);
  } else if (fs::path(source).extension() == ".npy") {
    const size_t equals = source.find('=');
    const bool named = equals != source.npos && !fs::exists(source, error);
    const std::string path = named ? source.substr(equals + 1) : source;
    const std::string name = named ? prefix_ + source.substr(0, equals)
                                   : fs::path(path).stem().string();
    if (!fs::exists(path, error)) {
      Keep(Status(io::kFileCode, path + ": no such file"));
    }
    sources_.push_back({source, Paths{{name, path}}});
  } else {
    Result<io::SafetensorsFile> file = io::SafetensorsFile::Open(source);
    if (!file.ok()) return Keep(file.status());
    sources_.push_back({source, std::move(*file)});
  }
}

void Inputs::AddFolder(const std::string& source) {
  std::error_code error;
  Paths paths;
  for (const auto& entry : fs::directory_iterator(source, error)) {
    const std::string name = entry.path().stem().string();
    const bool raw =
        entry.path().extension() == kRawSuffix &&
        std::ranges::find(raws_, name, &io::StoredTensor::name) != raws_.end();
    if (raw || (entry.path().extension() == ".npy" && !paths.contains(name))) {
      paths[name] = entry.path().string();
    }
  }
  if (error) Keep(Status(io::kFileCode, source + ": " + error.message()));
  sources_.push_back({source, std::move(paths)});
}

// The file's one tensor; null, and an error, if it cannot be read.
const io::StoredTensor* Inputs::Open(const std::string& path,
                                     const std::string& full_name) {
  const auto keep_open = [&](auto& files, auto file) {
    if (file.ok()) {
      const auto added = files.emplace(path, std::move(*file));
      return &added.first->second.tensor();
    }
    Keep(file.status());
    return static_cast<const io::StoredTensor*>(nullptr);
  };
  if (fs::path(path).extension() == kRawSuffix) {
    const auto open = raw_files_.find(path);
    if (open != raw_files_.end()) return &open->second.tensor();
    const auto raw =
        std::ranges::find(raws_, full_name, &io::StoredTensor::name);
    return keep_open(raw_files_, io::RawFile::Open(path, *raw));
  }
  const auto open = npy_files_.find(path);
  if (open != npy_files_.end()) return &open->second.tensor();
  return keep_open(npy_files_, io::NpyFile::Open(path, full_name));
}

const io::StoredTensor* Inputs::Look(const std::string& full_name) {
  for (auto source = sources_.rbegin(); source != sources_.rend(); ++source) {
    if (const auto* file = std::get_if<io::SafetensorsFile>(&source->content)) {
      if (const auto* tensor = file->Find(full_name)) return tensor;
      continue;
    }
    const auto& paths = std::get<Paths>(source->content);
    const auto path = paths.find(full_name);
    if (path == paths.end()) continue;
    return Open(path->second, full_name);
  }
  return nullptr;
}

std::optional<ConstTensor> Inputs::Find(const std::string& name) {
  if (!status_.ok()) return std::nullopt;
  const io::StoredTensor* tensor = Look(prefix_ + name);
  if (tensor == nullptr) return std::nullopt;
  const Result<TensorDesc> desc = io::Describe(*tensor);
  if (!desc.ok()) {
    Keep(desc.status());
    return std::nullopt;
  }
  return ConstTensor{*desc, tensor->data};
}

ConstTensor Inputs::Need(const std::string& name) {
  const std::optional<ConstTensor> found = Find(name);
  if (!found && status_.ok()) {
    Keep(Status(io::kFileCode,
                fmt::format("{}: a tensor named {} is needed, but the input "
                            "has {}",
                            name, io::Quote(prefix_ + name), Listing())));
  }
  return found.value_or(ConstTensor{});
}

void Inputs::DropFromMemory() const {
  for (const Source& source : sources_) {
    if (const auto* file = std::get_if<io::SafetensorsFile>(&source.content)) {
      file->DropFromMemory();
    }
  }
  for (const auto& [path, file] : npy_files_) file.DropFromMemory();
  for (const auto& [path, file] : raw_files_) file.DropFromMemory();
}

std::string Inputs::Listing() const {
  std::vector<std::string> names;
  for (const Source& source : sources_) {
    if (const auto* file = std::get_if<io::SafetensorsFile>(&source.content)) {
      for (const auto& tensor : file->tensors()) names.push_back(tensor.name);
    } else {
      for (const auto& [name, path] : std::get<Paths>(source.content)) {
        names.push_back(name);
      }
    }
  }
  if (names.empty()) return "none";
  std::ranges::sort(names);
  const size_t shown = std::min(names.size(), kListed);
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : ", ") + io::Quote(names[i]);
  }
  if (names.size() > shown) {
    text += fmt::format(" and {} more", names.size() - shown);
  }
  return text;
}

void Inputs::Keep(const Status& status) {
  if (!status_.ok()) return;
  status_ =
      Status(status.code(), fmt::format("[{}] {}", command_, status.message()));
}

}  // namespace ropewalk::cli
