// A report as one page that needs nothing beside it.

#ifndef ROPEWALK_CLI_PAGE_H_
#define ROPEWALK_CLI_PAGE_H_

#include <string>

#include "ropewalk/verify.h"

namespace ropewalk::cli {

/// An HTML document with the picture in it; `title` is its heading, `command`
/// what was called.
std::string ReportPage(const VerifyReport& report, const std::string& title,
                       const std::string& command);

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_PAGE_H_
