// ropewalk cached: positions query [key] cache -> query [key]

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/inputs.h"

namespace ropewalk::cli {
namespace {

constexpr char kName[] = "cached";

struct Arguments {
  RunArguments run;
  FileArguments files;
  CachedArguments cached;
};

struct Operands {
  ConstTensor positions, query, cache;
  std::optional<ConstTensor> key;
};

RotateCachedTensors Tensors(const Operands& operands) {
  RotateCachedTensors tensors;
  tensors.positions = operands.positions.desc;
  tensors.cache = operands.cache.desc;
  tensors.query = operands.query.desc;
  tensors.query_out = ContiguousLike(operands.query.desc);
  if (operands.key) {
    tensors.key = operands.key->desc;
    tensors.key_out = ContiguousLike(operands.key->desc);
  }
  return tensors;
}

RotateCachedBuffers Buffers(const Operands& operands,
                            const RotateCachedTensors& tensors,
                            Outputs& outputs) {
  RotateCachedBuffers buffers;
  buffers.positions = operands.positions.data;
  buffers.cache = operands.cache.data;
  buffers.query = operands.query.data;
  buffers.query_out = outputs.Add("query", tensors.query_out);
  if (operands.key) {
    buffers.key = operands.key->data;
    buffers.key_out = outputs.Add("key", *tensors.key_out);
  }
  return buffers;
}

Status Run(const Arguments& arguments) {
  const Status applied = arguments.run.Apply();
  if (!applied.ok()) return applied;
  Inputs inputs(kName, arguments.files.inputs, arguments.files.prefix);
  const Operands operands{inputs.Need("positions"), inputs.Need("query"),
                          inputs.Need("cache"), inputs.Find("key")};
  if (!inputs.status().ok()) return inputs.status();

  const RotateCachedOptions options = arguments.cached.Options();
  const RotateCachedTensors tensors = Tensors(operands);
  const Result<Plan> plan = MakeRotateCachedPlan(options, tensors);
  if (!plan.ok()) return plan.status();

  Outputs outputs(kName, arguments.files.output);
  const RotateCachedBuffers buffers = Buffers(operands, tensors, outputs);
  if (!outputs.status().ok()) return outputs.status();
  return RunAndWrite(kName, plan.value(), buffers, outputs,
                     !arguments.run.quiet);
}

}  // namespace

Command AddCached(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      kName, "Rotate query and key by the rows of a cache that positions name");
  auto arguments = std::make_shared<Arguments>();
  arguments->cached.AddTo(*app);
  arguments->files.AddTo(*app, "positions, query, cache and perhaps key",
                         "query and, if there is one, key");
  arguments->run.AddTo(*app);
  app->footer(
      "Example, in the source folder:\n"
      "  ropewalk cached --style neox --head-size 64 "
      "-i data/smollm2_cached.safetensors -o rotated.safetensors");
  return {app, [arguments] { return Exit(Run(*arguments)); }};
}

}  // namespace ropewalk::cli
