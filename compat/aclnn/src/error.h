// The text behind aclGetRecentErrMsg.

#ifndef ROPEWALK_COMPAT_ACLNN_ERROR_H_
#define ROPEWALK_COMPAT_ACLNN_ERROR_H_

#include <cstdarg>

namespace ropewalk_aclnn {

// Keeps the text for this thread (the end of a very long one is lost) and
// returns `code`.
[[gnu::format(printf, 2, 3)]] int Fail(int code, const char* format,
                                       ...) noexcept;

// Adds to the text of the thread's last refusal.
[[gnu::format(printf, 1, 2)]] void AddToError(const char* format, ...) noexcept;

// The text of the thread's last refusal.
const char* LastError() noexcept;

// Calls `body`; an exception becomes a refusal. `code` is for lack of memory.
template <class Body>
int Guarded(const char* function, int code, Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return Fail(code, "%s: out of memory", function);
  }
}

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_ERROR_H_
