// What the commands share: options, and running a plan.

#ifndef ROPEWALK_CLI_COMMON_H_
#define ROPEWALK_CLI_COMMON_H_

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/outputs.h"
#include "cli/progress.h"
#include "io/buffer.h"
#include "ropewalk/ops.h"
#include "ropewalk/plan.h"
#include "ropewalk/status.h"

namespace ropewalk::cli {

/// Options of how to run.
struct RunArguments {
  size_t threads = 0;
  std::string target;
  bool quiet = false;

  void AddTo(CLI::App& app);
  /// Sets threads and target; refuses an unknown target.
  Status Apply() const;
};

/// Options of which tensors to read and write.
struct FileArguments {
  std::string prefix;
  std::vector<std::string> inputs;
  std::string output;

  /// `reads` and `writes` name the tensors, for the help.
  void AddTo(CLI::App& app, const std::string& reads,
             const std::string& writes);
};

/// --pairing and --slice.
struct RotateArguments {
  Pairing pairing = Pairing::kHalf;
  std::vector<int64_t> slice;

  void AddTo(CLI::App& app);
  RotateOptions Options() const;
};

/// --style, --head-size, --sections, --axes and --backward.
struct CachedArguments {
  std::vector<int64_t> sections;
  RotateCachedOptions options;  ///< without sections
  bool backward = false;

  void AddTo(CLI::App& app);
  /// With a span of `sections`.
  RotateCachedOptions Options() const;
};

/// A contiguous tensor of the same dtype and shape.
TensorDesc ContiguousLike(const TensorDesc& desc);

/// Values of an option, by name.
template <class Enum>
using Names = std::vector<std::pair<std::string, Enum>>;

/// An option that takes one of `names`.
template <class Enum>
CLI::Option* AddChoice(CLI::App& app, const std::string& flag, Enum& value,
                       const Names<Enum>& names, const std::string& help) {
  const auto set = [&value, names](const std::string& text) {
    value =
        std::ranges::find(names, text, &Names<Enum>::value_type::first)->second;
  };
  return app.add_option_function<std::string>(flag, set, help)
      ->check(CLI::IsMember(names))
      ->type_name("NAME");
}

/// Runs `plan` with a workspace, then writes `outputs`.
template <class Buffers>
Status RunAndWrite(const std::string& command, const Plan& plan,
                   const Buffers& buffers, const Outputs& outputs,
                   bool show_progress) {
  const Result<io::Buffer> workspace =
      io::Buffer::Allocate(plan.workspace_bytes());
  if (!workspace.ok()) return workspace.status();
  Progress progress(show_progress);
  CountingExecutor executor(command, progress);
  const Status status =
      plan.Run(buffers, {&executor, workspace.value().bytes()});
  return status.ok() ? outputs.Write(progress) : status;
}

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_COMMON_H_
