#include "bench/works.h"

#include <fmt/format.h>

namespace ropewalk::bench {
namespace {

constexpr int64_t kBytes = int64_t{32} << 20;

constexpr auto kF16 = Dtype::kF16;
constexpr auto kBF16 = Dtype::kBF16;
constexpr auto kInterleave = Pairing::kInterleave;
constexpr auto kQuarter = Pairing::kQuarter;
constexpr auto kInterleaveHalf = Pairing::kInterleaveHalf;

constexpr Work kWorks[] = {
    {},
    {.pairing = kInterleave},
    {.pairing = kQuarter},
    {.pairing = kInterleaveHalf},
    {.layout = "BNSD"},
    {.pairing = kInterleave, .layout = "BNSD"},
    {.layout = "SBND", .batch = 4},
    {.table_axes = "BS", .batch = 4},
    {.dtype = kBF16, .table_dtype = kBF16},
    {.dtype = kBF16},
    {.dtype = kBF16, .pairing = kInterleave},
    {.dtype = kBF16, .pairing = kQuarter},
    {.dtype = kBF16, .pairing = kInterleaveHalf},
    {.dtype = kBF16, .layout = "BNSD"},
    {.dtype = kF16, .table_dtype = kF16},
    {.dtype = kF16},
    {.dtype = kF16, .pairing = kInterleave},

    {.kind = Kind::kInPlace},
    {.kind = Kind::kInPlace, .pairing = kInterleave},
    {.kind = Kind::kInPlace, .layout = "BNSD"},
    {.kind = Kind::kInPlace, .dtype = kBF16},
    {.kind = Kind::kInPlace, .dtype = kF16},
    {.kind = Kind::kInPlace, .width = 192, .rotated = 64},
    {.kind = Kind::kInPlace,
     .dtype = kBF16,
     .pairing = kInterleave,
     .width = 192,
     .rotated = 64},

    {.kind = Kind::kDx},
    {.kind = Kind::kDx, .pairing = kInterleave},
    {.kind = Kind::kDx, .dtype = kBF16},

    {.kind = Kind::kGradients},
    {.kind = Kind::kGradients, .pairing = kInterleave},
    {.kind = Kind::kGradients, .pairing = kQuarter},
    {.kind = Kind::kGradients, .pairing = kInterleaveHalf},
    {.kind = Kind::kGradients, .layout = "BNSD"},
    {.kind = Kind::kGradients, .batch = 4},
    {.kind = Kind::kGradients, .table_axes = "BS", .batch = 4},
    {.kind = Kind::kGradients, .table_axes = "BSN"},
    {.kind = Kind::kGradients, .table_axes = ""},
    {.kind = Kind::kGradients, .dtype = kBF16},
    {.kind = Kind::kGradients, .dtype = kBF16, .layout = "BNSD"},
    {.kind = Kind::kGradients, .dtype = kBF16, .table_axes = ""},
    {.kind = Kind::kGradients, .dtype = kF16},

    {.kind = Kind::kCached},
    {.kind = Kind::kCached, .pairing = kInterleave},
    {.kind = Kind::kCached, .dtype = kBF16},
    {.kind = Kind::kCached, .tokens = 1},
    {.kind = Kind::kCached, .pairing = kInterleave, .tokens = 1},
    {.kind = Kind::kCached, .dtype = kBF16, .tokens = 1},
    {.kind = Kind::kCached, .dtype = kBF16, .table_dtype = kBF16, .tokens = 1},

    {.kind = Kind::kPlan},
};

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
    case Kind::kPlan:
      return "make plan";
  }
  return "";
}

}  // namespace

std::span<const Work> AllWorks() { return kWorks; }

std::string WorkName(const Work& work) {
  const Work defaults;
  const bool cached = work.kind == Kind::kCached;
  std::string name = KindName(work.kind);
  if (!cached) {
    name += fmt::format(" {}", PairingName(work.pairing));
  } else {
    name += work.pairing == Pairing::kHalf ? " neox" : " gptj";
  }
  name += fmt::format(" {}", DtypeName(work.dtype));
  if (!cached) name += fmt::format(" {}", work.layout);
  if (work.table_dtype != defaults.table_dtype) {
    name += fmt::format(", {} tables", DtypeName(work.table_dtype));
  }
  if (work.table_axes != defaults.table_axes) {
    name += fmt::format(", tables {}D", work.table_axes);
  }
  if (work.batch != 1) name += fmt::format(", batch {}", work.batch);
  if (work.tokens == 1) name += ", decode";
  if (work.rotated != work.width) {
    name += fmt::format(", slice {} of {}", work.rotated, work.width);
  }
  return name;
}

int64_t Tokens(const Work& work) {
  if (work.tokens != 0) return work.tokens;
  const auto size = static_cast<int64_t>(DtypeSize(work.dtype));
  return kBytes / (work.batch * kHeads * work.rotated * size);
}

}  // namespace ropewalk::bench
