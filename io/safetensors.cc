#include "io/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "io/output_file.h"
#include "io/strict_json.h"

namespace ropewalk::io {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr size_t kMaxDepth = 3;                    // header, tensor, shape
constexpr size_t kHeaderAlignment = 64;
constexpr char kMetadataKey[] = "__metadata__";

struct Entry {
  StoredTensor tensor;
  uint64_t begin = 0;
  uint64_t end = 0;
};

std::string_view HeaderText(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    throw FormatError(
        "header: 8 bytes of length are needed, but the file has " +
        std::to_string(file.size()) + " bytes");
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  const uint64_t limit =
      std::min<uint64_t>(kMaxHeaderBytes, file.size() - kLengthBytes);
  if (length > limit) {
    throw FormatError("header: its length must be at most " +
                      std::to_string(limit) + " in this file, but is " +
                      std::to_string(length));
  }
  return {reinterpret_cast<const char*>(file.data()) + kLengthBytes, length};
}

const json& Field(const std::string& name, const json& entry, const char* key,
                  json::value_t type) {
  if (!entry.is_object() || !entry.contains(key) || entry[key].type() != type) {
    throw FormatError("tensor " + Quote(name) + ": " + key +
                      " is missing or of the wrong type");
  }
  return entry[key];
}

uint64_t Count(const std::string& name, const json& value, const char* key) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > INT64_MAX) {
    throw FormatError("tensor " + Quote(name) + ": " + key +
                      " must hold whole numbers from 0 to 2^63 - 1, but has " +
                      value.dump());
  }
  return value.get<uint64_t>();
}

Entry ParseEntry(const std::string& name, const json& value, size_t data_size) {
  Entry entry;
  StoredTensor& tensor = entry.tensor;
  tensor.name = name;
  tensor.dtype =
      Field(name, value, "dtype", json::value_t::string).get<std::string>();
  for (const json& size : Field(name, value, "shape", json::value_t::array)) {
    tensor.shape.push_back(static_cast<int64_t>(Count(name, size, "shape")));
  }
  const json& offsets =
      Field(name, value, "data_offsets", json::value_t::array);
  if (offsets.size() != 2) {
    throw FormatError("tensor " + Quote(name) +
                      ": data_offsets must be 2 numbers, but are " +
                      std::to_string(offsets.size()));
  }
  entry.begin = Count(name, offsets[0], "data_offsets");
  entry.end = Count(name, offsets[1], "data_offsets");
  if (entry.begin > entry.end || entry.end > data_size) {
    throw FormatError("tensor " + Quote(name) +
                      ": data_offsets must ascend within the file's " +
                      std::to_string(data_size) + " bytes of data, but are " +
                      offsets.dump());
  }
  tensor.bytes = entry.end - entry.begin;
  const size_t element_size = StoredDtypeSize(tensor.dtype);
  if (element_size == 0) return entry;  // an unknown dtype is only listed
  const std::optional<size_t> need = ByteCount(tensor.shape, element_size);
  if (need != tensor.bytes) {
    throw FormatError("tensor " + Quote(name) + ": " + tensor.dtype + " " +
                      ShapeText(tensor.shape) + " needs " +
                      (need ? std::to_string(*need) : "more than 2^63") +
                      " bytes, but data_offsets give " +
                      std::to_string(tensor.bytes));
  }
  return entry;
}

// The format's rule: the bytes of the tensors follow each other, without gaps.
void CheckCovered(const std::vector<Entry>& entries, size_t data_size) {
  uint64_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != end) {
      throw FormatError("tensor " + Quote(entry.tensor.name) +
                        ": data_offsets must begin at " + std::to_string(end) +
                        ", where the one before ends, but begin at " +
                        std::to_string(entry.begin));
    }
    end = entry.end;
  }
  if (end != data_size) {
    throw FormatError("data: the tensors have " + std::to_string(end) +
                      " bytes, but the file has " + std::to_string(data_size) +
                      " after the header");
  }
}

Metadata ParseMetadata(const json& value) {
  Metadata metadata;
  if (!value.is_object()) throw FormatError("__metadata__: must be an object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      throw FormatError("__metadata__: " + Quote(key) + " must be a string");
    }
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

}  // namespace

void SafetensorsFile::Parse() {
  const std::string_view text = HeaderText(file_.bytes());
  const auto data = file_.bytes().subspan(kLengthBytes + text.size());
  if (!text.starts_with('{')) throw FormatError("header: must start with {");
  const json header = ParseStrictJson(text, kMaxDepth);
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadataKey) {
      metadata_ = ParseMetadata(value);
    } else {
      entries.push_back(ParseEntry(name, value, data.size()));
    }
  }
  std::ranges::stable_sort(entries, {}, [](const Entry& entry) {
    return std::tuple(entry.begin, entry.end);
  });
  CheckCovered(entries, data.size());
  for (Entry& entry : entries) {
    const auto aligned =
        file_.Aligned(data.subspan(entry.begin, entry.tensor.bytes),
                      StoredDtypeSize(entry.tensor.dtype));
    if (!aligned.ok()) throw MemoryError(aligned.status().message());
    entry.tensor.data = *aligned;
    index_[entry.tensor.name] = tensors_.size();
    tensors_.push_back(std::move(entry.tensor));
  }
}

Result<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  Result<MappedFile> mapped = MappedFile::Open(path);
  if (!mapped.ok()) return mapped.status();
  SafetensorsFile file;
  file.file_ = std::move(*mapped);
  try {
    file.Parse();
  } catch (const std::bad_alloc&) {
    return Status(Code::kOutOfMemory, path + ": not enough memory to read it");
  } catch (const MemoryError& error) {
    return Status(Code::kOutOfMemory, path + ": " + error.what());
  } catch (const FormatError& error) {
    return Status(kFileCode, path + ": " + error.what());
  }
  return file;
}

const StoredTensor* SafetensorsFile::Find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

namespace {

std::string MakeHeader(std::span<const StoredTensor* const> tensors,
                       const Metadata& metadata) {
  json header = json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  size_t begin = 0;
  for (const StoredTensor* tensor : tensors) {
    const size_t element_size = StoredDtypeSize(tensor->dtype);
    if (tensor->name == kMetadataKey || header.contains(tensor->name)) {
      throw FormatError("the name " + Quote(tensor->name) + " stands twice");
    }
    if (element_size == 0 || tensor->column_major ||
        ByteCount(tensor->shape, element_size) != tensor->bytes) {
      throw FormatError("tensor " + Quote(tensor->name) +
                        ": must be contiguous, with a known dtype and as many "
                        "bytes as its shape says");
    }
    header[tensor->name] = {{"dtype", tensor->dtype},
                            {"shape", tensor->shape},
                            {"data_offsets", {begin, begin + tensor->bytes}}};
    begin += tensor->bytes;
  }
  std::string text = header.dump();
  text.resize((kLengthBytes + text.size() + kHeaderAlignment - 1) /
                      kHeaderAlignment * kHeaderAlignment -
                  kLengthBytes,
              ' ');
  return text;
}

}  // namespace

Status WriteSafetensors(const std::string& path,
                        std::span<const StoredTensor> tensors,
                        const Metadata& metadata, const OnBytes& on_bytes) {
  std::vector<const StoredTensor*> order;
  for (const StoredTensor& tensor : tensors) order.push_back(&tensor);
  std::ranges::stable_sort(order, std::greater{}, [](const auto* tensor) {
    return StoredDtypeSize(tensor->dtype);
  });
  std::string header;
  try {
    header = MakeHeader(order, metadata);
  } catch (const std::exception& error) {
    return Status(kFileCode, path + ": " + error.what());
  }
  Result<OutputFile> file = OutputFile::Create(path);
  if (!file.ok()) return file.status();
  const uint64_t length = header.size();
  Status status = file->Write(&length, kLengthBytes);
  if (status.ok()) status = file->Write(header.data(), header.size());
  for (const StoredTensor* tensor : order) {
    if (status.ok()) {
      status = file->Write(tensor->data, tensor->bytes, on_bytes);
    }
  }
  return status.ok() ? file->Commit() : status;
}

}  // namespace ropewalk::io
