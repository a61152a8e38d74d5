#include "cli/bench_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "bench/machine.h"
#include "bench/table.h"
#include "io/output_file.h"
#include "ropewalk/targets.h"
#include "ropewalk/version.h"

namespace ropewalk::cli {
namespace {

using Json = nlohmann::ordered_json;

// A goal, and how far a row is from it: "0.90", or "30 GB/s".
struct Verdict {
  std::string goal;
  bool reached = true;
  Json json;
};

Verdict Judge(const BenchRow& row) {
  const bench::Goal& goal = row.work.goal;
  const bench::Measurement& m = row.measurement;
  const auto threads = static_cast<double>(row.threads);
  Verdict verdict;
  const auto judge = [&verdict](const std::string& text, bool reached) {
    verdict.goal += (verdict.goal.empty() ? "" : ", ") + text;
    verdict.reached = verdict.reached && reached;
  };
  const double fraction = row.threads == 1 ? goal.one_thread : goal.threads;
  if (fraction != 0) {
    judge(fmt::format("{:.2f}", fraction), m.times.fraction.median >= fraction);
    verdict.json["fraction"] = fraction;
  }
  const double speed = goal.gb_per_s * threads;
  if (speed != 0 && m.compared() && m.yardstick_gb_per_s() >= 60 * threads) {
    judge(fmt::format("{:.0f} GB/s", speed), m.gb_per_s() >= speed);
    verdict.json["gb_per_s"] = speed;
  }
  if (goal.ns != 0) {
    judge(bench::TimeText(goal.ns), m.times.ns.median <= goal.ns);
    verdict.json["ns"] = goal.ns;
  }
  return verdict;
}

Json QuantilesJson(const bench::Quantiles& quantiles) {
  return {{"p10", quantiles.p10},
          {"median", quantiles.median},
          {"p90", quantiles.p90}};
}

Json RowJson(const BenchRow& row) {
  const bench::Measurement& m = row.measurement;
  Json json = {{"work", bench::WorkName(row.work)},
               {"group", row.work.group},
               {"shape", row.shape},
               {"threads", row.threads},
               {"plan", row.plan},
               {"pairs", m.times.pairs},
               {"ns", QuantilesJson(m.times.ns)}};
  if (m.bytes != 0) {
    json["bytes"] = m.bytes;
    json["gb_per_s"] = m.gb_per_s();
  }
  if (m.compared()) {
    json["yardstick"] = m.yardstick;
    json["yardstick_ns"] = QuantilesJson(m.times.yardstick_ns);
    json["yardstick_gb_per_s"] = m.yardstick_gb_per_s();
    json["fraction"] = QuantilesJson(m.times.fraction);
  }
  const Verdict verdict = Judge(row);
  if (!verdict.goal.empty()) {
    json["goal"] = verdict.json;
    json["reached"] = verdict.reached;
  }
  return json;
}

Json MachineJson() {
  const bench::Machine machine = bench::ReadMachine();
  return {{"cpu", machine.cpu},
          {"system", machine.system},
          {"cpus", machine.cpus},
          {"memory_bytes", machine.memory_bytes},
          {"cache_bytes",
           {{"l1d", machine.caches.l1d},
            {"l2", machine.caches.l2},
            {"l3", machine.caches.l3}}}};
}

std::string Today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

void PrintBench(const std::vector<BenchRow>& rows) {
  bench::Table table({{"operator"},
                      {"shape"},
                      {"threads", true},
                      {"time", true},
                      {"GB/s", true},
                      {"of copy", true},
                      {"p10-p90", true},
                      {"goal", true},
                      {"copy GB/s", true},
                      {"compared with"}});
  size_t goals = 0;
  size_t missed = 0;
  for (const BenchRow& row : rows) {
    const bench::Measurement& m = row.measurement;
    const Verdict verdict = Judge(row);
    goals += verdict.goal.empty() ? 0 : 1;
    missed += verdict.reached ? 0 : 1;
    table.Add(
        {bench::WorkName(row.work), row.shape, fmt::format("{}", row.threads),
         bench::TimeText(m.times.ns.median), bench::SpeedText(m),
         bench::FractionText(m),
         m.compared() ? fmt::format("{:.2f}-{:.2f}", m.times.fraction.p10,
                                    m.times.fraction.p90)
                      : "",
         verdict.goal + (verdict.reached ? "" : " missed"),
         m.compared() ? fmt::format("{:.1f}", m.yardstick_gb_per_s()) : "",
         m.yardstick});
  }
  fmt::print("ropewalk {}, commit {}, {}, {}\n\n", Version(), bench::Commit(),
             bench::Compiler(), CurrentTarget());
  table.Print(stdout);
  if (goals != 0) {
    fmt::print("\n{} of {} goals reached\n", goals - missed, goals);
  }
}

Status WriteBench(const std::string& path, const std::vector<BenchRow>& rows,
                  io::Pages pages) {
  Json json = {{"schema", 1},
               {"date", Today()},
               {"machine", MachineJson()},
               {"build",
                {{"version", Version()},
                 {"commit", bench::Commit()},
                 {"compiler", bench::Compiler()},
                 {"target", CurrentTarget()}}},
               {"pages", pages == io::Pages::kHuge ? "huge" : "small"},
               {"results", Json::array()}};
  for (const BenchRow& row : rows) json["results"].push_back(RowJson(row));
  const std::string text = json.dump(2) + "\n";
  if (path == "-") {
    fmt::print("{}", text);
    return Status();
  }
  Result<io::OutputFile> file = io::OutputFile::Create(path);
  if (!file.ok()) return file.status();
  const Status status = file->Write(text.data(), text.size());
  return status.ok() ? file->Commit() : status;
}

}  // namespace ropewalk::cli
