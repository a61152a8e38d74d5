// ropewalk info: what this build and this machine have.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/caches.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "ropewalk/executor.h"
#include "ropewalk/targets.h"
#include "ropewalk/version.h"

namespace ropewalk::cli {
namespace {

struct Arguments {
  RunArguments run;
  bool json = false;
};

std::string SizeText(size_t bytes) {
  return bytes == 0 ? "unknown" : fmt::format("{} KiB", bytes / 1024);
}

void PrintText(const bench::Caches& caches) {
  fmt::print("version           {}\n", Version());
  fmt::print("targets compiled  {}\n", fmt::join(CompiledTargets(), " "));
  fmt::print("targets usable    {}\n", fmt::join(UsableTargets(), " "));
  fmt::print("target in use     {}\n", CurrentTarget());
  fmt::print("threads           {}\n", NumThreads());
  fmt::print("L1d cache         {}\n", SizeText(caches.l1d));
  fmt::print("L2 cache          {}\n", SizeText(caches.l2));
  fmt::print("L3 cache          {}\n", SizeText(caches.l3));
}

void PrintJson(const bench::Caches& caches) {
  const nlohmann::ordered_json json = {
      {"version", Version()},
      {"targets",
       {{"compiled", CompiledTargets()},
        {"usable", UsableTargets()},
        {"in_use", CurrentTarget()}}},
      {"threads", NumThreads()},
      {"cache_bytes",
       {{"l1d", caches.l1d}, {"l2", caches.l2}, {"l3", caches.l3}}}};
  fmt::print("{}\n", json.dump(2));
}

Status Run(const Arguments& arguments) {
  const Status applied = arguments.run.Apply();
  if (!applied.ok()) return applied;
  const bench::Caches caches = bench::ReadCaches();
  arguments.json ? PrintJson(caches) : PrintText(caches);
  return Status();
}

}  // namespace

Command AddInfo(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "info", "Version, SIMD targets, threads and caches");
  auto arguments = std::make_shared<Arguments>();
  app->add_flag("--json", arguments->json, "As JSON");
  arguments->run.AddTo(*app);
  app->footer("Example:\n  ropewalk info --json");
  return {app, [arguments] { return Exit(Run(*arguments)); }};
}

}  // namespace ropewalk::cli
