#include "io/npy.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "io/output_file.h"
#include "io/strict_json.h"

namespace ropewalk::io {
namespace {

using nlohmann::json;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kVersionBytes = 2;
constexpr size_t kMaxHeaderBytes = 65536;  // plain arrays need far less
constexpr size_t kHeaderAlignment = 64;
constexpr size_t kMaxDepth = 4;  // of a structured dtype with shapes

struct DescrRow {
  std::string_view descr;
  std::string_view dtype;
};

// A dtype is written as its first row says.
constexpr DescrRow kDescrs[] = {
    {"<f4", "F32"},  {"<f2", "F16"}, {"<V2", "BF16"},
    {"|V2", "BF16"}, {"V2", "BF16"}, {"<u2", "BF16"},
    {"<f8", "F64"},  {"<i4", "I32"}, {"<i8", "I64"},
};

// The header is a Python literal; this makes JSON of it.
std::string JsonOf(std::string_view literal) {
  // JSON has no comma after the last item.
  const auto is_last = [literal](size_t comma) {
    const size_t next = literal.find_first_not_of(" \n", comma + 1);
    return next != literal.npos &&
           (literal[next] == ')' || literal[next] == '}');
  };
  std::string text;
  for (size_t i = 0; i < literal.size(); ++i) {
    const char c = literal[i];
    if (c == '\'') {
      text += '"';
    } else if (c == '(') {
      text += '[';
    } else if (c == ')') {
      text += ']';
    } else if (c == 'T' || c == 'F') {  // True, False
      text += static_cast<char>(std::tolower(c));
    } else if (c != ',' || !is_last(i)) {
      text += c;
    }
  }
  return text;
}

// The literal, and in `data` what follows it.
std::string_view HeaderText(std::span<const std::byte> file,
                            std::span<const std::byte>* data) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              file.size());
  const size_t start = kMagic.size() + kVersionBytes;
  if (text.size() < start || !text.starts_with(kMagic)) {
    throw FormatError("must be a .npy file, but does not start like one");
  }
  const auto version = static_cast<unsigned char>(text[kMagic.size()]);
  if (version < 1 || version > 3) {
    throw FormatError("format version must be 1, 2 or 3, but is " +
                      std::to_string(version));
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (text.size() < start + length_bytes) {
    throw FormatError("header: the file ends within its length");
  }
  uint32_t length = 0;
  std::memcpy(&length, text.data() + start, length_bytes);
  const size_t left = text.size() - start - length_bytes;
  if (length > std::min(left, kMaxHeaderBytes)) {
    throw FormatError("header: its length must be at most " +
                      std::to_string(std::min(left, kMaxHeaderBytes)) +
                      " in this file, but is " + std::to_string(length));
  }
  *data = file.subspan(start + length_bytes + length);
  return text.substr(start + length_bytes, length);
}

const json& Field(const json& header, const char* key, json::value_t type) {
  if (!header.is_object() || !header.contains(key) ||
      header[key].type() != type) {
    throw FormatError(std::string("header: ") + key +
                      " is missing or of the wrong type");
  }
  return header[key];
}

std::string_view DtypeOf(const std::string& descr) {
  const auto* row = std::ranges::find(kDescrs, descr, &DescrRow::descr);
  if (row != std::end(kDescrs)) return row->dtype;
  throw FormatError(
      "descr must be <f4, <f2, <f8, <i4, <i8, or V2 or <u2 for bfloat16, but "
      "is " +
      descr + (descr.starts_with('>') ? " (big-endian)" : ""));
}

std::string_view DescrOf(std::string_view dtype) {
  const auto* row = std::ranges::find(kDescrs, dtype, &DescrRow::dtype);
  return row == std::end(kDescrs) ? std::string_view() : row->descr;
}

}  // namespace

void NpyFile::Parse() {
  std::span<const std::byte> data;
  const std::string_view text = HeaderText(file_.bytes(), &data);
  const json header = ParseStrictJson(JsonOf(text), kMaxDepth);
  tensor_.dtype = DtypeOf(Field(header, "descr", json::value_t::string));
  tensor_.column_major =
      Field(header, "fortran_order", json::value_t::boolean).get<bool>();
  for (const json& size : Field(header, "shape", json::value_t::array)) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > INT64_MAX) {
      throw FormatError("header: shape must hold whole numbers, but has " +
                        size.dump());
    }
    tensor_.shape.push_back(size.get<int64_t>());
  }
  const size_t element_size = StoredDtypeSize(tensor_.dtype);
  if (ByteCount(tensor_.shape, element_size) != data.size()) {
    throw FormatError(tensor_.dtype + " " + ShapeText(tensor_.shape) +
                      " does not fit the " + std::to_string(data.size()) +
                      " bytes of data");
  }
  const auto aligned = file_.Aligned(data, element_size);
  if (!aligned.ok()) throw MemoryError(aligned.status().message());
  tensor_.data = *aligned;
  tensor_.bytes = data.size();
}

Result<NpyFile> NpyFile::Open(const std::string& path, std::string name) {
  Result<MappedFile> mapped = MappedFile::Open(path);
  if (!mapped.ok()) return mapped.status();
  NpyFile file;
  file.file_ = std::move(*mapped);
  file.tensor_.name = std::move(name);
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

namespace {

Status WriteOne(OutputFile& file, const StoredTensor& tensor,
                const OnBytes& on_bytes) {
  const std::string_view descr = DescrOf(tensor.dtype);
  if (descr.empty() || tensor.column_major) {
    return Status(Code::kDtype, tensor.name + ": dtype " + tensor.dtype +
                                    " cannot be written as .npy");
  }
  std::string shape;
  for (int64_t size : tensor.shape) shape += std::to_string(size) + ", ";
  std::string text = "{'descr': '" + std::string(descr) +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const size_t start = kMagic.size() + kVersionBytes + sizeof(uint16_t);
  const size_t end = (start + text.size() + kHeaderAlignment) /
                     kHeaderAlignment * kHeaderAlignment;
  text.resize(end - start - 1, ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  std::string header = std::string(kMagic) + '\x01' + '\x00';
  header.append(reinterpret_cast<const char*>(&length), sizeof(length));
  header += text;
  Status status = file.Write(header.data(), header.size());
  if (!status.ok()) return status;
  return file.Write(tensor.data, tensor.bytes, on_bytes);
}

}  // namespace

Status WriteNpyFiles(std::span<const std::string> paths,
                     std::span<const StoredTensor> tensors,
                     const OnBytes& on_bytes) {
  std::vector<OutputFile> files;
  for (size_t i = 0; i < paths.size(); ++i) {
    Result<OutputFile> file = OutputFile::Create(paths[i]);
    if (!file.ok()) return file.status();
    files.push_back(std::move(*file));
    const Status status = WriteOne(files.back(), tensors[i], on_bytes);
    if (!status.ok()) return status;
  }
  for (OutputFile& file : files) {
    const Status status = file.Commit();
    if (!status.ok()) return status;
  }
  return Status();
}

}  // namespace ropewalk::io
