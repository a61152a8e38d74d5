// What `ropewalk bench` found, for people and for programs.

#ifndef ROPEWALK_CLI_BENCH_REPORT_H_
#define ROPEWALK_CLI_BENCH_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/works.h"
#include "io/buffer.h"
#include "ropewalk/status.h"

namespace ropewalk::cli {

/// A work on a number of threads.
struct BenchRow {
  bench::Work work;
  size_t threads = 0;
  std::string shape;
  std::string plan;
  bench::Measurement measurement;
};

/// A table on standard output.
void PrintBench(const std::vector<BenchRow>& rows);

/// JSON with the machine, the build and all rows; to standard output if `path`
/// is "-".
Status WriteBench(const std::string& path, const std::vector<BenchRow>& rows,
                  io::Pages pages);

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_BENCH_REPORT_H_
