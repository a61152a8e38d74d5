// Any file: it is refused with a message, or its tensors lie inside of it, and
// written again and read again they are the same.

#include <cstring>
#include <nlohmann/json.hpp>

#include "fuzz/input.h"
#include "fuzz/scratch.h"
#include "io/npy.h"
#include "io/safetensors.h"

namespace ropewalk::test {
namespace {

using io::StoredTensor;

// Reads every byte, so that a sanitizer sees it.
unsigned Touch(const StoredTensor& tensor) {
  unsigned sum = 0;
  const auto* bytes = static_cast<const unsigned char*>(tensor.data);
  for (size_t i = 0; i < tensor.bytes; ++i) sum += bytes[i];
  return sum;
}

void CheckTensor(const StoredTensor& tensor, size_t file_bytes) {
  const size_t size = io::StoredDtypeSize(tensor.dtype);
  RW_MUST(tensor.bytes <= file_bytes, tensor.name);
  // Of a dtype that is not known the bytes cannot be.
  RW_MUST(size == 0 || io::ByteCount(tensor.shape, size) == tensor.bytes,
          tensor.name);
  RW_MUST(size == 0 || reinterpret_cast<uintptr_t>(tensor.data) % size == 0 ||
              tensor.bytes == 0,
          tensor.name);
  (void)Touch(tensor);
  const Result<TensorDesc> desc = io::Describe(tensor);
  RW_MUST(desc.ok() || !desc.status().message().empty(), tensor.name);
}

void CheckSame(const StoredTensor& a, const StoredTensor& b) {
  RW_MUST(a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes &&
              (a.bytes == 0 || std::memcmp(a.data, b.data, a.bytes) == 0),
          a.name);
}

void CheckRefusal(const Status& status, const std::string& path) {
  RW_MUST(status.message().starts_with(path + ": "), status.message());
  RW_MUST(status.code() == io::kFileCode ||
              status.code() == Code::kOutOfMemory ||
              status.code() == Code::kDtype,
          status.message());
}

void TestSafetensors(const std::string& bytes) {
  const std::string path = ScratchFolder() + "/in.safetensors";
  WriteFile(path, bytes);
  const auto file = io::SafetensorsFile::Open(path);
  if (!file.ok()) return CheckRefusal(file.status(), path);
  for (const StoredTensor& tensor : file->tensors()) {
    CheckTensor(tensor, bytes.size());
    RW_MUST(file->Find(tensor.name) == &tensor, tensor.name);
  }
  for (const StoredTensor& tensor : file->tensors()) {
    if (io::StoredDtypeSize(tensor.dtype) == 0) return;  // is not written
  }
  const std::string again = ScratchFolder() + "/out.safetensors";
  const Status status =
      io::WriteSafetensors(again, file->tensors(), file->metadata());
  RW_MUST(status.ok(), status.message());
  const auto other = io::SafetensorsFile::Open(again);
  RW_MUST(other.ok(), other.status().message());
  RW_MUST(other->metadata() == file->metadata(), bytes);
  RW_MUST(other->tensors().size() == file->tensors().size(), bytes);
  for (const StoredTensor& tensor : file->tensors()) {
    const StoredTensor* same = other->Find(tensor.name);
    RW_MUST(same != nullptr, tensor.name);
    CheckSame(tensor, *same);
  }
}

void TestNpy(const std::string& bytes) {
  const std::string path = ScratchFolder() + "/in.npy";
  WriteFile(path, bytes);
  const auto file = io::NpyFile::Open(path, "x");
  if (!file.ok()) return CheckRefusal(file.status(), path);
  CheckTensor(file->tensor(), bytes.size());
  if (file->tensor().column_major) return;
  const std::string again = ScratchFolder() + "/out.npy";
  const Status status = io::WriteNpyFiles(std::vector<std::string>{again},
                                          std::vector{file->tensor()});
  RW_MUST(status.ok(), status.message());
  const auto other = io::NpyFile::Open(again, "x");
  RW_MUST(other.ok(), other.status().message());
  CheckSame(file->tensor(), other->tensor());
}

// ---- Files that are nearly right

std::string Number(Input& input) {
  switch (input.Int(0, 12)) {
    case 0:
      return std::to_string(input.Wild());
    case 1:
      return std::to_string(input.Int(0, 99)) + ".5";
    case 2:
      return "1e3";
    case 3:
      return "18446744073709551616";
    case 4:
      return "\"1\"";
    default:
      return std::to_string(input.Int(0, 5));
  }
}

void Damage(std::string& text, Input& input) {
  if (!input.OneIn(3)) return;
  for (int64_t i = input.Int(1, 3); i > 0 && !text.empty(); --i) {
    const auto at = static_cast<size_t>(
        input.Int(0, static_cast<int64_t>(text.size()) - 1));
    switch (input.Int(0, 3)) {
      case 0:
        text[at] = static_cast<char>(input.Int(0, 255));
        break;
      case 1:
        text.erase(at, static_cast<size_t>(input.Int(1, 4)));
        break;
      case 2:
        text.insert(at, text.substr(at, static_cast<size_t>(input.Int(1, 9))));
        break;
      default:
        text.resize(at);
    }
  }
}

std::string Name(Input& input) {
  static const std::vector<std::string> names = {
      "x", "cos", "sin", "", "a\\u0000b", "x", "\\ud800", "__metadata__"};
  return input.OneIn(3) ? std::string(1, static_cast<char>(input.Int(32, 126)))
                        : input.Pick(names);
}

std::string Safetensors(Input& input) {
  static const std::vector<std::string> dtypes = {
      "F32", "F16", "BF16", "F64", "I32", "I64", "U8", "BOOL", "F8_E4M3", "Q"};
  std::string header = "{";
  int64_t at = 0;
  for (int64_t i = input.Int(0, 4); i > 0; --i) {
    const std::string dtype = input.Pick(dtypes);
    std::string shape;
    int64_t bytes = static_cast<int64_t>(io::StoredDtypeSize(dtype));
    for (int64_t axis = input.Int(0, 4); axis > 0; --axis) {
      const std::string size = Number(input);
      bytes *= size.size() == 1 ? size[0] - '0' : 1;
      shape += (shape.empty() ? "" : ",") + size;
    }
    const int64_t end =
        input.OneIn(12) ? input.Wild() : at + std::min<int64_t>(bytes, 5000);
    header += (header.size() > 1 ? ",\"" : "\"") + Name(input) +
              "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(at) + "," +
              std::to_string(end) + "]}";
    at = std::clamp<int64_t>(end, 0, 20000);
  }
  if (input.OneIn(3)) {
    header += std::string(header.size() > 1 ? "," : "") +
              "\"__metadata__\":{\"" + Name(input) + "\":\"v\"}";
  }
  header += "}";
  Damage(header, input);
  const uint64_t length =
      input.OneIn(12) ? static_cast<uint64_t>(input.Wild()) : header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
  file += header + std::string(static_cast<size_t>(at), '\x3c');
  if (input.OneIn(12)) file.resize(file.size() / 2);
  return file;
}

std::string Npy(Input& input) {
  static const std::vector<std::string> descrs = {
      "<f4", "<f2", "<f8", "<i4", "<i8", "V2", "<u2", "|V2", ">f4", "O", "<c8"};
  const std::string descr = input.Pick(descrs);
  int64_t bytes = descr.back() - '0';
  std::string shape = "(";
  for (int64_t axis = input.Int(0, 4); axis > 0; --axis) {
    const std::string size = Number(input);
    bytes *= size.size() == 1 ? size[0] - '0' : 1;
    shape += size + ",";
  }
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " +
                       (input.OneIn(2) ? "False" : "True") +
                       ", 'shape': " + shape + "), }\n";
  Damage(header, input);
  const auto version = static_cast<char>(input.Int(0, input.OneIn(8) ? 9 : 3));
  uint32_t length = input.OneIn(12) ? static_cast<uint32_t>(input.Wild())
                                    : static_cast<uint32_t>(header.size());
  std::string file = std::string("\x93NUMPY") + version + '\0';
  file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  file += header;
  return file +
         std::string(static_cast<size_t>(std::clamp<int64_t>(bytes, 0, 20000)),
                     '\x3c');
}

// The first byte says what the others are: a file, or how to make one.
void TestOne(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  Input input(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      return TestSafetensors(rest);
    case 1:
      return TestNpy(rest);
    case 2:
      return TestSafetensors(Safetensors(input));
    default:
      return TestNpy(Npy(input));
  }
}

}  // namespace
}  // namespace ropewalk::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ropewalk::test::TestOne(data, size);
  return 0;
}
