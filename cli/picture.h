// Errors as a picture: by position and column, by head, and how many of each
// size.

#ifndef ROPEWALK_CLI_PICTURE_H_
#define ROPEWALK_CLI_PICTURE_H_

#include <string>
#include <string_view>

#include "ropewalk/verify.h"

namespace ropewalk::cli {

/// An SVG document, one panel for each output; its maps must be there. `title`
/// is a line above all.
std::string DrawErrors(const VerifyReport& report, const std::string& title);

/// Text for XML and HTML.
std::string Escape(std::string_view text);

/// "1,234,567".
std::string Thousands(int64_t number);

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_PICTURE_H_
