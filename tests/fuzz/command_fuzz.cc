// Any command line: the program ends with 0, or with 1 or 2 and one line on
// standard error; and where it fails, files stay as they were.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>

#include "cli/program.h"
#include "fuzz/input.h"
#include "fuzz/scratch.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "support/test_tensor.h"

namespace ropewalk::test {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

// What inputs there are. The outputs of one run may be inputs of a later one,
// so each starts with these.
Files MakeFiles() {
  Random random(1);
  std::vector<TestTensor> made;
  made.emplace_back(Dtype::kF32, Shape{3, 2, 8}, Data::kNormal, random);
  made.emplace_back(Dtype::kF32, Shape{3, 1, 8}, Data::kUnit, random);
  made.emplace_back(Dtype::kF32, Shape{3, 1, 8}, Data::kUnit, random);
  made.emplace_back(Dtype::kF32, Shape{3, 2, 8}, Data::kNormal, random);
  made.emplace_back(Dtype::kF32, Shape{3, 16}, Data::kNormal, random);
  made.emplace_back(Dtype::kBF16, Shape{5, 8}, Data::kUnit, random);
  made.emplace_back(Dtype::kI64, Shape{3});
  for (int64_t i = 0; i < 3; ++i) {
    static_cast<int64_t*>(made.back().data())[i] = 2 * i;
  }
  const char* const names[] = {"x",     "cos",   "sin",      "dy",
                               "query", "cache", "positions"};
  std::vector<io::StoredTensor> stored;
  for (size_t i = 0; i < made.size(); ++i) {
    stored.push_back(io::Store(names[i], made[i].in()));
  }
  const std::string path = ScratchFolder() + "/";
  (void)io::WriteSafetensors(path + "all.safetensors", stored);
  std::vector<std::string> paths = {path + "x.npy", path + "cos.npy"};
  stored.resize(paths.size());
  (void)io::WriteNpyFiles(paths, stored);
  Files files;
  for (const char* name : {"all.safetensors", "x.npy", "cos.npy"}) {
    files[name] = ReadFile(path + name);
    fs::remove(path + name);
  }
  files["bad.safetensors"] = "no header";
  files["kept.safetensors"] = "as it was";
  return files;
}

const char* const kWords[] = {"rotate",
                              "backward",
                              "cached",
                              "info",
                              "-i",
                              "--input",
                              "-o",
                              "--output",
                              "--pairing",
                              "--slice",
                              "--prefix",
                              "--threads",
                              "--target",
                              "--quiet",
                              "--style",
                              "--head-size",
                              "--sections",
                              "--axes",
                              "--json",
                              "--help",
                              "--version",
                              "half",
                              "interleave",
                              "quarter",
                              "neox",
                              "gptj",
                              "segmented",
                              "interleaved",
                              "all.safetensors",
                              "x.npy",
                              "cos.npy",
                              "bad.safetensors",
                              "kept.safetensors",
                              "x=x.npy",
                              "cos=cos.npy",
                              ".",
                              "new/",
                              "y.npy",
                              "new.safetensors",
                              "0:4",
                              "2:6",
                              "4:2",
                              "1,1,2",
                              "4,2",
                              "8",
                              "4",
                              "1",
                              "2",
                              "0",
                              "-1",
                              "SSE2",
                              "",
                              "--",
                              "=",
                              "x=",
                              "--positions-dtype",
                              "--config",
                              "--pairing=half",
                              "99999999999999999999"};

std::string Word(Input& input) {
  if (!input.OneIn(8)) {
    return kWords[input.Int(0, static_cast<int64_t>(std::size(kWords)) - 1)];
  }
  std::string word;
  for (int64_t i = input.Int(0, 12); i > 0; --i) {
    const auto c = static_cast<char>(input.Int(1, 255));
    word += c == '/' ? '_' : c;  // so that it stays in its folder
  }
  return word;
}

// Right for some command, then spoilt or not.
std::vector<std::string> Words(Input& input) {
  static const std::vector<std::vector<std::string>> right = {
      {"rotate", "--pairing", "half", "-i", "all.safetensors", "-o",
       "new.safetensors"},
      {"backward", "--pairing", "quarter", "-i", "all.safetensors", "-i", ".",
       "-o", "new/"},
      {"cached", "--style", "neox", "--head-size", "8", "-i", "all.safetensors",
       "-o", "kept.safetensors"},
      {"rotate", "--pairing", "interleave", "-i", "all.safetensors", "-i",
       "x=x.npy", "-o", "y.npy", "--quiet", "--threads", "2"},
      {"info", "--json"},
      {}};
  std::vector<std::string> words = input.Pick(right);
  for (int64_t i = input.Int(0, 6); i > 0; --i) {
    const auto at =
        static_cast<size_t>(input.Int(0, static_cast<int64_t>(words.size())));
    if (at == words.size() || input.OneIn(3)) {
      words.insert(words.begin() + static_cast<ptrdiff_t>(at), Word(input));
    } else if (input.OneIn(3)) {
      words.erase(words.begin() + static_cast<ptrdiff_t>(at));
    } else {
      words[at] = Word(input);
    }
  }
  return words;
}

// Runs the program with its output in files.
class Captured {
 public:
  Captured() : out_(Turn(1, "/out.txt")), error_(Turn(2, "/error.txt")) {}
  ~Captured() { Back(); }
  std::string Error() {
    Back();
    return ReadFile(ScratchFolder() + "/error.txt");
  }

 private:
  static int Turn(int to, const char* name) {
    std::fflush(nullptr);
    const int kept = dup(to);
    const int file = open((ScratchFolder() + name).c_str(),
                          O_CREAT | O_TRUNC | O_WRONLY, 0600);
    RW_MUST(kept >= 0 && file >= 0, name);
    dup2(file, to);
    close(file);
    return kept;
  }
  void Back() {
    if (out_ < 0) return;
    std::fflush(nullptr);
    dup2(out_, 1);
    dup2(error_, 2);
    close(out_);
    close(error_);
    out_ = -1;
  }

  int out_, error_;
};

void TestOne(Input& input) {
  static const Files files = MakeFiles();
  static const std::string folder = [] {
    const std::string path = ScratchFolder() + "/work";
    fs::create_directory(path);
    RW_MUST(chdir(path.c_str()) == 0, path);
    return path;
  }();
  for (const auto& entry : fs::directory_iterator(folder)) {
    fs::remove_all(entry.path());
  }
  for (const auto& [name, bytes] : files) WriteFile(name, bytes);

  std::vector<std::string> words = Words(input);
  words.insert(words.begin(), "ropewalk");
  std::string text;
  for (const std::string& word : words) {
    // Slow, or of many threads.
    if (word == "bench") return;
    text += "'" + word + "' ";
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  Captured captured;
  const int code = cli::RunProgram(static_cast<int>(argv.size()), argv.data());
  const std::string error = captured.Error();
  text += "-> " + std::to_string(code) + " " + error;
  RW_MUST(code >= 0 && code <= 2, text);
  RW_MUST(code == 0 || (error.starts_with("ropewalk: ") &&
                        error.find('\n') == error.size() - 1),
          text);
  if (code == 0) return;
  size_t left = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    const auto was = files.find(entry.path().filename());
    RW_MUST(was != files.end(), text + entry.path().string());
    RW_MUST(ReadFile(entry.path()) == was->second, text);
    ++left;
  }
  RW_MUST(left == files.size(), text);
}

}  // namespace
}  // namespace ropewalk::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ropewalk::test::Input input(data, size);
  ropewalk::test::TestOne(input);
  return 0;
}
