// The program of `make demo`: the library's main job on real activations of a
// language model, checked, with a table of the results.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/prepare.h"
#include "bench/table.h"
#include "bench/works.h"
#include "demo/check.h"
#include "io/output_file.h"
#include "ropewalk/executor.h"
#include "ropewalk/targets.h"
#include "ropewalk/version.h"

namespace ropewalk::demo {
namespace {

constexpr bench::Effort kEffort = {.pairs = 15};

// Made input too large for the caches: the speed that counts.
constexpr bench::Work kLargeWorks[] = {
    {},
    {.dtype = Dtype::kBF16},
    {.kind = bench::Kind::kInPlace},
    {.kind = bench::Kind::kGradients},
    {.kind = bench::Kind::kCached},
};

Result<std::vector<Row>> RunAll(const std::string& data,
                                const std::string& out) {
  std::vector<Row> rows;
  for (const Result<std::vector<Row>>& part :
       {RotateRows("query", data + "/smollm2_query.safetensors",
                   out + "/query.safetensors"),
        RotateRows("key", data + "/smollm2_key.safetensors",
                   out + "/key.safetensors"),
        CachedRows(data + "/smollm2_cached.safetensors",
                   out + "/cached.safetensors")}) {
    if (!part.ok()) return part.status();
    std::ranges::copy(part.value(), std::back_inserter(rows));
  }
  return rows;
}

void PrintRows(const std::vector<Row>& rows) {
  bench::Table table({{"operator"},
                      {"output"},
                      {"shape"},
                      {"dtype"},
                      {"time", true},
                      {"GB/s", true},
                      {"of copy", true},
                      {"largest error", true},
                      {"as expected"}});
  for (const Row& row : rows) {
    table.Add({row.operation, row.output, bench::ShapeText(row.desc),
               DtypeName(row.desc.dtype),
               bench::TimeText(row.measurement.times.ns.median),
               bench::SpeedText(row.measurement),
               bench::FractionText(row.measurement),
               fmt::format("{:.2g}", row.max_abs_error),
               row.as_expected ? "yes" : "NO"});
  }
  table.Print(stdout);
}

Status PrintLargeWorks() {
  bench::Table table({{"operator"},
                      {"shape"},
                      {"time", true},
                      {"GB/s", true},
                      {"of copy", true},
                      {"compared with"}});
  for (const bench::Work& work : kLargeWorks) {
    const Result<bench::Prepared> prepared = bench::Prepare(work);
    if (!prepared.ok()) return prepared.status();
    const Result<bench::Measurement> m =
        bench::Measure(prepared->run, prepared->bytes,
                       {.yardstick = prepared->yardstick}, kEffort);
    if (!m.ok()) return m.status();
    table.Add({bench::WorkName(work), prepared->shape,
               bench::TimeText(m->times.ns.median), bench::SpeedText(*m),
               bench::FractionText(*m), m->yardstick});
  }
  table.Print(stdout);
  return Status();
}

Status WriteJson(const std::vector<Row>& rows, const std::string& path) {
  auto json = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    json.push_back(
        {{"operator", row.operation},
         {"output", row.output},
         {"as_expected", row.as_expected},
         {"max_abs_error", row.max_abs_error},
         {"fraction_of_copy", row.measurement.times.fraction.median}});
  }
  const std::string text = json.dump(2) + "\n";
  Result<io::OutputFile> file = io::OutputFile::Create(path);
  if (!file.ok()) return file.status();
  const Status status = file->Write(text.data(), text.size());
  return status.ok() ? file->Commit() : status;
}

// Whether all rows are as expected.
Result<bool> Demo(const std::string& data, const std::string& out) {
  std::filesystem::create_directories(out);
  fmt::print(
      "Layer 12 of SmolLM2-135M-Instruct on 128 tokens of text, half pairing\n"
      "ropewalk {}, {}, {} threads\n\n",
      Version(), CurrentTarget(), NumThreads());
  const Result<std::vector<Row>> rows = RunAll(data, out);
  if (!rows.ok()) return rows.status();
  PrintRows(rows.value());
  const Status written = WriteJson(rows.value(), out + "/results.json");
  if (!written.ok()) return written;

  fmt::print("\nMade input of 32 MiB and more, too large for most caches\n\n");
  const Status large = PrintLargeWorks();
  if (!large.ok()) return large;
  const auto expected = static_cast<size_t>(
      std::ranges::count_if(rows.value(), &Row::as_expected));
  fmt::print(
      "\nof copy: a copy's time (for a backward with dcos and dsin: that of a\n"
      "  triad) for the same bytes by the same threads, divided by the time\n"
      "largest error: against the result in double precision\n"
      "as expected: the bits of PyTorch's formula; dcos and dsin: the error\n"
      "  is within 4 * 2^-24 of the sum of the terms' magnitudes\n\n"
      "{} of {} results are as expected. They are in {}.\n",
      expected, rows.value().size(), out);
  return expected == rows.value().size();
}

int Main(int argc, char** argv) {
  CLI::App program("Rotates real activations and shows the results.",
                   "ropewalk-demo");
  std::string data = "data";
  std::string out = "build/demo";
  program.add_option("--data", data, "Folder of the activations")
      ->type_name("DIR");
  program.add_option("--out", out, "Folder for the results")->type_name("DIR");
  CLI11_PARSE(program, argc, argv);
  const Result<bool> result = Demo(data, out);
  if (!result.ok()) {
    fmt::print(stderr, "ropewalk-demo: {}\n", result.status().message());
  }
  return result.ok() && result.value() ? 0 : 1;
}

}  // namespace
}  // namespace ropewalk::demo

int main(int argc, char** argv) {
  try {
    return ropewalk::demo::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "ropewalk-demo: {}\n", error.what());
    return 1;
  }
}
