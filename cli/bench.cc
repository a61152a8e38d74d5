// ropewalk bench: each operator against a copy of the same bytes.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/prepare.h"
#include "bench/works.h"
#include "cli/bench_report.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "ropewalk/executor.h"

namespace ropewalk::cli {
namespace {

constexpr bench::Effort kEffort = {.pairs = 21, .least_pairs = 7, .ns = 5e8};
constexpr bench::Effort kQuickEffort = {
    .pairs = 5, .least_pairs = 3, .ns = 5e7};

struct Arguments {
  RunArguments run;
  std::string json;
  bool quick = false;
  bool huge_pages = false;
  bool list = false;
  std::string filter;
  std::string group;

  io::Pages pages() const {
    return huge_pages ? io::Pages::kHuge : io::Pages::kSmall;
  }
};

// Those that the filters let through.
std::vector<bench::Work> Chosen(const Arguments& arguments) {
  std::vector<bench::Work> chosen;
  for (const bench::Work& work : bench::AllWorks()) {
    const std::string name = bench::WorkName(work);
    const bool in_group = arguments.group.empty()
                              ? work.group != bench::kHugeGroup
                              : work.group == arguments.group;
    if (in_group && name.find(arguments.filter) != name.npos) {
      chosen.push_back(work);
    }
  }
  return chosen;
}

Result<BenchRow> MeasureWork(const bench::Work& work, size_t threads,
                             const Arguments& arguments) {
  SetNumThreads(threads);
  const Result<bench::Prepared> prepared =
      bench::Prepare(work, arguments.pages());
  if (!prepared.ok()) return prepared.status();
  const Result<bench::Measurement> measurement =
      bench::Measure(prepared->run, prepared->bytes,
                     {prepared->yardstick, arguments.pages(), prepared->rival},
                     arguments.quick ? kQuickEffort : kEffort);
  if (!measurement.ok()) return measurement.status();
  return BenchRow{work, threads, prepared->shape, prepared->describe,
                  *measurement};
}

// One thread and as many as there are, if nobody said how many.
std::vector<size_t> ThreadCounts(const Arguments& arguments) {
  const size_t threads = NumThreads();
  if (arguments.run.threads != 0 || threads == 1) return {threads};
  return {1, threads};
}

// Works that do not fit into memory are left out, with a word.
Result<std::vector<BenchRow>> MeasureAll(const std::vector<bench::Work>& works,
                                         const Arguments& arguments) {
  const bool show = !arguments.run.quiet && isatty(STDERR_FILENO) != 0;
  const std::vector<size_t> counts = ThreadCounts(arguments);
  std::vector<BenchRow> rows;
  size_t done = 0;
  for (const bench::Work& work : works) {
    const std::string name = bench::WorkName(work);
    if (show) {
      fmt::print(stderr, "\r\033[K{:3} of {}  {}", ++done, works.size(), name);
    }
    for (const size_t threads : counts) {
      Result<BenchRow> row = MeasureWork(work, threads, arguments);
      if (row.status().code() == Code::kOutOfMemory) {
        fmt::print(stderr, "\r\033[Kropewalk: left out: {}: {}\n", name,
                   row.status().message());
        break;
      }
      if (!row.ok()) return row.status();
      rows.push_back(std::move(*row));
    }
  }
  if (show) fmt::print(stderr, "\r\033[K");
  return rows;
}

Status Run(const Arguments& arguments) {
  const Status applied = arguments.run.Apply();
  if (!applied.ok()) return applied;
  const std::vector<bench::Work> works = Chosen(arguments);
  if (works.empty()) {
    return Status(Code::kOption,
                  fmt::format("--filter, --group: must leave an operator, but "
                              "'{}', '{}' leave none",
                              arguments.filter, arguments.group));
  }
  if (arguments.list) {
    for (const bench::Work& work : works) {
      fmt::print("{:9}  {}\n", work.group, bench::WorkName(work));
    }
    return Status();
  }
  const Result<std::vector<BenchRow>> rows = MeasureAll(works, arguments);
  if (!rows.ok()) return rows.status();
  if (arguments.json != "-") PrintBench(*rows);
  if (arguments.json.empty()) return Status();
  return WriteBench(arguments.json, *rows, arguments.pages());
}

}  // namespace

Command AddBench(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "bench", "Speed of each operator as a fraction of a copy");
  auto arguments = std::make_shared<Arguments>();
  app->add_option("--json", arguments->json,
                  "Also as JSON to this file; -: to standard output instead")
      ->type_name("FILE");
  app->add_flag("--quick", arguments->quick, "Fewer repetitions");
  app->add_option("--filter", arguments->filter,
                  "Only operators whose names have this text in them");
  app->add_option(
         "--group", arguments->group,
         "Only operators of this group, see --list; huge ones run only\n"
         "when named here")
      ->type_name("NAME");
  app->add_flag("--list", arguments->list,
                "Only list groups and names of operators");
  app->add_flag("--huge-pages", arguments->huge_pages,
                "Tensors on huge pages; default: on ordinary ones");
  arguments->run.AddTo(*app);
  app->footer(
      "Each operator and a copy of the same bytes by the same threads run by "
      "turns, on one\nthread and then on all; figures are medians. Bytes: rows "
      "read and written once, tables\nonce. A goal is the least fraction, the "
      "least speed or the longest time to reach.\nExample:\n"
      "  ropewalk bench --quick --filter decode");
  return {app, [arguments] { return Exit(Run(*arguments)); }};
}

}  // namespace ropewalk::cli
