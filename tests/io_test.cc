// io/: files that are read right, and files that lie, each refused with what is
// wrong with it.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "io/npy.h"
#include "io/safetensors.h"
#include "io/stored_tensor.h"

namespace ropewalk::io {
namespace {

namespace fs = std::filesystem;

// A folder of its own, gone at the end.
class IoTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "ropewalk-io-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  std::string Put(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
  static std::string Slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  ptrdiff_t FilesInFolder() const {
    return std::distance(fs::directory_iterator(folder_), {});
  }

  fs::path folder_;
};
using SafetensorsTest = IoTest;
using NpyTest = IoTest;

template <class T>
std::string Bytes(T value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

// Bytes that all differ from their neighbours.
std::string Data(size_t bytes) {
  std::string data(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 37 + 11);
  return data;
}

std::string Safetensors(const std::string& header, size_t data_bytes) {
  return Bytes<uint64_t>(header.size()) + header + Data(data_bytes);
}

// {"x": an F32 of this shape at these offsets}
std::string HeaderOf(const std::string& shape, const std::string& offsets,
                     const std::string& dtype = "F32") {
  return R"({"x":{"dtype":")" + dtype + R"(","shape":)" + shape +
         R"(,"data_offsets":)" + offsets + "}}";
}

// Two F32 of two elements at these offsets.
std::string HeaderOfTwo(const std::string& first, const std::string& second) {
  return R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + first +
         R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + second + "}}";
}

std::string Npy(const std::string& literal, size_t data_bytes,
                char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  const size_t size = literal.size();
  file += version == 1 ? Bytes(static_cast<uint16_t>(size))
                       : Bytes(static_cast<uint32_t>(size));
  return file + literal + Data(data_bytes);
}

std::string LiteralOf(const std::string& descr, const std::string& shape,
                      const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran +
         ", 'shape': " + shape + ", }\n";
}

StoredTensor Make(const std::string& name, const std::string& dtype,
                  const std::vector<int64_t>& shape, const std::string& data) {
  StoredTensor tensor;
  tensor.name = name;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.data = data.data();
  tensor.bytes = data.size();
  return tensor;
}

std::string_view Content(const StoredTensor& tensor) {
  return {static_cast<const char*>(tensor.data), tensor.bytes};
}

void ExpectSame(const StoredTensor& got, const StoredTensor& want) {
  EXPECT_EQ(got.name, want.name);
  EXPECT_EQ(got.dtype, want.dtype) << want.name;
  EXPECT_EQ(got.shape, want.shape) << want.name;
  EXPECT_EQ(got.column_major, want.column_major) << want.name;
  EXPECT_EQ(Content(got), Content(want)) << want.name;
  const size_t size = std::max<size_t>(StoredDtypeSize(got.dtype), 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(got.data) % size, 0) << want.name;
}

// Reads every byte, so that a sanitizer sees one that is not there.
unsigned Sum(const StoredTensor& tensor) {
  unsigned sum = 0;
  for (char c : Content(tensor)) sum += static_cast<unsigned char>(c);
  return sum;
}

struct HostileFile {
  const char* what;
  std::string bytes;
  std::string message;  // how it starts, after the path
};

void ExpectRefused(const Status& status, const std::string& path,
                   const HostileFile& file) {
  EXPECT_EQ(status.code(), kFileCode) << file.what << ": " << status.message();
  const std::string want = path + ": " + file.message;
  EXPECT_EQ(status.message().substr(0, want.size()), want) << file.what;
}

const std::vector<std::string> kEveryDtype = {
    "F32", "F16", "BF16",    "F64",     "I32",     "I64", "BOOL", "U8", "I8",
    "U16", "I16", "F8_E4M3", "F8_E5M2", "F8_E8M0", "U32", "U64",  "C64"};

TEST(StoredTensorTest, DtypesOfOperatorsHaveNamesBothWays) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16, Dtype::kF64,
                      Dtype::kI32, Dtype::kI64}) {
    const std::string name = StoredDtypeName(dtype);
    EXPECT_EQ(ParseStoredDtype(name), dtype);
    EXPECT_EQ(StoredDtypeSize(name), DtypeSize(dtype)) << name;
  }
  EXPECT_EQ(ParseStoredDtype("U8"), std::nullopt);
  EXPECT_EQ(StoredDtypeSize("f32"), 0);
}

TEST(StoredTensorTest, ByteCountRefusesWhatOverflows) {
  const auto count = [](std::vector<int64_t> shape, size_t size) {
    return ByteCount(shape, size);
  };
  EXPECT_EQ(count({}, 4), 4);
  EXPECT_EQ(count({2, 3}, 2), 12);
  EXPECT_EQ(count({2, 0, 3}, 2), 0);
  EXPECT_EQ(count({INT64_MAX}, 1), INT64_MAX);
  EXPECT_EQ(count({INT64_MAX}, 2), std::nullopt);
  EXPECT_EQ(count({-1}, 4), std::nullopt);
  EXPECT_EQ(count({int64_t{1} << 32, int64_t{1} << 32}, 1), std::nullopt);
  EXPECT_EQ(count({0, int64_t{1} << 32, int64_t{1} << 32}, 1), std::nullopt);
}

TEST(StoredTensorTest, TextOfNamesAndShapesIsOneLine) {
  EXPECT_EQ(Quote("x.\"y\"\n"), R"("x.\"y\"\n")");
  EXPECT_EQ(Quote("\xff"), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(ShapeText(std::vector<int64_t>{}), "[]");
  EXPECT_EQ(ShapeText(std::vector<int64_t>{2, 3}), "[2, 3]");
}

TEST(StoredTensorTest, DescribeRefusesOtherDtypes) {
  const Result<TensorDesc> desc = Describe(Make("mask", "BOOL", {1}, "1"));
  ASSERT_FALSE(desc.ok());
  EXPECT_EQ(desc.status().code(), Code::kDtype);
  EXPECT_EQ(desc.status().message(),
            "mask: dtype must be F32, F16, BF16, F64, I32 or I64, but is BOOL");
}

TEST_F(SafetensorsTest, RoundTripsEveryDtype) {
  // Small elements first, which a writer must not put first.
  const std::string data = Data(6 * 8);
  std::vector<StoredTensor> tensors;
  for (const std::string& dtype : kEveryDtype) {
    const size_t bytes = 6 * StoredDtypeSize(dtype);
    ASSERT_GT(bytes, 0) << dtype;
    tensors.insert(tensors.begin(), Make("of " + dtype, dtype, {2, 3}, data));
    tensors.front().bytes = bytes;
  }
  const Metadata metadata = {{"format", "pt"}, {"\u00e9", "two\nlines"}};
  size_t told = 0;
  const Status status =
      WriteSafetensors(Path("all.safetensors"), tensors, metadata,
                       [&told](size_t bytes) { told += bytes; });
  ASSERT_TRUE(status.ok()) << status.message();
  const auto file = SafetensorsFile::Open(Path("all.safetensors"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->metadata(), metadata);
  ASSERT_EQ(file->tensors().size(), tensors.size());
  size_t bytes = 0;
  for (const StoredTensor& tensor : tensors) {
    bytes += tensor.bytes;
    const StoredTensor* got = file->Find(tensor.name);
    ASSERT_NE(got, nullptr) << tensor.name;
    ExpectSame(*got, tensor);
  }
  EXPECT_EQ(told, bytes);
  EXPECT_EQ(file->Find("of"), nullptr);
  EXPECT_EQ(FilesInFolder(), 1);
}

TEST_F(SafetensorsTest, RoundTripsOddNamesAndEmptyTensors) {
  const std::string data = Data(4);
  const std::vector<StoredTensor> tensors = {
      Make("", "F32", {}, data), Make("a\tb\n\"", "F16", {2}, data),
      Make("\u03b8", "I64", {3, 0}, ""), Make("empty", "U8", {0}, "")};
  ASSERT_TRUE(WriteSafetensors(Path("odd"), tensors).ok());
  const auto file = SafetensorsFile::Open(Path("odd"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  for (const StoredTensor& tensor : tensors) {
    const StoredTensor* got = file->Find(tensor.name);
    ASSERT_NE(got, nullptr) << tensor.name;
    ExpectSame(*got, tensor);
  }
}

TEST_F(SafetensorsTest, FileOfNoTensors) {
  const auto file = SafetensorsFile::Open(Put("none", Safetensors("{}", 0)));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(file->tensors().empty());
}

// The header need not have the order of the bytes; blanks may follow it, and
// fields of later versions may stand in it.
TEST_F(SafetensorsTest, ReadsTensorsInTheOrderOfTheirBytes) {
  const auto file = SafetensorsFile::Open(Put(
      "order", Safetensors(R"({"a":{"dtype":"I32","shape":[1],"later":null,)"
                           R"("data_offsets":[4,8]},"e":{"dtype":"F64",)"
                           R"("shape":[0],"data_offsets":[4,4]},"b":{)"
                           R"("dtype":"F32","shape":[],"data_offsets":[0,4]}})"
                           "  \n ",
                           8)));
  ASSERT_TRUE(file.ok()) << file.status().message();
  const std::string data = Data(8);
  ASSERT_EQ(file->tensors().size(), 3);
  ExpectSame(file->tensors()[0], Make("b", "F32", {}, data.substr(0, 4)));
  ExpectSame(file->tensors()[1], Make("e", "F64", {0}, ""));
  EXPECT_EQ(Content(file->tensors()[2]), data.substr(4));
}

TEST_F(SafetensorsTest, AlignsWhatTheFileDoesNot) {
  const auto file = SafetensorsFile::Open(
      Put("odd", Safetensors(R"({"a":{"dtype":"U8","shape":[1],)"
                             R"("data_offsets":[0,1]},"b":{"dtype":"F64",)"
                             R"("shape":[2],"data_offsets":[1,17]},"c":{)"
                             R"("dtype":"F16","shape":[3],)"
                             R"("data_offsets":[17,23]}})",
                             23)));
  ASSERT_TRUE(file.ok()) << file.status().message();
  const std::string data = Data(23);
  const std::string b = data.substr(1, 16);
  const std::string c = data.substr(17);
  ExpectSame(*file->Find("b"), Make("b", "F64", {2}, b));
  ExpectSame(*file->Find("c"), Make("c", "F16", {3}, c));
}

TEST_F(SafetensorsTest, ListsDtypesThatAreNotKnown) {
  const auto file = SafetensorsFile::Open(
      Put("new", Safetensors(HeaderOf("[5]", "[0,3]", "F4_NEW"), 3)));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->Find("x")->bytes, 3);
  EXPECT_EQ(Describe(*file->Find("x")).status().code(), Code::kDtype);
}

// No time that grows with the square of the number.
TEST_F(SafetensorsTest, ReadsManyTensors) {
  std::string header = "{";
  for (int i = 0; i < 20000; ++i) {
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  const auto file =
      SafetensorsFile::Open(Put("many", Safetensors(header + "}", 0)));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->tensors().size(), 20000);
}

TEST_F(SafetensorsTest, RefusesHostileFiles) {
  const std::string x = R"(tensor "x": )";
  const std::string whole =
      " must hold whole numbers from 0 to 2^63 - 1, but has ";
  const std::string good = HeaderOf("[2]", "[0,8]");
  const std::string deep(100000, '[');
  const HostileFile files[] = {
      {"empty", "",
       "header: 8 bytes of length are needed, but the file has 0 bytes"},
      {"zero byte after the header", Safetensors(std::string("{}\0", 3), 0),
       "header: has a zero byte"},
      {"cut in the length", "\x10",
       "header: 8 bytes of length are needed, but the file has 1 bytes"},
      {"header longer than the file", Bytes<uint64_t>(3) + "{}",
       "header: its length must be at most 2 in this file, but is 3"},
      {"length of 2^64 - 1", Bytes<uint64_t>(UINT64_MAX) + "{}",
       "header: its length must be at most 2 in this file, but is "
       "18446744073709551615"},
      {"big-endian length", std::string(7, '\0') + '\x02' + "{}",
       "header: its length must be at most 2 in this file, but is "
       "144115188075855872"},
      {"length of 0", Bytes<uint64_t>(0) + good, "header: must start with {"},
      {"blank before the header", Safetensors(" {}", 0),
       "header: must start with {"},
      {"a list", Safetensors("[]", 0), "header: must start with {"},
      {"not JSON", Safetensors("{x}", 0), "header: "},
      {"text after the header", Safetensors("{}{}", 0), "header: "},
      {"cut header", Safetensors(good.substr(0, good.size() - 1), 8),
       "header: "},
      {"invalid UTF-8", Safetensors("{\"\xff\xfe\":{}}", 0), "header: "},
      {"lone surrogate", Safetensors(R"({"\ud800":{}})", 0), "header: "},
      {"name twice",
       Safetensors(good.substr(0, good.size() - 1) + "," + good.substr(1), 8),
       "header: the name \"x\" stands twice"},
      {"name twice, spelt in two ways", Safetensors(R"({"x":1,"\u0078":2})", 0),
       "header: the name \"x\" stands twice"},
      {"field twice",
       Safetensors(R"({"x":{"dtype":"F32","dtype":"F16","shape":[2],)"
                   R"("data_offsets":[0,8]}})",
                   8),
       "header: the name \"dtype\" stands twice"},
      {"deep lists", Safetensors(R"({"x":)" + deep, 0),
       "header: nested too deeply"},
      {"deep shape", Safetensors(HeaderOf("[[2]]", "[0,8]"), 8),
       "header: nested too deeply"},
      {"tensor that is a number", Safetensors(R"({"x":1})", 0),
       x + "dtype is missing or of the wrong type"},
      {"no shape",
       Safetensors(R"({"x":{"dtype":"F32","data_offsets":[0,8]}})", 8),
       x + "shape is missing or of the wrong type"},
      {"shape that is a number", Safetensors(HeaderOf("2", "[0,8]"), 8),
       x + "shape is missing or of the wrong type"},
      {"no offsets", Safetensors(R"({"x":{"dtype":"F32","shape":[2]}})", 8),
       x + "data_offsets is missing or of the wrong type"},
      {"three offsets", Safetensors(HeaderOf("[2]", "[0,8,8]"), 8),
       x + "data_offsets must be 2 numbers, but are 3"},
      {"negative size", Safetensors(HeaderOf("[-2]", "[0,8]"), 8),
       x + "shape" + whole + "-2"},
      {"fraction", Safetensors(HeaderOf("[2.0]", "[0,8]"), 8),
       x + "shape" + whole + "2.0"},
      {"size of 2^63",
       Safetensors(HeaderOf("[9223372036854775808]", "[0,8]"), 8),
       x + "shape" + whole + "9223372036854775808"},
      {"negative offset", Safetensors(HeaderOf("[2]", "[-8,0]"), 8),
       x + "data_offsets" + whole + "-8"},
      {"offset in quotes", Safetensors(HeaderOf("[2]", "[\"0\",8]"), 8),
       x + "data_offsets" + whole + "\"0\""},
      {"offsets past the end", Safetensors(HeaderOf("[2]", "[8,16]"), 8),
       x + "data_offsets must ascend within the file's 8 bytes of data, but "
           "are [8,16]"},
      {"descending offsets", Safetensors(HeaderOf("[2]", "[8,0]"), 8),
       x + "data_offsets must ascend within the file's 8 bytes of data, but "
           "are [8,0]"},
      {"too few bytes for the shape", Safetensors(HeaderOf("[3]", "[0,8]"), 8),
       x + "F32 [3] needs 12 bytes, but data_offsets give 8"},
      {"bytes for an empty tensor", Safetensors(HeaderOf("[0]", "[0,8]"), 8),
       x + "F32 [0] needs 0 bytes, but data_offsets give 8"},
      {"shape that overflows to the right size",
       Safetensors(HeaderOf("[4294967296,4294967296]", "[0,0]"), 0),
       x + "F32 [4294967296, 4294967296] needs more than 2^63 bytes, but "
           "data_offsets give 0"},
      {"empty shape that overflows",
       Safetensors(HeaderOf("[0,4294967296,4294967296]", "[0,0]"), 0),
       x + "F32 [0, 4294967296, 4294967296] needs more than 2^63 bytes, but "
           "data_offsets give 0"},
      {"overlap", Safetensors(HeaderOfTwo("[0,8]", "[4,12]"), 12),
       R"(tensor "b": data_offsets must begin at 8, where the one before ends,)"
       " but begin at 4"},
      {"the same bytes twice", Safetensors(HeaderOfTwo("[0,8]", "[0,8]"), 8),
       R"(tensor "b": data_offsets must begin at 8, where the one before ends,)"
       " but begin at 0"},
      {"gap", Safetensors(HeaderOfTwo("[0,8]", "[12,20]"), 20),
       R"(tensor "b": data_offsets must begin at 8, where the one before ends,)"
       " but begin at 12"},
      {"gap at the start", Safetensors(HeaderOf("[2]", "[4,12]"), 12),
       x + "data_offsets must begin at 0, where the one before ends, but begin "
           "at 4"},
      {"bytes that are no tensor's", Safetensors(good, 9),
       "data: the tensors have 8 bytes, but the file has 9 after the header"},
      {"metadata that is a list", Safetensors(R"({"__metadata__":[]})", 0),
       "__metadata__: must be an object"},
      {"metadata with a number", Safetensors(R"({"__metadata__":{"a":1}})", 0),
       R"(__metadata__: "a" must be a string)"},
  };
  for (const HostileFile& file : files) {
    const std::string path = Put("hostile", file.bytes);
    ExpectRefused(SafetensorsFile::Open(path).status(), path, file);
  }
}

TEST_F(SafetensorsTest, RefusesEveryCut) {
  const std::string good = Safetensors(HeaderOf("[2]", "[0,8]"), 8);
  ASSERT_TRUE(SafetensorsFile::Open(Put("good", good)).ok());
  for (size_t size = 0; size < good.size(); ++size) {
    const auto file = SafetensorsFile::Open(Put("cut", good.substr(0, size)));
    EXPECT_EQ(file.status().code(), kFileCode) << size;
  }
}

// Whatever one byte of the header becomes: refused, or read within the file.
TEST_F(SafetensorsTest, StaysInTheFileWhenAByteIsWrong) {
  const std::string header = HeaderOfTwo("[0,8]", "[8,16]");
  const std::string good = Safetensors(header, 16);
  for (size_t at = 0; at < 8 + header.size(); ++at) {
    for (const char c : {'\0', '\xff', '9', '"', ']', '-'}) {
      std::string bytes = good;
      bytes[at] = c;
      const auto file = SafetensorsFile::Open(Put("flipped", bytes));
      if (!file.ok()) continue;
      size_t total = 0;
      unsigned sum = 0;
      for (const StoredTensor& tensor : file->tensors()) {
        total += tensor.bytes;
        sum += Sum(tensor);
      }
      EXPECT_EQ(total, 16) << at << " " << c;
      EXPECT_GT(sum, 0) << at << " " << c;
    }
  }
}

TEST_F(SafetensorsTest, RefusesWhatIsNoFile) {
  EXPECT_EQ(SafetensorsFile::Open(Path("absent")).status().message(),
            Path("absent") + ": cannot open: No such file or directory");
  EXPECT_EQ(SafetensorsFile::Open(folder_.string()).status().message(),
            folder_.string() + ": must be a regular file, but is a folder");
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(SafetensorsFile::Open(Path("pipe")).status().message(),
            Path("pipe") +
                ": must be a regular file, but is a pipe, socket or device");
}

TEST_F(SafetensorsTest, RefusedWritesKeepTheOldFile) {
  const std::string path = Put("kept", "as it was");
  const std::string data = Data(8);
  StoredTensor turned = Make("x", "F32", {1, 2}, data);
  turned.column_major = true;
  const std::string contiguous =
      R"(tensor "x": must be contiguous, with a known dtype and as many bytes )"
      "as its shape says";
  const struct {
    std::vector<StoredTensor> tensors;
    std::string message;
  } writes[] = {
      {{Make("x", "F32", {2}, data), Make("x", "F16", {4}, data)},
       R"(the name "x" stands twice)"},
      {{Make("__metadata__", "F32", {2}, data)},
       R"(the name "__metadata__" stands twice)"},
      {{Make("x", "F32", {3}, data)}, contiguous},
      {{Make("x", "F4_NEW", {2}, data)}, contiguous},
      {{turned}, contiguous},
      {{Make("\xff", "F32", {2}, data)}, ""},
  };
  for (const auto& write : writes) {
    const Status status = WriteSafetensors(path, write.tensors);
    ExpectRefused(status, path, {"write", "", write.message});
    EXPECT_EQ(Slurp(path), "as it was");
  }
  const Status status = WriteSafetensors(Path("no/folder"), {});
  EXPECT_EQ(status.code(), kFileCode);
  EXPECT_EQ(FilesInFolder(), 1);
}

// A link stays one, and a file keeps its permissions.
TEST_F(SafetensorsTest, WritesThroughALink) {
  const std::string path = Put("file", "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("file", Path("link"));
  ASSERT_TRUE(WriteSafetensors(Path("link"), {}).ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_TRUE(SafetensorsFile::Open(path).ok());
  EXPECT_EQ(fs::status(path).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(FilesInFolder(), 2);
}

TEST_F(SafetensorsTest, AnOpenFileOutlivesItsReplacement) {
  const std::string path = Put("x", Safetensors(HeaderOf("[2]", "[0,8]"), 8));
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(WriteSafetensors(path, {}).ok());
  EXPECT_EQ(Content(*file->Find("x")), Data(8));
  EXPECT_TRUE(SafetensorsFile::Open(path)->tensors().empty());
}

TEST_F(NpyTest, RoundTripsEveryDtypeAndRank) {
  const std::vector<int64_t> shapes[] = {
      {}, {6}, {2, 3}, {0}, {3, 0, 2}, {1, 2, 1, 3, 1, 1, 1, 1}};
  for (const std::string dtype : {"F32", "F16", "BF16", "F64", "I32", "I64"}) {
    for (const auto& shape : shapes) {
      const std::string data = Data(*ByteCount(shape, StoredDtypeSize(dtype)));
      const StoredTensor tensor = Make("x", dtype, shape, data);
      const std::string paths[] = {Path("x.npy")};
      const Status status = WriteNpyFiles(paths, {&tensor, 1});
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(Slurp(paths[0]).find(data.empty() ? "\n" : data) % 64,
                data.empty() ? 63 : 0)
          << "the data is aligned in the file";
      const auto file = NpyFile::Open(paths[0], "x");
      ASSERT_TRUE(file.ok()) << file.status().message();
      ExpectSame(file->tensor(), tensor);
    }
  }
  EXPECT_EQ(FilesInFolder(), 1);
}

TEST_F(NpyTest, ReadsVersionsAndSpellings) {
  const std::string data = Data(8);
  const StoredTensor want = Make("x", "BF16", {4}, data);
  for (const std::string descr : {"<V2", "|V2", "V2", "<u2"}) {
    for (const char version : {1, 2, 3}) {
      const auto file = NpyFile::Open(
          Put("x.npy", Npy(LiteralOf(descr, "(4,)"), 8, version)), "x");
      ASSERT_TRUE(file.ok()) << file.status().message();
      ExpectSame(file->tensor(), want);
    }
  }
}

// The header's length makes the data start anywhere.
TEST_F(NpyTest, AlignsWhatTheFileDoesNot) {
  const std::string data = Data(16);
  for (size_t blanks = 0; blanks < 8; ++blanks) {
    const std::string literal =
        std::string(blanks, ' ') + LiteralOf("<f8", "(2,)");
    const auto file = NpyFile::Open(Put("x.npy", Npy(literal, 16)), "x");
    ASSERT_TRUE(file.ok()) << file.status().message();
    ExpectSame(file->tensor(), Make("x", "F64", {2}, data));
  }
}

TEST_F(NpyTest, FortranOrderBecomesStrides) {
  const auto file = NpyFile::Open(
      Put("x.npy", Npy(LiteralOf("<f4", "(2, 3, 4)", "True"), 96)), "x");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(file->tensor().column_major);
  const Result<TensorDesc> desc = Describe(file->tensor());
  ASSERT_TRUE(desc.ok());
  ASSERT_EQ(desc->rank, 3);
  EXPECT_EQ(desc->strides[0], 1);
  EXPECT_EQ(desc->strides[1], 2);
  EXPECT_EQ(desc->strides[2], 6);
}

TEST_F(NpyTest, RefusesHostileFiles) {
  const std::string good = LiteralOf("<f4", "(2,)");
  const std::string descr =
      "descr must be <f4, <f2, <f8, <i4, <i8, or V2 or <u2 for bfloat16, but "
      "is ";
  const std::string shape = "header: shape must hold whole numbers, but has ";
  const HostileFile files[] = {
      {"empty", "", "must be a .npy file, but does not start like one"},
      {"other magic", "NUMPY" + std::string(100, ' '),
       "must be a .npy file, but does not start like one"},
      {"version 0", Npy(good, 8, 0),
       "format version must be 1, 2 or 3, but is 0"},
      {"version 255", Npy(good, 8, '\xff'),
       "format version must be 1, 2 or 3, but is 255"},
      {"cut in the length", std::string("\x93NUMPY\x01\0\x10", 9),
       "header: the file ends within its length"},
      {"header longer than the file",
       std::string("\x93NUMPY\x02\0\xff\xff\xff\xff{}", 14),
       "header: its length must be at most 2 in this file, but is 4294967295"},
      {"huge header", Npy(good + std::string(70000, ' '), 8, 2),
       "header: its length must be at most 65536 in this file, but is "},
      {"no header", Npy("", 8), "header: "},
      {"not a literal", Npy("{'descr': <f4}", 8), "header: "},
      {"cut literal", Npy(good.substr(0, 20), 8), "header: "},
      {"text after it", Npy(good + "x", 8), "header: "},
      {"invalid UTF-8", Npy(LiteralOf("\xff", "(2,)"), 8), "header: "},
      {"deep shape", Npy(LiteralOf("<f4", std::string(30000, '(')), 8),
       "header: nested too deeply"},
      {"a list", Npy("[]", 8), "header: descr is missing or of the wrong type"},
      {"key twice",
       Npy("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, "
           "'shape': (2,)}",
           8),
       "header: the name \"descr\" stands twice"},
      {"structured dtype",
       Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
           8),
       "header: descr is missing or of the wrong type"},
      {"big-endian", Npy(LiteralOf(">f4", "(2,)"), 8),
       descr + ">f4 (big-endian)"},
      {"objects", Npy(LiteralOf("|O", "(2,)"), 8), descr + "|O"},
      {"order that is a number", Npy(LiteralOf("<f4", "(2,)", "1"), 8),
       "header: fortran_order is missing or of the wrong type"},
      {"no shape", Npy("{'descr': '<f4', 'fortran_order': False}", 8),
       "header: shape is missing or of the wrong type"},
      {"shape that is a number", Npy(LiteralOf("<f4", "2"), 8),
       "header: shape is missing or of the wrong type"},
      {"negative size", Npy(LiteralOf("<f4", "(-2,)"), 8), shape + "-2"},
      {"fraction", Npy(LiteralOf("<f4", "(2.0,)"), 8), shape + "2.0"},
      {"size of 2^63", Npy(LiteralOf("<f4", "(9223372036854775808,)"), 8),
       shape + "9223372036854775808"},
      {"size in quotes", Npy(LiteralOf("<f4", "('2',)"), 8), shape + "\"2\""},
      {"too little data", Npy(good, 7),
       "F32 [2] does not fit the 7 bytes of data"},
      {"too much data", Npy(good, 9),
       "F32 [2] does not fit the 9 bytes of data"},
      {"shape that overflows to the right size",
       Npy(LiteralOf("<f4", "(4294967296, 4294967296)"), 0),
       "F32 [4294967296, 4294967296] does not fit the 0 bytes of data"},
      {"data for an empty array", Npy(LiteralOf("<f4", "(0,)"), 4),
       "F32 [0] does not fit the 4 bytes of data"},
  };
  for (const HostileFile& file : files) {
    const std::string path = Put("hostile.npy", file.bytes);
    ExpectRefused(NpyFile::Open(path, "x").status(), path, file);
  }
}

TEST_F(NpyTest, RefusesEveryCut) {
  const std::string good = Npy(LiteralOf("<f4", "(2,)"), 8);
  ASSERT_TRUE(NpyFile::Open(Put("good.npy", good), "x").ok());
  for (size_t size = 0; size < good.size(); ++size) {
    const auto file = NpyFile::Open(Put("cut.npy", good.substr(0, size)), "x");
    EXPECT_EQ(file.status().code(), kFileCode) << size;
  }
}

TEST_F(NpyTest, StaysInTheFileWhenAByteIsWrong) {
  const std::string good = Npy(LiteralOf("<f4", "(2, 2)"), 16);
  for (size_t at = 0; at < good.size() - 16; ++at) {
    for (const char c : {'\0', '\xff', '9', '\'', ')', '-', ' '}) {
      std::string bytes = good;
      bytes[at] = c;
      const auto file = NpyFile::Open(Put("flipped.npy", bytes), "x");
      if (!file.ok()) continue;
      const StoredTensor& tensor = file->tensor();
      EXPECT_LE(tensor.bytes, bytes.size()) << at << " " << c;
      EXPECT_GT(Sum(tensor), 0) << at << " " << c;
    }
  }
}

TEST_F(NpyTest, WritesAllFilesOrNone) {
  const std::string data = Data(8);
  const std::string kept = Put("kept.npy", "as it was");
  const StoredTensor good = Make("x", "F32", {2}, data);
  const StoredTensor odd = Make("m", "U8", {8}, data);
  StoredTensor turned = good;
  turned.column_major = true;
  for (const StoredTensor& bad : {odd, turned}) {
    const std::string paths[] = {kept, Path("new.npy")};
    const StoredTensor tensors[] = {good, bad};
    const Status status = WriteNpyFiles(paths, tensors);
    EXPECT_EQ(status.code(), Code::kDtype);
    EXPECT_EQ(status.message(),
              bad.name + ": dtype " + bad.dtype + " cannot be written as .npy");
  }
  const std::string paths[] = {kept, Path("no/folder.npy")};
  const StoredTensor tensors[] = {good, good};
  EXPECT_EQ(WriteNpyFiles(paths, tensors).code(), kFileCode);
  EXPECT_EQ(Slurp(kept), "as it was");
  EXPECT_EQ(FilesInFolder(), 1);
}

}  // namespace
}  // namespace ropewalk::io
