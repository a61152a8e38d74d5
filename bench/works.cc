#include "bench/works.h"

#include <initializer_list>
#include <vector>

namespace ropewalk::bench {
namespace {

constexpr auto kF32 = Dtype::kF32;
constexpr auto kF16 = Dtype::kF16;
constexpr auto kBF16 = Dtype::kBF16;
constexpr auto kHalf = Pairing::kHalf;
constexpr auto kInterleave = Pairing::kInterleave;
constexpr auto kQuarter = Pairing::kQuarter;
constexpr auto kInterleaveHalf = Pairing::kInterleaveHalf;

constexpr Pairing kPairings[] = {kHalf, kInterleave, kQuarter, kInterleaveHalf};
constexpr Dtype kNarrow[] = {kBF16, kF16};
constexpr int64_t kBatches[] = {1, 4};
constexpr std::string_view kViewed = "BNSD";  // of a BSND buffer

using List = std::vector<Work>;

// --- Out of place -----------------------------------------------------------

const char* RowsGroup(Kind kind) {
  return kind == Kind::kDx ? "dx" : "forward";
}

void AddRows32(List& list, Kind kind, int64_t batch) {
  const auto add = [&](Pairing pairing, Goal goal, std::string_view layout,
                       std::string_view view = "") {
    list.push_back({.group = RowsGroup(kind),
                    .kind = kind,
                    .pairing = pairing,
                    .layout = layout,
                    .view = view,
                    .batch = batch,
                    .goal = goal});
  };
  for (const Pairing pairing : kPairings) {
    add(pairing, {0.90, 0.95}, "BSND");
    add(pairing, {0.90, 0.95}, "SBND");
    add(pairing, {0.88, 0.90}, "BNSD");
    add(pairing, {0.88, 0.90}, "BSND", kViewed);
  }
}

void AddRows16(List& list, Kind kind, int64_t batch) {
  const double token_major = batch == 1 ? 0.85 : 0.80;
  for (const Dtype dtype : kNarrow) {
    const auto add = [&](Dtype table, Pairing pairing, double goal,
                         std::string_view layout, std::string_view view = "") {
      list.push_back({.group = RowsGroup(kind),
                      .kind = kind,
                      .dtype = dtype,
                      .table_dtype = table,
                      .pairing = pairing,
                      .layout = layout,
                      .view = view,
                      .batch = batch,
                      .goal = {goal, goal}});
    };
    for (const Dtype table : {kF32, dtype}) {
      add(table, kHalf, token_major, "BSND");
      add(table, kInterleave, token_major, "BSND");
    }
    add(kF32, kQuarter, 0.75, "BSND");
    add(kF32, kInterleaveHalf, 0.75, "BSND");
    add(kF32, kHalf, 0.75, "BNSD");
    add(kF32, kInterleave, 0.75, "BNSD");
    add(kF32, kHalf, 0.75, "BSND", kViewed);
    list.back().report = "O4";
  }
}

// --- In place ---------------------------------------------------------------

void AddInPlace(List& list, int64_t batch) {
  const auto add = [&](Dtype dtype, Pairing pairing, std::string_view layout) {
    const double goal = dtype == kF32 ? 1.0 : 0.90;
    list.push_back({.group = "in place",
                    .kind = Kind::kInPlace,
                    .dtype = dtype,
                    .pairing = pairing,
                    .layout = layout,
                    .batch = batch,
                    .goal = {goal, goal}});
  };
  for (const Pairing pairing : kPairings) add(kF32, pairing, "BSND");
  add(kF32, kHalf, "BNSD");
  for (const Dtype dtype : kNarrow) {
    add(dtype, kHalf, "BSND");
    add(dtype, kInterleave, "BSND");
  }
}

void AddSlices(List& list) {
  for (const Dtype dtype : {kF32, kBF16, kF16}) {
    for (const Pairing pairing : {kHalf, kInterleave}) {
      list.push_back({.group = "slice",
                      .kind = Kind::kInPlace,
                      .dtype = dtype,
                      .pairing = pairing,
                      .width = 192,
                      .rotated = 64,
                      .goal = {0.85, 0.85}});
    }
  }
}

// --- Gradients --------------------------------------------------------------

void AddGradients32(List& list) {
  const auto add = [&](Pairing pairing, std::string_view layout,
                       std::string_view table_axes, int64_t batch) {
    const bool token_major = layout == "BSND";
    list.push_back({.group = "gradients",
                    .kind = Kind::kGradients,
                    .pairing = pairing,
                    .layout = layout,
                    .table_axes = table_axes,
                    .batch = batch,
                    .goal = token_major ? Goal{0.85, 0.90} : Goal{0.75, 0.80}});
  };
  for (const Pairing pairing : kPairings) add(pairing, "BSND", "S", 1);
  for (const char* axes : {"", "BSN"}) add(kHalf, "BSND", axes, 1);
  for (const char* axes : {"S", "BS", "", "BSN"}) add(kHalf, "BSND", axes, 4);
  for (const int64_t batch : kBatches) {
    add(kHalf, "BNSD", "S", batch);
    add(kInterleave, "BNSD", "S", batch);
  }
  add(kHalf, "BNSD", "", 1);
}

void AddGradients16(List& list) {
  for (const Dtype dtype : kNarrow) {
    const auto add = [&](Dtype table, Pairing pairing, std::string_view layout,
                         std::string_view table_axes, int64_t batch) {
      const double goal = layout == "BSND" ? 0.70 : 0.60;
      list.push_back({.group = "gradients",
                      .kind = Kind::kGradients,
                      .dtype = dtype,
                      .table_dtype = table,
                      .pairing = pairing,
                      .layout = layout,
                      .table_axes = table_axes,
                      .batch = batch,
                      .goal = {goal, goal}});
    };
    for (const Dtype table : {kF32, dtype}) add(table, kHalf, "BSND", "S", 1);
    add(kF32, kInterleave, "BSND", "S", 1);
    add(kF32, kHalf, "BSND", "", 1);
    for (const char* axes : {"S", "BS"}) add(kF32, kHalf, "BSND", axes, 4);
    for (const int64_t batch : kBatches) add(kF32, kHalf, "BNSD", "S", batch);
  }
}

// --- By position ------------------------------------------------------------

Goal LookupGoal(Dtype dtype) {
  const double goal = dtype == kF32 ? 0.85 : 0.75;
  return {goal, goal};
}

void AddLookups(List& list) {
  for (const Dtype dtype : {kF32, kBF16, kF16}) {
    Work work{.group = "lookup", .kind = Kind::kCached, .dtype = dtype};
    work.goal = LookupGoal(dtype);
    for (const Pairing style : {kHalf, kInterleave}) {
      work.pairing = style;
      list.push_back(work);
    }
    work.pairing = kHalf;
    if (dtype != kF32) {
      work.table_dtype = dtype;
      list.push_back(work);
      work.table_dtype = kF32;
    }
    for (const auto axes : {Positions::kSegmented, Positions::kInterleaved}) {
      work.positions = axes;
      work.against_plain = false;
      work.goal = LookupGoal(dtype);
      list.push_back(work);
      work.against_plain = true;
      work.goal = {1 / 1.05, 1 / 1.05};
      list.push_back(work);
    }
  }
}

void AddDecodes(List& list) {
  for (const Dtype dtype : {kF32, kBF16, kF16}) {
    const double goal = dtype == kF32 ? 1 / 1.25 : 1 / 5.5;
    Work work{.group = "decode",
              .kind = Kind::kCached,
              .dtype = dtype,
              .tokens = 1,
              .goal = {goal, goal},
              .report = "O8"};
    list.push_back(work);
    work.pairing = kInterleave;
    list.push_back(work);
    if (dtype == kF32) continue;
    work.pairing = kHalf;
    work.table_dtype = dtype;
    list.push_back(work);
  }
}

// The check of positions may take 2 % of the time. A refusal is that check, and
// the making of a message, which is why few tokens are not here.
void AddPositions(List& list) {
  for (const int64_t tokens : {512, 2048, 16384}) {
    list.push_back({.group = "positions",
                    .kind = Kind::kRefused,
                    .tokens = tokens,
                    .goal = {50, 50}});
  }
}

// --- Other sizes ------------------------------------------------------------

// Tokens of x of about so many bytes.
int64_t TokensOf(int64_t bytes, Dtype dtype, int64_t width) {
  return bytes /
         (Work().heads * width * static_cast<int64_t>(DtypeSize(dtype)));
}

void AddInCache(List& list) {
  for (const Dtype dtype : {kF32, kBF16, kF16}) {
    for (const Pairing pairing : {kHalf, kInterleave}) {
      list.push_back({.group = "in cache",
                      .dtype = dtype,
                      .pairing = pairing,
                      .tokens = TokensOf(1 << 20, dtype, 128),
                      .goal = dtype == kF32 ? Goal{.one_thread = 0.85,
                                                   .threads = 0.85,
                                                   .gb_per_s = 60}
                                            : Goal{.gb_per_s = 30}});
    }
  }
}

// A quarter may be lost against 128.
void AddWidths(List& list) {
  for (const int64_t width : {64, 72, 80, 96, 192, 256}) {
    Work work{.group = "widths", .width = width, .rotated = width};
    work.tokens = 2048 * 128 / width;
    work.goal = {0.75 * 0.90, 0.75 * 0.95};
    list.push_back(work);
    work.pairing = kInterleave;
    list.push_back(work);
    work.pairing = kHalf;
    work.dtype = kBF16;
    work.goal = {0.75 * 0.85, 0.75 * 0.85};
    list.push_back(work);
  }
}

void AddSizes(List& list) {
  for (const Dtype dtype : {kF32, kBF16}) {
    for (int shift = 14; shift <= 30; shift += 2) {
      list.push_back({.group = "sizes",
                      .dtype = dtype,
                      .tokens = TokensOf(int64_t{1} << shift, dtype, 128)});
    }
  }
}

// Few and many tokens and heads: the work is cut well for each, and a table
// row is not made anew for each head or thread.
void AddGrid(List& list) {
  for (const int64_t tokens : {1, 8, 64, 512, 4096}) {
    for (const int64_t heads : {1, 8, 64}) {
      list.push_back({.group = "grid",
                      .tokens = tokens,
                      .heads = heads,
                      .report = "O1 O9"});
    }
  }
  list.push_back({.group = "grid", .tokens = 256, .report = "O3"});
  list.push_back(
      {.group = "grid", .dtype = kBF16, .tokens = 4096, .report = "O2"});
}

void AddHuge(List& list) {
  for (const int64_t gib : {1, 2, 4, 8}) {
    list.push_back({.group = kHugeGroup,
                    .kind = Kind::kInPlace,
                    .tokens = TokensOf(gib << 30, kF32, 128)});
  }
}

List MakeList() {
  List list;
  for (const Kind kind : {Kind::kForward, Kind::kDx}) {
    for (const int64_t batch : kBatches) AddRows32(list, kind, batch);
    for (const int64_t batch : kBatches) AddRows16(list, kind, batch);
  }
  for (const int64_t batch : kBatches) AddInPlace(list, batch);
  AddSlices(list);
  AddGradients32(list);
  AddGradients16(list);
  AddLookups(list);
  AddDecodes(list);
  AddPositions(list);
  AddInCache(list);
  AddWidths(list);
  AddSizes(list);
  AddGrid(list);
  AddHuge(list);
  list.push_back({.group = "plan", .kind = Kind::kPlan, .goal = {.ns = 1000}});
  return list;
}

}  // namespace

std::span<const Work> AllWorks() {
  static const List list = MakeList();
  return list;
}

}  // namespace ropewalk::bench
