#include "cli/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "cli/report.h"

namespace ropewalk::cli {
namespace {

// Sizes are in the SVG's own units, about pixels.
constexpr double kWidth = 1080;
constexpr double kMargin = 30;
constexpr double kTitle = 46;
constexpr double kPanel = 400;  // height of an output
constexpr double kMapLeft = 84, kMapTop = 62, kMapWidth = 560, kMapHeight = 262;
constexpr double kSideLeft = 740, kSideWidth = 300, kSideHeight = 118;
constexpr double kSideGap = 56;

struct Rect {
  double left, top, width, height;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

// Errors up to so many ulp have this colour: blue while rounding explains them,
// then from yellow to dark red.
struct Shade {
  double most;
  const char* colour;
  const char* label;
};
constexpr Shade kShades[] = {
    {0, "#f4f6f8", "0"},          {0.5, "#d6e4f2", "0.5"},
    {1, "#aecbe6", "1"},          {2, "#7fabd6", "2"},
    {4, "#4a83c0", "4"},          {16, "#fbe3a2", "16"},
    {256, "#f9bf6b", "256"},      {4096, "#f0904a", "4096"},
    {65536, "#dc5b35", "65536"},  {0x1p20, "#b32b2b", "2\u00b2\u2070"},
    {HUGE_VAL, "#6b1020", "more"}};

size_t ShadeOf(double ulp) {
  const auto* shade = std::ranges::find_if(
      kShades, [ulp](const Shade& s) { return ulp <= s.most; });
  return std::min<size_t>(static_cast<size_t>(shade - std::begin(kShades)),
                          std::size(kShades) - 1);
}

class Drawing {
 public:
  void Text(double x, double y, std::string_view text, const char* type) {
    svg_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n",
                    x, y, type, Escape(text));
  }
  void Box(const Rect& box, const char* colour) {
    svg_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"{}\"/>\n",
        box.left, box.top, box.width, box.height, colour);
  }
  void Frame(const Rect& box) {
    svg_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "fill=\"none\" stroke=\"#8a94a0\"/>\n",
        box.left, box.top, box.width, box.height);
  }
  void Path(const std::string& path, const char* colour) {
    svg_ += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", colour, path);
  }
  const std::string& svg() const { return svg_; }

 private:
  std::string svg_;
};

// First, middle and last number along an axis.
void Ticks(const Rect& box, int64_t count, bool vertical, Drawing* drawing) {
  for (const double part : {0.0, 0.5, 1.0}) {
    const auto number = static_cast<int64_t>(
        std::llround(part * static_cast<double>(count - 1)));
    const double at =
        (static_cast<double>(number) + 0.5) / static_cast<double>(count);
    if (vertical) {
      drawing->Text(box.left - 8, box.top + at * box.height + 4,
                    Thousands(number), "number end");
    } else {
      drawing->Text(box.left + at * box.width, box.bottom() + 16,
                    Thousands(number), "number middle");
    }
    if (count == 1) return;
  }
}

void DrawMap(const ErrorMap& map, const Rect& box, Drawing* drawing) {
  std::vector<std::string> paths(std::size(kShades));
  const double width = box.width / static_cast<double>(map.column_bins);
  const double height = box.height / static_cast<double>(map.position_bins);
  for (size_t p = 0; p < map.position_bins; ++p) {
    const double* row = map.by_position_and_column.data() + p * map.column_bins;
    for (size_t c = 0; c < map.column_bins;) {
      const size_t shade = ShadeOf(row[c]);
      size_t end = c + 1;
      while (end < map.column_bins && ShadeOf(row[end]) == shade) ++end;
      paths[shade] += fmt::format("M{:.2f} {:.2f}h{:.2f}v{:.2f}h-{:.2f}z",
                                  box.left + static_cast<double>(c) * width,
                                  box.top + static_cast<double>(p) * height,
                                  static_cast<double>(end - c) * width, height,
                                  static_cast<double>(end - c) * width);
      c = end;
    }
  }
  drawing->Text(box.left, box.top - 10, "largest error by position and column",
                "label");
  for (size_t shade = 0; shade < paths.size(); ++shade) {
    if (!paths[shade].empty())
      drawing->Path(paths[shade], kShades[shade].colour);
  }
  drawing->Frame(box);
  Ticks(box, map.positions, true, drawing);
  Ticks(box, map.columns, false, drawing);
  drawing->Text(box.left + box.width / 2, box.bottom() + 32, "column",
                "label middle");
  drawing->Text(box.left - 8, box.top - 10, "position", "label end");
}

void DrawScale(double left, double top, Drawing* drawing) {
  constexpr double kStep = 44;
  for (size_t i = 0; i < std::size(kShades); ++i) {
    const double x = left + static_cast<double>(i) * kStep;
    drawing->Box({x, top, kStep, 12}, kShades[i].colour);
    drawing->Text(x + kStep / 2, top + 26, kShades[i].label, "number middle");
  }
  drawing->Frame({left, top, kStep * std::size(kShades), 12});
  drawing->Text(left + kStep * std::size(kShades) + 10, top + 11, "ulp, up to",
                "number");
}

// Bars of logarithmic height.
void DrawBars(const std::vector<double>& heights,
              const std::vector<double>& ulps, double least, const Rect& box,
              Drawing* drawing) {
  double top = least * 2;
  for (const double height : heights) {
    if (std::isfinite(height)) top = std::max(top, height);
  }
  const double step = box.width / static_cast<double>(heights.size());
  for (size_t i = 0; i < heights.size(); ++i) {
    if (!(heights[i] > least)) continue;
    const double part =
        std::min(1.0, std::log(heights[i] / least) / std::log(top / least));
    const double height = std::max(part * (box.height - 4), 1.0);
    drawing->Box({box.left + (static_cast<double>(i) + 0.08) * step,
                  box.bottom() - height, step * 0.84, height},
                 kShades[ShadeOf(ulps[i])].colour);
  }
  drawing->Frame(box);
}

void DrawHeads(const ErrorMap& map, const Rect& box, Drawing* drawing) {
  drawing->Text(box.left, box.top - 10, "largest error by head, ulp", "label");
  DrawBars(map.by_head, map.by_head, 0.01, box, drawing);
  double largest = 0;
  for (const double ulp : map.by_head) largest = std::max(largest, ulp);
  drawing->Text(box.right(), box.top - 10, fmt::format("{:.3g}", largest),
                "number end");
  Ticks(box, map.heads, false, drawing);
}

void DrawHistogram(const ErrorMap& map, const Rect& box, Drawing* drawing) {
  std::vector<double> counts, ulps;
  for (size_t i = 0; i < map.histogram.size(); ++i) {
    counts.push_back(static_cast<double>(map.histogram[i]));
    const int exponent =
        ErrorMap::kLowest + (static_cast<int>(i) - 1) * ErrorMap::kStep;
    ulps.push_back(i == 0                          ? 0
                   : i + 1 == map.histogram.size() ? HUGE_VAL
                                                   : std::ldexp(1.0, exponent));
  }
  drawing->Text(box.left, box.top - 10, "elements by error, logarithmic",
                "label");
  DrawBars(counts, ulps, 0.5, box, drawing);
  const double step = box.width / static_cast<double>(counts.size());
  const auto tick = [&](size_t bin, const char* text) {
    drawing->Text(box.left + (static_cast<double>(bin) + 0.5) * step,
                  box.bottom() + 16, text, "number middle");
  };
  tick(0, "0");
  tick(1 + (0 - ErrorMap::kLowest) / ErrorMap::kStep, "1");
  tick(1 + (-10 - ErrorMap::kLowest) / ErrorMap::kStep, "2\u207b\u00b9\u2070");
  tick(1 + (10 - ErrorMap::kLowest) / ErrorMap::kStep, "2\u00b9\u2070");
  tick(counts.size() - 1, "more");
  drawing->Text(box.left + box.width / 2, box.bottom() + 32,
                "error in ulp, up to", "label middle");
}

void DrawOutput(const OutputReport& output, double top, Drawing* drawing) {
  drawing->Text(kMargin, top + 24,
                fmt::format("{} {} {}", output.name, DtypeName(output.dtype),
                            IndexText(output.shape)),
                "name");
  drawing->Text(kWidth - kMargin - 10, top + 24,
                output.ok ? "within the limit"
                          : fmt::format("{} of {} elements outside the limit",
                                        Thousands(output.outside),
                                        Thousands(output.elements)),
                output.ok ? "good end" : "bad end");
  if (output.elements == 0) return;
  const Rect map{kMapLeft, top + kMapTop, kMapWidth, kMapHeight};
  DrawMap(output.map, map, drawing);
  DrawScale(kMapLeft, map.bottom() + 42, drawing);
  const Rect heads{kSideLeft, top + kMapTop, kSideWidth, kSideHeight};
  DrawHeads(output.map, heads, drawing);
  DrawHistogram(output.map,
                {kSideLeft, heads.bottom() + kSideGap, kSideWidth, kSideHeight},
                drawing);
}

constexpr char kStyle[] =
    "text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:12px;"
    "fill:#2b3440}"
    ".title{font-size:18px;font-weight:600}"
    ".name{font-size:15px;font-weight:600}"
    ".label{fill:#55606c}"
    ".number{font-size:11px;fill:#55606c}"
    ".good{font-weight:600;fill:#2d7a46}.bad{font-weight:600;fill:#b32b2b}"
    ".end{text-anchor:end}.middle{text-anchor:middle}"
    "path{shape-rendering:crispEdges}";

}  // namespace

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

std::string Thousands(int64_t number) {
  std::string text = std::to_string(number);
  for (auto i = static_cast<ptrdiff_t>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<size_t>(i), ",");
  }
  return text;
}

std::string DrawErrors(const VerifyReport& report, const std::string& title) {
  Drawing drawing;
  drawing.Text(kMargin, 30, title, "title");
  double top = kTitle;
  for (const OutputReport& output : report.outputs) {
    drawing.Box({kMargin - 14, top, kWidth - 2 * kMargin + 28, 1}, "#d5dae0");
    DrawOutput(output, top, &drawing);
    top += kPanel;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
      "width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n"
      "<style>{3}</style>\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#ffffff\"/>\n{4}</svg>\n",
      kWidth, top, Escape(title), kStyle, drawing.svg());
}

}  // namespace ropewalk::cli
