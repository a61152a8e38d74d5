#include "ropewalk/version.h"

namespace ropewalk {

const char* Version() noexcept { return ROPEWALK_VERSION_STRING; }

}  // namespace ropewalk
