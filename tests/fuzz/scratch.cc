#include "fuzz/scratch.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/input.h"

namespace ropewalk::test {
namespace {

struct Folder {
  Folder() {
    // Memory, where there is such a folder.
    const bool memory = std::filesystem::is_directory("/dev/shm");
    std::string name = memory ? "/dev/shm/" : "/tmp/";
    name += "ropewalk-fuzz-XXXXXX";
    RW_MUST(mkdtemp(name.data()) != nullptr, name);
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

}  // namespace

const std::string& ScratchFolder() {
  static const Folder folder;
  return folder.path;
}

void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  RW_MUST(file.good(), path);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace ropewalk::test
