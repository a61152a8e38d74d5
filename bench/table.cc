#include "bench/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace ropewalk::bench {
namespace {

// Columns on a screen: UTF-8's following bytes take none.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

void Table::Add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::Print(std::FILE* file) const {
  std::vector<std::string> titles, rules;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = Width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, Width(row[i]));
    titles.push_back(columns_[i].title);
    rules.emplace_back(width, '-');
  }
  const auto print = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string fill(rules[i].size() - Width(cells[i]), ' ');
      line += i == 0 ? "" : "  ";
      line += columns_[i].right ? fill + cells[i] : cells[i] + fill;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print(file, "{}\n", line);
  };
  print(titles);
  print(rules);
  for (const auto& row : rows_) print(row);
}

std::string TimeText(double ns) {
  if (ns >= 1e6) return fmt::format("{:.2f} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.2f} µs", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

std::string ShapeText(const TensorDesc& desc) {
  return fmt::format("{}", fmt::join(desc.shape, desc.shape + desc.rank, "x"));
}

}  // namespace ropewalk::bench
