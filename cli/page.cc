#include "cli/page.h"

#include <fmt/format.h>

#include "cli/picture.h"
#include "cli/report.h"
#include "ropewalk/version.h"

namespace ropewalk::cli {
namespace {

constexpr char kStyle[] =
    "body{margin:0;background:#eef1f4;color:#2b3440;"
    "font:15px/1.5 system-ui,'DejaVu Sans',sans-serif}"
    "main{max-width:1080px;margin:24px auto;background:#fff;padding:24px 32px;"
    "border-radius:8px;box-shadow:0 1px 4px #0002}"
    "h1{font-size:22px;margin:0}h2{font-size:17px;margin:28px 0 8px}"
    "code{background:#f0f2f5;padding:2px 6px;border-radius:4px;"
    "overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:"
    "tabular-nums}"
    "th,td{text-align:right;padding:4px 10px;border-bottom:1px solid #e3e7eb}"
    "th:first-child,td:first-child{text-align:left}"
    "th{font-weight:600;color:#55606c}"
    ".verdict{display:inline-block;margin:10px 0;padding:4px 14px;"
    "border-radius:14px;font-weight:600;color:#fff}"
    ".ok{background:#2d7a46}.wrong{background:#b32b2b}"
    ".wide{overflow-x:auto}svg{max-width:100%;height:auto}"
    "footer{margin-top:28px;color:#7b8794;font-size:13px}";

std::string Row(const char* cell, std::initializer_list<std::string> texts) {
  std::string row = "<tr>";
  for (const std::string& text : texts) {
    row += fmt::format("<{0}>{1}</{0}>", cell, Escape(text));
  }
  return row + "</tr>\n";
}

std::string Numbers(const VerifyReport& report) {
  std::string table =
      Row("th", {"output", "elements", "outside", "max ulp", "mean ulp",
                 "max error", "correctly rounded", "wrong NaN, Inf"});
  for (const OutputReport& output : report.outputs) {
    table += Row(
        "td",
        {fmt::format("{} {} {}", output.name, DtypeName(output.dtype),
                     IndexText(output.shape)),
         Thousands(output.elements), Thousands(output.outside),
         fmt::format("{:.4g}", output.max_ulp),
         fmt::format("{:.4g}", output.mean_ulp),
         fmt::format("{:.4g}", output.max_abs),
         fmt::format("{:.6g} %", 100 * output.correctly_rounded),
         fmt::format("{}, {}", output.nan_mismatches, output.inf_mismatches)});
  }
  return table;
}

std::string Causes(const VerifyReport& report) {
  if (report.diagnosis.empty()) return "";
  std::string table =
      Row("th", {"cause", "explains", "of", "within the limit, as it should be",
                 "as the mistake makes it"});
  for (const Cause& cause : report.diagnosis) {
    std::string name = cause.id;
    if (!cause.with.empty()) name += " with " + cause.with;
    if (!cause.detail.empty()) name += " (" + cause.detail + ")";
    const bool unknown = cause.id == "unknown";
    const auto percent = [unknown](double share) {
      return unknown ? std::string() : fmt::format("{:.4g} %", 100 * share);
    };
    table += Row("td", {name, percent(cause.explains),
                        fmt::format("{}", fmt::join(cause.outputs, ", ")),
                        percent(cause.fit_before), percent(cause.fit_after)});
  }
  return "<h2>What would give this result</h2>\n<div class=\"wide\"><table>\n" +
         table + "</table></div>\n";
}

std::string Worst(const VerifyReport& report) {
  std::string table = Row("th", {"largest errors", "got", "reference", "ulp",
                                 "position", "head", "column"});
  for (const OutputReport& output : report.outputs) {
    for (const WorstError& worst : output.worst) {
      table += Row(
          "td",
          {output.name + " " + IndexText(worst.index),
           fmt::format("{:.9g}", worst.got), fmt::format("{:.9g}", worst.want),
           fmt::format("{:.4g}", worst.ulp), std::to_string(worst.position),
           std::to_string(worst.head), std::to_string(worst.column)});
    }
  }
  return table;
}

}  // namespace

std::string ReportPage(const VerifyReport& report, const std::string& title,
                       const std::string& command) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<main>\n"
      "<h1>{0}</h1>\n<div class=\"verdict {2}\">{3}</div>\n"
      "<p><code>{4}</code></p>\n"
      "{5}<h2>Errors</h2>\n<div class=\"wide\"><table>\n{6}</table></div>\n"
      "<h2>Where they are</h2>\n<div class=\"wide\">\n{7}</div>\n"
      "<div class=\"wide\"><table>\n{8}</table></div>\n"
      "<footer>ropewalk {9}</footer>\n</main>\n</body>\n</html>\n",
      Escape(title), kStyle, report.ok ? "ok" : "wrong",
      report.ok ? "within the limit" : "wrong", Escape(command), Causes(report),
      Numbers(report), DrawErrors(report, "Errors in units in the last place"),
      Worst(report), Version());
}

}  // namespace ropewalk::cli
