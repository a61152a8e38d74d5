#include "io/raw.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace ropewalk::io {
namespace {

constexpr size_t kMaxSizes = 64;

bool ParseShape(std::string_view text, std::vector<int64_t>* shape) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    int64_t size = 0;
    const auto [end, error] =
        std::from_chars(one.data(), one.data() + one.size(), size);
    if (error != std::errc() || end != one.data() + one.size() || size < 0 ||
        shape->size() == kMaxSizes) {
      return false;
    }
    shape->push_back(size);
    if (comma == text.npos) return true;
    text.remove_prefix(comma + 1);
    if (text.empty()) return false;
  }
  return true;
}

}  // namespace

Result<StoredTensor> ParseRawTensor(std::string_view text) {
  const size_t equals = text.find('=');
  const size_t colon = text.find(':', equals == text.npos ? 0 : equals);
  StoredTensor tensor;
  if (equals != text.npos && colon != text.npos) {
    tensor.name = text.substr(0, equals);
    tensor.dtype = text.substr(equals + 1, colon - equals - 1);
    std::ranges::transform(tensor.dtype, tensor.dtype.begin(),
                           [](unsigned char c) { return std::toupper(c); });
    if (!tensor.name.empty() && ParseStoredDtype(tensor.dtype) &&
        ParseShape(text.substr(colon + 1), &tensor.shape)) {
      return tensor;
    }
  }
  return Status(Code::kOption,
                "must be NAME=DTYPE:SIZE,SIZE,... with a dtype of f32, f16, "
                "bf16, f64, i32 or i64, but is " +
                    Quote(text));
}

Result<RawFile> RawFile::Open(const std::string& path, const StoredTensor& as) {
  Result<MappedFile> mapped = MappedFile::Open(path);
  if (!mapped.ok()) return mapped.status();
  RawFile file;
  file.file_ = std::move(*mapped);
  file.tensor_ = as;
  const auto bytes = file.file_.bytes();
  if (ByteCount(as.shape, StoredDtypeSize(as.dtype)) != bytes.size()) {
    return Status(kFileCode, path + ": " + as.dtype + " " +
                                 ShapeText(as.shape) + " does not fit its " +
                                 std::to_string(bytes.size()) + " bytes");
  }
  file.tensor_.data = bytes.data();
  file.tensor_.bytes = bytes.size();
  return file;
}

}  // namespace ropewalk::io
