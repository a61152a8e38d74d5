// ropewalk backward: dy cos sin [x] -> dx [dcos dsin]

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/inputs.h"

namespace ropewalk::cli {
namespace {

constexpr char kName[] = "backward";

struct Arguments {
  RunArguments run;
  FileArguments files;
  RotateArguments rotate;
};

struct Operands {
  ConstTensor dy, cos, sin;
  std::optional<ConstTensor> x;  // with it: dcos and dsin
};

RotateBackwardTensors Tensors(const Operands& operands) {
  RotateBackwardTensors tensors;
  tensors.dy = operands.dy.desc;
  tensors.cos = operands.cos.desc;
  tensors.sin = operands.sin.desc;
  tensors.dx = ContiguousLike(operands.dy.desc);
  if (operands.x) {
    tensors.x = operands.x->desc;
    tensors.dcos = tensors.dsin = ContiguousLike(operands.cos.desc);
  }
  return tensors;
}

RotateBackwardBuffers Buffers(const Operands& operands,
                              const RotateBackwardTensors& tensors,
                              Outputs& outputs) {
  RotateBackwardBuffers buffers;
  buffers.dy = operands.dy.data;
  buffers.cos = operands.cos.data;
  buffers.sin = operands.sin.data;
  buffers.dx = outputs.Add("dx", *tensors.dx);
  if (operands.x) {
    buffers.x = operands.x->data;
    buffers.dcos = outputs.Add("dcos", *tensors.dcos);
    buffers.dsin = outputs.Add("dsin", *tensors.dsin);
  }
  return buffers;
}

Status Run(const Arguments& arguments) {
  const Status applied = arguments.run.Apply();
  if (!applied.ok()) return applied;
  Inputs inputs(kName, arguments.files.inputs, arguments.files.prefix);
  const Operands operands{inputs.Need("dy"), inputs.Need("cos"),
                          inputs.Need("sin"), inputs.Find("x")};
  if (!inputs.status().ok()) return inputs.status();

  const RotateBackwardTensors tensors = Tensors(operands);
  const Result<Plan> plan =
      MakeRotateBackwardPlan(arguments.rotate.Options(), tensors);
  if (!plan.ok()) return plan.status();

  Outputs outputs(kName, arguments.files.output);
  const RotateBackwardBuffers buffers = Buffers(operands, tensors, outputs);
  if (!outputs.status().ok()) return outputs.status();
  return RunAndWrite(kName, plan.value(), buffers, outputs,
                     !arguments.run.quiet);
}

}  // namespace

Command AddBackward(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      kName, "The gradients of rotate: dx, and with x also dcos and dsin");
  auto arguments = std::make_shared<Arguments>();
  arguments->rotate.AddTo(*app);
  arguments->files.AddTo(*app, "dy, cos, sin and perhaps x",
                         "dx and, if there is an x, dcos and dsin");
  arguments->run.AddTo(*app);
  app->footer(
      "Example, in the source folder:\n"
      "  ropewalk backward --pairing half -i data/smollm2_key.safetensors "
      "-o gradients.safetensors");
  return {app, [arguments] { return Exit(Run(*arguments)); }};
}

}  // namespace ropewalk::cli
