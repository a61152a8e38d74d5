// The version of these headers, and of the library that was linked.

#ifndef ROPEWALK_VERSION_H_
#define ROPEWALK_VERSION_H_

#include "ropewalk/export.h"

#define ROPEWALK_VERSION_MAJOR 0
#define ROPEWALK_VERSION_MINOR 1
#define ROPEWALK_VERSION_PATCH 0
#define ROPEWALK_VERSION_STRING "0.1.0"

namespace ropewalk {

/// The linked library's version, such as "0.1.0".
ROPEWALK_EXPORT const char* Version() noexcept;

}  // namespace ropewalk

#endif  // ROPEWALK_VERSION_H_
