// ropewalk bench: each operator against a copy of the same bytes.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/caches.h"
#include "bench/measure.h"
#include "bench/prepare.h"
#include "bench/table.h"
#include "bench/works.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "ropewalk/executor.h"
#include "ropewalk/targets.h"
#include "ropewalk/version.h"

namespace ropewalk::cli {
namespace {

constexpr int kPairs = 21;
constexpr int kQuickPairs = 5;

struct Arguments {
  RunArguments run;
  bool json = false;
  bool quick = false;
  std::string filter;
};

struct Row {
  std::string name;
  std::string shape;
  std::string plan;
  bench::Measurement measurement;
};

Result<Row> MeasureWork(const bench::Work& work, int pairs) {
  const Result<bench::Prepared> prepared = bench::Prepare(work);
  if (!prepared.ok()) return prepared.status();
  const Result<bench::Measurement> measurement = bench::Measure(
      prepared->run, prepared->bytes, prepared->yardstick, pairs);
  if (!measurement.ok()) return measurement.status();
  return Row{bench::WorkName(work), prepared->shape, prepared->describe,
             measurement.value()};
}

void PrintTable(const std::vector<Row>& rows) {
  bench::Table table({{"operator"},
                      {"shape"},
                      {"time", true},
                      {"GB/s", true},
                      {"of copy", true},
                      {"p10-p90", true},
                      {"copy GB/s", true},
                      {"compared with"}});
  for (const Row& row : rows) {
    const bench::Measurement& m = row.measurement;
    const bool compared = m.bytes != 0;
    table.Add(
        {row.name, row.shape, bench::TimeText(m.times.ns), bench::SpeedText(m),
         bench::FractionText(m),
         compared ? fmt::format("{:.2f}-{:.2f}", m.times.p10, m.times.p90) : "",
         compared ? fmt::format("{:.1f}", m.yardstick_gb_per_s()) : "",
         m.yardstick});
  }
  fmt::print("ropewalk {}, {}, {} threads\n\n", Version(), CurrentTarget(),
             NumThreads());
  table.Print(stdout);
}

nlohmann::ordered_json RowJson(const Row& row) {
  const bench::Measurement& m = row.measurement;
  nlohmann::ordered_json json = {{"operator", row.name},
                                 {"shape", row.shape},
                                 {"plan", row.plan},
                                 {"ns", m.times.ns}};
  if (m.bytes == 0) return json;
  json["bytes"] = m.bytes;
  json["gb_per_s"] = m.gb_per_s();
  json["copy"] = m.yardstick;
  json["copy_gb_per_s"] = m.yardstick_gb_per_s();
  json["fraction_of_copy"] = m.times.fraction;
  json["p10"] = m.times.p10;
  json["p90"] = m.times.p90;
  return json;
}

void PrintJson(const std::vector<Row>& rows, int pairs) {
  nlohmann::ordered_json json = {
      {"version", Version()},
      {"target", CurrentTarget()},
      {"threads", NumThreads()},
      {"last_level_cache_bytes", bench::ReadCaches().last_level()},
      {"pairs", pairs},
      {"results", nlohmann::ordered_json::array()}};
  for (const Row& row : rows) json["results"].push_back(RowJson(row));
  fmt::print("{}\n", json.dump(2));
}

Status Run(const Arguments& arguments) {
  const Status applied = arguments.run.Apply();
  if (!applied.ok()) return applied;
  const bool show = !arguments.run.quiet && isatty(STDERR_FILENO) != 0;
  const int pairs = arguments.quick ? kQuickPairs : kPairs;
  std::vector<Row> rows;
  for (const bench::Work& work : bench::AllWorks()) {
    const std::string name = bench::WorkName(work);
    if (name.find(arguments.filter) == name.npos) continue;
    if (show) fmt::print(stderr, "\r\033[K{}", name);
    Result<Row> row = MeasureWork(work, pairs);
    if (!row.ok()) return row.status();
    rows.push_back(std::move(*row));
  }
  if (show) fmt::print(stderr, "\r\033[K");
  if (rows.empty()) {
    return Status(Code::kOption,
                  fmt::format("--filter: must be part of an operator's name, "
                              "but is {}",
                              arguments.filter));
  }
  arguments.json ? PrintJson(rows, pairs) : PrintTable(rows);
  return Status();
}

}  // namespace

Command AddBench(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "bench", "Speed of each operator as a fraction of a copy");
  auto arguments = std::make_shared<Arguments>();
  app->add_flag("--json", arguments->json, "As JSON");
  app->add_flag("--quick", arguments->quick, "Fewer repetitions");
  app->add_option("--filter", arguments->filter,
                  "Only operators whose names have this text in them");
  arguments->run.AddTo(*app);
  app->footer(
      "Each operator and a copy of the same bytes by the same threads run by "
      "turns;\nfigures are medians. Bytes: rows read and written once, tables "
      "once.\nExample:\n  ropewalk bench --quick --filter \"rotate half\"");
  return {app, [arguments] { return Exit(Run(*arguments)); }};
}

}  // namespace ropewalk::cli
