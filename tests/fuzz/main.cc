// Runs a fuzzer's function without libFuzzer, with the same arguments:
// -runs=N random inputs (10000), -seed=N, then files, or folders of files.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kMaxBytes = 512;

// What is being run, for the message of a crash.
char current[4096];

extern "C" void Crashed(int signal) {
  // All that a handler may call.
  (void)!write(2, current, std::strlen(current));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void RunFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::snprintf(current, sizeof(current), "while running %s\n", path.c_str());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()),
                         bytes.size());
}

void RunRandom(uint64_t seed, uint64_t run) {
  std::snprintf(current, sizeof(current),
                "while running -seed=%llu -first=%llu -runs=1\n",
                static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(run));
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15 + run);
  std::vector<uint8_t> bytes(random() % kMaxBytes);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

bool Number(const char* argument, const char* name, uint64_t* value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  *value = std::strtoull(argument + length, nullptr, 10);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 10000;
  uint64_t seed = 1;
  uint64_t first = 0;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, Crashed);
  }
  size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    if (Number(argv[i], "-runs=", &runs) || Number(argv[i], "-seed=", &seed) ||
        Number(argv[i], "-first=", &first)) {
      continue;
    }
    if (!std::filesystem::is_directory(argv[i])) {
      RunFile(argv[i]);
      ++files;
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      RunFile(entry.path());
      ++files;
    }
  }
  for (uint64_t run = first; run < first + runs; ++run) RunRandom(seed, run);
  std::printf("%zu files, %llu random inputs\n", files,
              static_cast<unsigned long long>(runs));
  return 0;
}
