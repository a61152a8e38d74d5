#include "core/cache_size.h"

#include <unistd.h>

namespace ropewalk {
namespace {

int64_t Read() noexcept {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (l3 > 0) return l3;
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (l2 > 0) return l2;
#endif
  return int64_t{32} << 20;
}

}  // namespace

int64_t LastLevelCacheBytes() noexcept {
  static const int64_t bytes = Read();
  return bytes;
}

}  // namespace ropewalk
