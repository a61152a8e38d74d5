// The commands. Each adds itself to the program and returns what to do once
// the arguments are known.

#ifndef ROPEWALK_CLI_COMMANDS_H_
#define ROPEWALK_CLI_COMMANDS_H_

#include <CLI/App.hpp>
#include <functional>

#include "ropewalk/status.h"

namespace ropewalk::cli {

struct Command {
  CLI::App* app;
  /// The program's exit code, or why the command refused.
  std::function<Result<int>()> run;
  /// The exit code when data were refused.
  int bad_data = 1;
};

/// The exit code of a command that succeeded, or its refusal.
inline Result<int> Exit(const Status& status) {
  if (status.ok()) return 0;
  return status;
}

Command AddRotate(CLI::App& program);
Command AddBackward(CLI::App& program);
Command AddCached(CLI::App& program);
Command AddInfo(CLI::App& program);
Command AddBench(CLI::App& program);
Command AddVerify(CLI::App& program);

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_COMMANDS_H_
