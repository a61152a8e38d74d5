#ifndef ROPEWALK_SRC_CORE_CACHE_SIZE_H_
#define ROPEWALK_SRC_CORE_CACHE_SIZE_H_

#include <cstddef>
#include <cstdint>

namespace ropewalk {

/// Bytes of the last-level cache, read once; 32 MiB where it is not known.
int64_t LastLevelCacheBytes() noexcept;

/// Bytes of a core's data cache next to it, read once; 32 KiB where it is not
/// known.
int64_t FirstLevelCacheBytes() noexcept;

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_CORE_CACHE_SIZE_H_
