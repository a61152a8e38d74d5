// JSON headers of files that are not trusted.

#ifndef ROPEWALK_IO_STRICT_JSON_H_
#define ROPEWALK_IO_STRICT_JSON_H_

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace ropewalk::io {

/// What is wrong with a file's content; does not leave this folder.
struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// That there is not enough memory; likewise.
struct MemoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Parses `text`, all of it. Throws FormatError for text that is not JSON, for
/// a name that an object has twice, and for objects and lists nested deeper
/// than `max_depth`.
nlohmann::json ParseStrictJson(std::string_view text, size_t max_depth);

}  // namespace ropewalk::io

#endif  // ROPEWALK_IO_STRICT_JSON_H_
