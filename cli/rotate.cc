// ropewalk rotate: x cos sin -> y

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/inputs.h"

namespace ropewalk::cli {
namespace {

constexpr char kName[] = "rotate";

struct Arguments {
  RunArguments run;
  FileArguments files;
  RotateArguments rotate;
};

Status Run(const Arguments& arguments) {
  const Status applied = arguments.run.Apply();
  if (!applied.ok()) return applied;
  Inputs inputs(kName, arguments.files.inputs, arguments.files.prefix);
  const ConstTensor x = inputs.Need("x");
  const ConstTensor cos = inputs.Need("cos");
  const ConstTensor sin = inputs.Need("sin");
  if (!inputs.status().ok()) return inputs.status();

  RotateTensors tensors;
  tensors.x = x.desc;
  tensors.cos = cos.desc;
  tensors.sin = sin.desc;
  tensors.y = ContiguousLike(x.desc);
  const Result<Plan> plan = MakeRotatePlan(arguments.rotate.Options(), tensors);
  if (!plan.ok()) return plan.status();

  Outputs outputs(kName, arguments.files.output);
  RotateBuffers buffers;
  buffers.x = x.data;
  buffers.cos = cos.data;
  buffers.sin = sin.data;
  buffers.y = outputs.Add("y", tensors.y);
  if (!outputs.status().ok()) return outputs.status();
  return RunAndWrite(kName, plan.value(), buffers, outputs,
                     !arguments.run.quiet);
}

}  // namespace

Command AddRotate(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand(kName, "Rotate x by the tables cos and sin to y");
  auto arguments = std::make_shared<Arguments>();
  arguments->rotate.AddTo(*app);
  arguments->files.AddTo(*app, "x, cos, sin", "y");
  arguments->run.AddTo(*app);
  app->footer(
      "Example, in the source folder:\n"
      "  ropewalk rotate --pairing half -i data/smollm2_query.safetensors "
      "-o out.safetensors\n"
      "The same from arrays of NumPy, to one:\n"
      "  ropewalk rotate --pairing half -i folder -i x=other_x.npy -o y.npy");
  return {app, [arguments] { return Exit(Run(*arguments)); }};
}

}  // namespace ropewalk::cli
