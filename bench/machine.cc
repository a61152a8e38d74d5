#include "bench/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string_view>
#include <thread>

#include "bench/commit.h"

namespace ropewalk::bench {
namespace {

constexpr char kUnknown[] = "unknown";

// x86 names the model; Arm gives two numbers, of the maker and of the part.
std::string CpuName() {
  std::string arm;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) return value;
    if (line.starts_with("CPU implementer")) arm = "Arm " + value;
    if (line.starts_with("CPU part")) return arm.append(" ").append(value);
  }
  return kUnknown;
}

std::string SystemName() {
  utsname names;
  if (uname(&names) != 0) return kUnknown;
  return std::string(names.sysname) + " " + names.release;
}

size_t MemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  return static_cast<size_t>(pages) * static_cast<size_t>(page);
}

}  // namespace

Machine ReadMachine() {
  return {CpuName(), SystemName(), std::thread::hardware_concurrency(),
          MemoryBytes(), ReadCaches()};
}

const char* Compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

const char* Commit() { return ROPEWALK_COMMIT; }

}  // namespace ropewalk::bench
