#include <fmt/format.h>

#include <string>

#include "bench/works.h"

namespace ropewalk::bench {
namespace {

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kForward:
      return "rotate";
    case Kind::kInPlace:
      return "rotate in place";
    case Kind::kDx:
      return "backward dx";
    case Kind::kGradients:
      return "backward dx+dcos+dsin";
    case Kind::kCached:
      return "cached";
    case Kind::kRefused:
      return "refuse";
    case Kind::kPlan:
      return "make plan";
  }
  return "";
}

std::string CachedName(const Work& work) {
  std::string name = work.pairing == Pairing::kHalf ? " neox" : " gptj";
  if (work.positions == Positions::kSegmented) name += " mrope";
  if (work.positions == Positions::kInterleaved) name += " mixed mrope";
  return fmt::format("{} {}", name, DtypeName(work.dtype));
}

std::string RowsName(const Work& work) {
  std::string name = fmt::format(" {} {} {}", PairingName(work.pairing),
                                 DtypeName(work.dtype), work.layout);
  if (!work.view.empty()) name += fmt::format(" seen as {}", work.view);
  return name;
}

// " 2048 tokens" goes without saying.
std::string SizeName(const Work& work) {
  if (work.group == "sizes" || work.group == "in cache" ||
      work.group == kHugeGroup) {
    const int64_t kib = work.tokens * work.heads * work.width *
                        static_cast<int64_t>(DtypeSize(work.dtype)) / 1024;
    return kib < 1024 ? fmt::format(", {} KiB", kib)
                      : fmt::format(", {} MiB", kib / 1024);
  }
  if (work.group == "decode") return ", decode";
  if (work.group == "positions") return fmt::format(", {} tokens", work.tokens);
  if (work.group == "grid") {
    return fmt::format(", {} x {} heads", work.tokens, work.heads);
  }
  if (work.group == "widths") return fmt::format(", D {}", work.width);
  return work.batch == 1 ? "" : fmt::format(", batch {}", work.batch);
}

}  // namespace

std::string WorkName(const Work& work) {
  const Work defaults;
  std::string name = KindName(work.kind);
  name += IsByPosition(work) ? CachedName(work) : RowsName(work);
  if (work.table_dtype != defaults.table_dtype) {
    name += fmt::format(", {} tables", DtypeName(work.table_dtype));
  }
  if (work.table_axes != defaults.table_axes) {
    name += fmt::format(", tables {}D", work.table_axes);
  }
  name += SizeName(work);
  if (work.rotated != work.width) {
    name += fmt::format(", slice {} of {}", work.rotated, work.width);
  }
  if (work.group == "sizes") name += ", by size";
  if (work.against_plain) name += ", against rope";
  return name;
}

}  // namespace ropewalk::bench
