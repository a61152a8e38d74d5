#include "bench/caches.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace ropewalk::bench {
namespace {

template <class T>
T ReadFile(const std::string& path) {
  T value{};
  std::ifstream(path) >> value;
  return value;
}

Caches FromSysfs() {
  Caches caches;
  for (int index = 0;; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" +
                               std::to_string(index) + "/";
    const auto level = ReadFile<int>(folder + "level");
    if (level == 0) return caches;
    if (ReadFile<std::string>(folder + "type") == "Instruction") continue;
    const size_t bytes = ReadFile<size_t>(folder + "size") * 1024;  // "48K"
    if (level == 1) caches.l1d = bytes;
    if (level == 2) caches.l2 = bytes;
    if (level == 3) caches.l3 = bytes;
  }
}

[[maybe_unused]] size_t FromSysconf(int name) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

}  // namespace

Caches ReadCaches() {
  Caches caches = FromSysfs();
#ifdef _SC_LEVEL1_DCACHE_SIZE  // glibc's
  if (caches.l1d == 0) {
    caches = {FromSysconf(_SC_LEVEL1_DCACHE_SIZE),
              FromSysconf(_SC_LEVEL2_CACHE_SIZE),
              FromSysconf(_SC_LEVEL3_CACHE_SIZE)};
  }
#endif
  return caches;
}

}  // namespace ropewalk::bench
