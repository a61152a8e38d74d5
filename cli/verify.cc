// ropewalk verify: inputs and a result from elsewhere -> a report

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/inputs.h"
#include "cli/page.h"
#include "cli/picture.h"
#include "cli/report.h"
#include "io/output_file.h"
#include "ropewalk/verify.h"

namespace ropewalk::cli {
namespace {

constexpr char kName[] = "verify";
constexpr size_t kDropBytes = size_t{64} << 20;

// A tolerance by name: what CANN's tests of these operators use.
struct NamedLimit {
  std::string name;
  double rtol, atol;
};
const NamedLimit kSets[] = {
    {"rope-fp32", 1e-3, 1e-5},    {"rope-fp16", 1e-2, 1e-3},
    {"rope-bf16", 1e-2, 1e-2},    {"partial-fp32", 1e-3, 1e-8},
    {"partial-fp16", 1e-3, 1e-8}, {"partial-bf16", 1e-2, 1e-8}};

// What verify takes whichever the operator.
struct VerifyArguments {
  RunArguments run;
  std::vector<std::string> inputs, results, raws;
  std::string prefix, result_prefix;
  Reference reference = Reference::kExact;
  bool exact = false, no_diagnosis = false, json = false;
  std::optional<double> ulp, rtol, atol;
  std::string set;
  size_t worst = 5;
  std::string plot, html;

  void AddTo(CLI::App& app, const std::string& reads,
             const std::string& results_named);
  void AddLimits(CLI::App& app);
  void AddReports(CLI::App& app);
  Result<Limit> ChosenLimit() const;
};

void VerifyArguments::AddTo(CLI::App& app, const std::string& reads,
                            const std::string& results_named) {
  app.add_option("-i,--input", inputs,
                 "Where " + reads +
                     " are: a .safetensors file, a folder of\n.npy files or "
                     "raw dumps, a .npy file, or NAME=FILE.npy. May be\ngiven "
                     "more than once")
      ->type_name("IN")
      ->required()
      ->allow_extra_args(false);
  app.add_option("--result", results,
                 "Where the result is, likewise: " + results_named)
      ->type_name("DUMP")
      ->required()
      ->allow_extra_args(false);
  app.add_option("--raw", raws,
                 "NAME=DTYPE:SIZE,SIZE,...: the file NAME.bin of a folder\nis "
                 "a raw dump, row-major, of dtype f32, f16, bf16, f64, i32\nor "
                 "i64. May be given more than once")
      ->type_name("TENSOR")
      ->allow_extra_args(false);
  app.add_option("--prefix", prefix, "Read P.x, P.cos, ... of IN for x, cos")
      ->type_name("P");
  app.add_option("--result-prefix", result_prefix,
                 "Likewise of DUMP; default: as --prefix")
      ->type_name("P");
  AddLimits(app);
  AddReports(app);
}

void VerifyArguments::AddLimits(CLI::App& app) {
  AddChoice<Reference>(app, "--reference", reference,
                       {{"exact", Reference::kExact},
                        {"contract", Reference::kContract},
                        {"eager-bf16", Reference::kEagerBF16},
                        {"eager-fp16", Reference::kEagerFP16}},
                       "What to compare with: the result in double\n(default), "
                       "the library's own, or the usual formula with\neach "
                       "operation rounded to 16 bits");
  auto* bits = app.add_flag("--exact", exact, "Demand the library's bits");
  auto* by_ulp = app.add_option("--ulp", ulp, "Limit in ulp")
                     ->type_name("N")
                     ->excludes(bits);
  app.add_option("--rtol", rtol, "Limit: atol + rtol * |reference|")
      ->type_name("R")
      ->excludes(bits)
      ->excludes(by_ulp);
  app.add_option("--atol", atol, "Likewise")
      ->type_name("A")
      ->excludes(bits)
      ->excludes(by_ulp);
  std::vector<std::string> names;
  for (const NamedLimit& limit : kSets) names.push_back(limit.name);
  app.add_option("--set", set, "Limit of CANN's own tests, by name")
      ->type_name("NAME")
      ->check(CLI::IsMember(names))
      ->excludes(bits)
      ->excludes(by_ulp)
      ->excludes("--rtol")
      ->excludes("--atol");
}

void VerifyArguments::AddReports(CLI::App& app) {
  app.add_option("--worst", worst, "How many of the largest errors to list")
      ->type_name("N")
      ->check(CLI::Range(size_t{0}, size_t{1000}));
  app.add_flag("--no-diagnosis", no_diagnosis, "Do not look for the cause");
  app.add_flag("--json", json, "Report as JSON");
  const auto ends_in = [](const char* suffix) {
    return CLI::Validator(
        [suffix](const std::string& path) {
          return path.ends_with(suffix) ? std::string()
                                        : fmt::format("must end in {}", suffix);
        },
        "");
  };
  app.add_option("--plot", plot,
                 "Also draw the errors: by position and column, by head,\nand "
                 "how many of each size")
      ->type_name("FILE.svg")
      ->check(ends_in(".svg"));
  app.add_option("--html", html,
                 "Also write the report with its picture as one page")
      ->type_name("FILE.html")
      ->check(ends_in(".html"));
}

Result<Limit> VerifyArguments::ChosenLimit() const {
  Limit limit;
  if (exact) limit.kind = Limit::Kind::kBits;
  if (ulp) {
    limit.kind = Limit::Kind::kUlp;
    limit.ulp = *ulp;
  }
  if (rtol || atol) {
    limit.kind = Limit::Kind::kTolerance;
    limit.rtol = rtol.value_or(0);
    limit.atol = atol.value_or(0);
  }
  for (const NamedLimit& named : kSets) {
    if (named.name != set) continue;
    limit.kind = Limit::Kind::kTolerance;
    limit.rtol = named.rtol;
    limit.atol = named.atol;
  }
  return limit;
}

// The bar; and what has been read is dropped from memory now and then.
class Bar : public VerifyProgress {
 public:
  Bar(bool show, std::vector<const Inputs*> inputs)
      : progress_(show), inputs_(std::move(inputs)) {}

  void OnProgress(const std::string& output, bool diagnosis, size_t done,
                  size_t total) override {
    const std::string phase = output + (diagnosis ? ": causes" : "");
    if (phase != phase_ || done < done_) {
      phase_ = phase;
      done_ = kept_ = 0;
      progress_.Start(phase, total);
    }
    progress_.Add(done - done_);
    done_ = done;
    if (done_ - kept_ < kDropBytes) return;
    kept_ = done_;
    for (const Inputs* inputs : inputs_) inputs->DropFromMemory();
  }

 private:
  Progress progress_;
  std::vector<const Inputs*> inputs_;
  std::string phase_;
  size_t done_ = 0, kept_ = 0;
};

Status WriteText(const std::string& path, const std::string& text) {
  Result<io::OutputFile> file = io::OutputFile::Create(path);
  if (!file.ok()) return file.status();
  const Status status = file->Write(text.data(), text.size());
  return status.ok() ? file->Commit() : status;
}

// The picture and the page, if they are asked for.
Status WriteFiles(const VerifyArguments& arguments, const VerifyReport& report,
                  const std::string& operation) {
  const std::string title = fmt::format(
      "ropewalk verify {}: {}", operation,
      report.ok                  ? "within the limit"
      : report.diagnosis.empty() ? "wrong"
                                 : "wrong, " + report.diagnosis[0].id);
  Status status;
  if (!arguments.plot.empty()) {
    status = WriteText(arguments.plot, DrawErrors(report, title));
  }
  if (status.ok() && !arguments.html.empty()) {
    std::string command = "ropewalk verify " + operation;
    for (const std::string& input : arguments.inputs) command += " -i " + input;
    for (const std::string& result : arguments.results) {
      command += " --result " + result;
    }
    status = WriteText(arguments.html, ReportPage(report, title, command));
  }
  if (status.ok()) return status;
  return Status(status.code(), fmt::format("[{}] {}", kName, status.message()));
}

// Runs the call that `make` fills from the inputs and the result.
template <class Call, class Make>
Result<int> RunVerify(const VerifyArguments& arguments,
                      const std::string& operation, const Make& make) {
  const Status applied = arguments.run.Apply();
  if (!applied.ok()) return applied;
  const Result<Limit> limit = arguments.ChosenLimit();
  if (!limit.ok()) return limit.status();
  Inputs inputs(kName, arguments.inputs, arguments.prefix, arguments.raws);
  Inputs results(kName, arguments.results,
                 arguments.result_prefix.empty() ? arguments.prefix
                                                 : arguments.result_prefix,
                 arguments.raws);
  Call call;
  make(inputs, results, &call);
  if (!inputs.status().ok()) return inputs.status();
  if (!results.status().ok()) return results.status();
  Bar bar(!arguments.run.quiet, {&inputs, &results});
  VerifyOptions options;
  options.reference = arguments.reference;
  options.limit = *limit;
  options.diagnose = !arguments.no_diagnosis;
  options.worst = arguments.worst;
  options.map = !arguments.plot.empty() || !arguments.html.empty();
  options.progress = &bar;
  const Result<VerifyReport> report = Verify(call, options);
  if (!report.ok()) return report.status();
  const Status written = WriteFiles(arguments, *report, operation);
  if (!written.ok()) return written;
  if (arguments.json) {
    fmt::print("{}\n", ReportJson(*report));
  } else {
    fmt::print("{}", ReportText(*report, operation));
  }
  return report->ok ? 0 : 1;
}

struct RotateVerify {
  VerifyArguments verify;
  RotateArguments rotate;
};

Result<int> RunRotate(const RotateVerify& arguments) {
  return RunVerify<VerifyRotateCall>(
      arguments.verify, "rotate",
      [&](Inputs& inputs, Inputs& results, VerifyRotateCall* call) {
        call->options = arguments.rotate.Options();
        call->x = inputs.Need("x");
        call->cos = inputs.Need("cos");
        call->sin = inputs.Need("sin");
        call->y = results.Need("y");
      });
}

Result<int> RunBackward(const RotateVerify& arguments) {
  return RunVerify<VerifyBackwardCall>(
      arguments.verify, "backward",
      [&](Inputs& inputs, Inputs& results, VerifyBackwardCall* call) {
        call->options = arguments.rotate.Options();
        call->dy = inputs.Need("dy");
        call->cos = inputs.Need("cos");
        call->sin = inputs.Need("sin");
        call->x = inputs.Find("x");
        call->dcos = results.Find("dcos");
        call->dsin = results.Find("dsin");
        // Named in the message if there is none of the three.
        call->dx =
            call->dcos || call->dsin ? results.Find("dx") : results.Need("dx");
      });
}

struct CachedVerify {
  VerifyArguments verify;
  CachedArguments cached;
};

Result<int> RunCached(const CachedVerify& arguments) {
  return RunVerify<VerifyCachedCall>(
      arguments.verify, "cached",
      [&](Inputs& inputs, Inputs& results, VerifyCachedCall* call) {
        call->options = arguments.cached.Options();
        call->positions = inputs.Need("positions");
        call->cache = inputs.Need("cache");
        call->query = inputs.Need("query");
        call->key = inputs.Find("key");
        call->key_out = results.Find("key");
        call->query_out =
            call->key_out ? results.Find("query") : results.Need("query");
      });
}

}  // namespace

Command AddVerify(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      kName, "Is a result from elsewhere right and, if not, why");
  app->require_subcommand(1);
  auto rotate = std::make_shared<RotateVerify>();
  CLI::App* rotate_app = app->add_subcommand("rotate", "A result of rotate: y");
  rotate->rotate.AddTo(*rotate_app);
  rotate->verify.AddTo(*rotate_app, "x, cos, sin", "y");
  rotate->verify.run.AddTo(*rotate_app);
  auto backward = std::make_shared<RotateVerify>();
  CLI::App* backward_app = app->add_subcommand(
      "backward", "A result of backward: dx, dcos, dsin or some of them");
  backward->rotate.AddTo(*backward_app);
  backward->verify.AddTo(*backward_app, "dy, cos, sin and perhaps x",
                         "dx, dcos, dsin");
  backward->verify.run.AddTo(*backward_app);
  auto cached = std::make_shared<CachedVerify>();
  CLI::App* cached_app =
      app->add_subcommand("cached", "A result of cached: query, key or both");
  cached->cached.AddTo(*cached_app);
  cached->verify.AddTo(*cached_app, "positions, query, cache and perhaps key",
                       "query, key");
  cached->verify.run.AddTo(*cached_app);
  app->footer(
      "The program ends with 0 if the result is within its limit, with 1 if "
      "not,\nwith 2 if that cannot be said. Example, in the source folder:\n"
      "  ropewalk verify rotate --pairing half "
      "-i data/smollm2_query.safetensors --result "
      "data/smollm2_query.safetensors");
  Command command{app, {}, 2};
  command.run = [=]() -> Result<int> {
    if (rotate_app->parsed()) return RunRotate(*rotate);
    if (backward_app->parsed()) return RunBackward(*backward);
    return RunCached(*cached);
  };
  return command;
}

}  // namespace ropewalk::cli
