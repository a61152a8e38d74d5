#include "core/cache_size.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace ropewalk {
namespace {

// The number in a file of the first CPU's cache `index`, with its unit; 0 if
// there is none. Without stdio, which would allocate.
int64_t ReadNumber(int index, const char* file) noexcept {
  char path[96];
  std::snprintf(path, sizeof(path),
                "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[32];
  const ssize_t size = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (size <= 0) return 0;
  text[size] = '\0';
  char* end = nullptr;
  const int64_t number = std::strtoll(text, &end, 10);
  return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : number;
}

// Not sysconf(): on some CPUs under a hypervisor it sums the caches of a whole
// socket, most of which this process cannot use.
int64_t Read() noexcept {
  int64_t level = 0;
  int64_t bytes = 0;
  for (int index = 0; index < 8; ++index) {
    const int64_t this_level = ReadNumber(index, "level");
    if (this_level < level) continue;
    const int64_t this_bytes = ReadNumber(index, "size");
    if (this_bytes <= 0) continue;
    level = this_level;
    bytes = this_bytes;
  }
  return bytes > 0 ? bytes : int64_t{32} << 20;
}

}  // namespace

int64_t LastLevelCacheBytes() noexcept {
  static const int64_t bytes = Read();
  return bytes;
}

}  // namespace ropewalk
