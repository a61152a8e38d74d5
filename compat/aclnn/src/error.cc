#include "error.h"

#include <cstdio>
#include <cstring>

namespace ropewalk_aclnn {
namespace {

// An array and not a string: it needs no memory when memory is short, and no
// destructor when a thread ends.
thread_local char last_error[2048] = "";

}  // namespace

int Fail(int code, const char* format, ...) noexcept {
  va_list args;
  va_start(args, format);
  std::vsnprintf(last_error, sizeof(last_error), format, args);
  va_end(args);
  return code;
}

void AddToError(const char* format, ...) noexcept {
  const size_t used = std::strlen(last_error);
  va_list args;
  va_start(args, format);
  std::vsnprintf(last_error + used, sizeof(last_error) - used, format, args);
  va_end(args);
}

const char* LastError() noexcept { return last_error; }

}  // namespace ropewalk_aclnn
