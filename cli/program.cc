#include "cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "ropewalk/version.h"

namespace ropewalk::cli {
namespace {

constexpr int kBadData = 1;
constexpr int kBadUsage = 2;
constexpr size_t kMaxMessage = 1000;

// One line, whatever stands in names and files.
int Fail(std::string_view message, int exit_code) {
  std::string line(message.substr(0, kMaxMessage));
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  fmt::print(stderr, "ropewalk: {}\n", line);
  return exit_code;
}

// An exception is data that could not be dealt with.
Result<int> RunOne(const Command& command) {
  try {
    return command.run();
  } catch (const std::bad_alloc&) {
    return Status(Code::kOutOfMemory, "not enough memory");
  } catch (const std::exception& error) {
    return Status(Code::kShape, error.what());
  }
}

int RunCommand(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    const Result<int> done = RunOne(command);
    if (!done.ok()) {
      const Status status = done.status();
      return Fail(status.message(), status.code() == Code::kOption
                                        ? kBadUsage
                                        : command.bad_data);
    }
    if (std::fflush(stdout) == 0) return *done;
    return Fail("standard output: cannot be written", command.bad_data);
  }
  std::string names;
  for (const Command& command : commands)
    names += " " + command.app->get_name();
  return Fail("a command is needed, one of:" + names, kBadUsage);
}

int Main(int argc, char** argv) {
  CLI::App program("Rotary position embedding, forward and backward.",
                   "ropewalk");
  program.set_version_flag("--version", Version());
  program.require_subcommand(0, 1);
  const std::vector<Command> commands = {
      AddRotate(program), AddBackward(program), AddCached(program),
      AddVerify(program), AddInfo(program),     AddBench(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    return asked ? program.exit(error) : Fail(error.what(), kBadUsage);
  }
  return RunCommand(commands);
}

}  // namespace

int RunProgram(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::bad_alloc&) {
    return Fail("not enough memory", kBadData);
  } catch (const std::exception& error) {
    return Fail(error.what(), kBadData);
  }
}

}  // namespace ropewalk::cli
