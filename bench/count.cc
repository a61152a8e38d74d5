// Runs each kind of work once, for callgrind to count: instructions.py starts
// it and reads what was counted. Prints a line for each run, in order: elements
// of x, and the work's name.
//
// usage: ropewalk-count TARGET

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "bench/caches.h"
#include "bench/prepare.h"
#include "bench/shapes.h"
#include "bench/works.h"
#include "ropewalk/executor.h"
#include "ropewalk/targets.h"

// The function that is counted, by its name.
extern "C" __attribute__((noinline)) bool ropewalk_counted_run(
    const ropewalk::bench::Prepared& prepared) {
  return prepared.run().ok();
}

namespace ropewalk::bench {
namespace {

constexpr int64_t kFewTokens = 16;

// Runs are large where memory is worth non-temporal stores and prefetching;
// where the cache is too large for that at 2048 tokens they are left out.
bool IsLarge(const Work& work) {
  return LeastBytes(work) >= ReadCaches().last_level();
}

int CountOne(const Work& work, const std::string& name) {
  const Result<Prepared> prepared = Prepare(work);
  if (!prepared.ok() || !ropewalk_counted_run(*prepared)) {
    fmt::print(stderr, "ropewalk-count: {} failed\n", name);
    return 1;
  }
  const int64_t heads = work.heads + (IsByPosition(work) ? kKeyHeads : 0);
  fmt::print("{} {}\n", work.batch * work.tokens * heads * work.rotated, name);
  return 0;
}

// Each work with few tokens, and some plain ones with many.
int CountAll() {
  for (const Work& listed : AllWorks()) {
    const bool other = listed.group == "plan" || listed.against_plain ||
                       listed.group == "sizes" || listed.group == "in cache" ||
                       listed.group == "grid" || listed.group == "positions" ||
                       listed.group == kHugeGroup || listed.batch != 1;
    if (other) continue;
    Work work = listed;
    work.tokens = std::min(work.tokens, kFewTokens);
    if (CountOne(work, WorkName(work)) != 0) return 1;
    const bool rows = listed.group == "forward" || listed.group == "in place" ||
                      listed.group == "gradients";
    const bool plain = listed.table_dtype == Dtype::kF32 &&
                       listed.table_axes == "S" && listed.layout == "BSND" &&
                       listed.view.empty() && listed.dtype != Dtype::kF16 &&
                       listed.pairing == Pairing::kHalf;
    if (!rows || !plain || !IsLarge(listed)) continue;
    if (CountOne(listed, WorkName(listed) + ", large") != 0) return 1;
  }
  return 0;
}

int Main(int argc, char** argv) {
  SetNumThreads(1);
  if (argc != 2 || !ForceTarget(argv[1]).ok()) {
    fmt::print(stderr, "usage: ropewalk-count TARGET, one of {}\n",
               fmt::join(UsableTargets(), " "));
    return 2;
  }
  return CountAll();
}

}  // namespace
}  // namespace ropewalk::bench

int main(int argc, char** argv) { return ropewalk::bench::Main(argc, argv); }
