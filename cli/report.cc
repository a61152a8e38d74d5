#include "cli/report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace ropewalk::cli {
namespace {

using nlohmann::ordered_json;

// JSON has no infinity and no NaN.
ordered_json Number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json OutputJson(const OutputReport& output) {
  ordered_json json;
  json["ok"] = output.ok;
  json["max_ulp"] = Number(output.max_ulp);
  json["mean_ulp"] = Number(output.mean_ulp);
  json["max_abs"] = Number(output.max_abs);
  json["mean_abs"] = Number(output.mean_abs);
  json["correctly_rounded"] = output.correctly_rounded;
  json["elements"] = output.elements;
  json["outside"] = output.outside;
  json["nan_mismatches"] = output.nan_mismatches;
  json["inf_mismatches"] = output.inf_mismatches;
  json["worst"] = ordered_json::array();
  json["worst_errors"] = ordered_json::array();
  for (const WorstError& worst : output.worst) {
    json["worst"].push_back(worst.index);
    json["worst_errors"].push_back({{"ulp", Number(worst.ulp)},
                                    {"got", Number(worst.got)},
                                    {"want", Number(worst.want)},
                                    {"position", worst.position},
                                    {"head", worst.head},
                                    {"column", worst.column}});
  }
  return json;
}

ordered_json CauseJson(const Cause& cause) {
  ordered_json json;
  json["cause"] = cause.id;
  json["explains"] = cause.explains;
  json["outputs"] = cause.outputs;
  if (!cause.detail.empty()) json["detail"] = cause.detail;
  if (!cause.with.empty()) json["with"] = cause.with;
  json["fit_before"] = cause.fit_before;
  json["fit_after"] = cause.fit_after;
  return json;
}

std::string OutputText(const OutputReport& output) {
  std::string text = fmt::format(
      "{} {} {}: {}\n", output.name, DtypeName(output.dtype),
      IndexText(output.shape), output.ok ? "within the limit" : "WRONG");
  text += fmt::format("  elements            {}\n", output.elements);
  if (!output.ok) {
    text += fmt::format(
        "  outside the limit   {} ({:.3g} %)\n", output.outside,
        100.0 * static_cast<double>(output.outside) /
            static_cast<double>(std::max<int64_t>(output.elements, 1)));
  }
  text += fmt::format("  error in ulp        largest {:.4g}, mean {:.4g}\n",
                      output.max_ulp, output.mean_ulp);
  text += fmt::format("  error               largest {:.4g}, mean {:.4g}\n",
                      output.max_abs, output.mean_abs);
  text += fmt::format("  correctly rounded   {:.6g} %\n",
                      100 * output.correctly_rounded);
  if (output.nan_mismatches + output.inf_mismatches > 0) {
    text += fmt::format("  wrong NaN, Inf      {}, {}\n", output.nan_mismatches,
                        output.inf_mismatches);
  }
  for (const WorstError& worst : output.worst) {
    text += fmt::format(
        "  at {:<20} got {:.9g}, not {:.9g}: {:.4g} ulp (position {}, head {}, "
        "column {})\n",
        IndexText(worst.index), worst.got, worst.want, worst.ulp,
        worst.position, worst.head, worst.column);
  }
  return text;
}

std::string CauseText(const Cause& cause) {
  std::string text = fmt::format("  {}", cause.id);
  if (!cause.with.empty()) text += fmt::format(" with {}", cause.with);
  if (!cause.detail.empty()) text += fmt::format(" ({})", cause.detail);
  if (cause.id == "unknown") return text + "\n";
  std::string outputs;
  for (const std::string& name : cause.outputs) {
    outputs += (outputs.empty() ? "" : ", ") + name;
  }
  return text +
         fmt::format(
             ": explains {:.4g} % of what is wrong in {}\n"
             "      within the limit: {:.4g} % as it should be, {:.4g} % as "
             "the mistake makes it\n",
             100 * cause.explains, outputs, 100 * cause.fit_before,
             100 * cause.fit_after);
}

}  // namespace

std::string IndexText(const std::vector<int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string ReportText(const VerifyReport& report,
                       const std::string& operation) {
  std::string text = fmt::format("{}: {}\n", operation,
                                 report.ok ? "within the limit" : "WRONG");
  for (const OutputReport& output : report.outputs) text += OutputText(output);
  if (report.diagnosis.empty()) return text;
  text += "what would give this result:\n";
  for (const Cause& cause : report.diagnosis) text += CauseText(cause);
  return text;
}

std::string ReportJson(const VerifyReport& report) {
  ordered_json json;
  json["ok"] = report.ok;
  json["outputs"] = ordered_json::object();
  for (const OutputReport& output : report.outputs) {
    json["outputs"][output.name] = OutputJson(output);
  }
  json["diagnosis"] = ordered_json::array();
  for (const Cause& cause : report.diagnosis) {
    json["diagnosis"].push_back(CauseJson(cause));
  }
  return json.dump(2);
}

}  // namespace ropewalk::cli
