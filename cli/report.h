// What verify found, as text and as JSON.

#ifndef ROPEWALK_CLI_REPORT_H_
#define ROPEWALK_CLI_REPORT_H_

#include <string>

#include "ropewalk/verify.h"

namespace ropewalk::cli {

/// For a terminal; `operation` is "rotate", "backward" or "cached".
std::string ReportText(const VerifyReport& report,
                       const std::string& operation);

std::string ReportJson(const VerifyReport& report);

/// "[0, 3, 17]".
std::string IndexText(const std::vector<int64_t>& index);

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_REPORT_H_
