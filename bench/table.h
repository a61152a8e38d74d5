// Tables for people.

#ifndef ROPEWALK_BENCH_TABLE_H_
#define ROPEWALK_BENCH_TABLE_H_

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "ropewalk/tensor.h"

namespace ropewalk::bench {

struct Column {
  std::string title;
  bool right = false;  ///< numbers stand at the right
};

/// Rows of text under titles, each column as wide as it needs.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// `cells` is as long as the columns; missing ones stay empty.
  void Add(std::vector<std::string> cells);
  void Print(std::FILE* file) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "1.23 ms", "45.6 µs" or "789 ns".
std::string TimeText(double ns);

/// "2x3x4".
std::string ShapeText(const TensorDesc& desc);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_TABLE_H_
