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
  std::function<Status()> run;
};

Command AddRotate(CLI::App& program);
Command AddBackward(CLI::App& program);
Command AddCached(CLI::App& program);
Command AddInfo(CLI::App& program);
Command AddBench(CLI::App& program);

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_COMMANDS_H_
