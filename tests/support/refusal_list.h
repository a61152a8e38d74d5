// The list of refusals that the tests make.

#ifndef ROPEWALK_TESTS_SUPPORT_REFUSAL_LIST_H_
#define ROPEWALK_TESTS_SUPPORT_REFUSAL_LIST_H_

#include <cstdlib>
#include <fstream>
#include <string>

namespace ropewalk::test {

/// Adds "what: message" to the file that ROPEWALK_REFUSALS names, if it does.
inline void NoteRefusal(const std::string& what, const std::string& message) {
  static std::ofstream list = [] {
    const char* path = std::getenv("ROPEWALK_REFUSALS");
    return path == nullptr ? std::ofstream() : std::ofstream(path);
  }();
  if (list.is_open()) list << what << ": " << message << std::endl;
}

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_REFUSAL_LIST_H_
