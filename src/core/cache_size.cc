#include "core/cache_size.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace ropewalk {
namespace {

struct Text {
  char data[32] = {};
};

// What stands in a file of the first CPU's cache `index`; empty if there is
// none. Without stdio, which would allocate.
Text ReadText(int index, const char* file) noexcept {
  char path[96];
  std::snprintf(path, sizeof(path),
                "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file);
  Text text;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  const ssize_t size = read(fd, text.data, sizeof(text.data) - 1);
  close(fd);
  text.data[size > 0 ? size : 0] = '\0';
  return text;
}

// A number with its unit; 0 if it is none.
int64_t ReadNumber(int index, const char* file) noexcept {
  const Text text = ReadText(index, file);
  char* end = nullptr;
  const int64_t number = std::strtoll(text.data, &end, 10);
  return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : number;
}

struct Caches {
  int64_t first = int64_t{32} << 10;
  int64_t last = int64_t{32} << 20;
};

// Not sysconf(): on some CPUs under a hypervisor it sums the caches of a whole
// socket, most of which this process cannot use.
Caches Read() noexcept {
  Caches caches;
  int64_t level = 0;
  for (int index = 0; index < 8; ++index) {
    const int64_t this_level = ReadNumber(index, "level");
    const int64_t bytes = ReadNumber(index, "size");
    if (bytes <= 0) continue;
    if (this_level == 1 && ReadText(index, "type").data[0] == 'D') {
      caches.first = bytes;
    }
    if (this_level >= level) {
      level = this_level;
      caches.last = bytes;
    }
  }
  return caches;
}

const Caches& Get() noexcept {
  static const Caches caches = Read();
  return caches;
}

}  // namespace

int64_t LastLevelCacheBytes() noexcept { return Get().last; }

int64_t FirstLevelCacheBytes() noexcept { return Get().first; }

}  // namespace ropewalk
