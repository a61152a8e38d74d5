#include "verify/mistakes.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "core/dtype.h"
#include "kernels/reference.h"

namespace ropewalk::verify {
namespace {

std::string Name(Pairing pairing) { return PairingName(pairing); }

// All pairings that rows of this width can have.
std::vector<Pairing> Pairings(int64_t width) {
  std::vector<Pairing> pairings;
  for (size_t i = 0; i < std::size(kPairings); ++i) {
    const auto pairing = static_cast<Pairing>(i);
    if (width % PairingMultiple(pairing) == 0) pairings.push_back(pairing);
  }
  return pairings;
}

void OtherPairing(const Clues& clues, std::vector<Hypothesis>* add) {
  const Scene& scene = clues.scene();
  for (const Pairing pairing : Pairings(scene.width)) {
    if (pairing == scene.pairing) continue;
    Model model = clues.base;
    model.pairing = pairing;
    add->push_back({Name(pairing), model});
    if (!scene.tables.full()) continue;
    model.table_columns =
        PairColumns(pairing, scene.width, true, scene.pairing);
    add->push_back({Name(pairing) + ", with tables laid out for it", model});
  }
}

void OtherPairingOfSums(const SumScene& scene, Sum sum,
                        std::vector<SumHypothesis>* add) {
  for (const Pairing pairing : Pairings(scene.rows.width)) {
    if (pairing == scene.rows.pairing) continue;
    SumModel model = RightSumModel(scene, sum);
    model.pairing = pairing;
    add->push_back({Name(pairing), model});
  }
}

void SinNegated(const Clues& clues, std::vector<Hypothesis>* add) {
  Model model = clues.base;
  model.negate_sin = true;
  add->push_back({"", model});
  model.negate_sin = false;
  const bool forward = model.direction == Direction::kForward;
  model.direction = forward ? Direction::kBackward : Direction::kForward;
  add->push_back(
      {forward ? "backward for forward" : "forward for backward", model});
}

void SinNegatedInSums(const SumScene& scene, Sum sum,
                      std::vector<SumHypothesis>* add) {
  if (sum != Sum::kSin) return;
  SumModel model = RightSumModel(scene, sum);
  model.negate = true;
  add->push_back({"", model});
}

void PartnerSin(const Clues& clues, std::vector<Hypothesis>* add) {
  if (clues.scene().direction == Direction::kForward) return;
  Model model = clues.base;
  model.swap_partners = true;
  add->push_back({"", model});
}

void CosSinSwapped(const Clues& clues, std::vector<Hypothesis>* add) {
  Model model = clues.base;
  model.swap_cos_sin = true;
  add->push_back({"", model});
}

void CosSinSwappedInSums(const SumScene& scene, Sum sum,
                         std::vector<SumHypothesis>* add) {
  add->push_back(
      {"", RightSumModel(scene, sum == Sum::kCos ? Sum::kSin : Sum::kCos)});
}

// The right numbers in columns as another pairing has them.
void TableHalves(const Clues& clues, std::vector<Hypothesis>* add) {
  const Scene& scene = clues.scene();
  const bool full = scene.tables.full();
  const auto right =
      PairColumns(scene.pairing, scene.width, full, scene.pairing);
  std::set<std::vector<int64_t>> tried = {right};
  const auto try_columns = [&](const std::string& detail,
                               const std::vector<int64_t>& columns) {
    if (!tried.insert(columns).second) return;
    Model model = clues.base;
    model.table_columns = columns;
    add->push_back({detail, model});
  };
  for (const Pairing layout : Pairings(scene.width)) {
    if (layout == Pairing::kInterleaveHalf) continue;  // laid out as half
    try_columns("laid out for " + Name(layout),
                PairColumns(layout, scene.width, full, scene.pairing));
    if (!full) continue;
    // The first number of each pair for both.
    std::vector<int64_t> columns(static_cast<size_t>(scene.width));
    for (int64_t k = 0; k < scene.width / 2; ++k) {
      const auto to = reference::PairAt(layout, scene.width, k);
      const auto from = reference::PairAt(scene.pairing, scene.width, k);
      columns[static_cast<size_t>(to.p)] = from.p;
      columns[static_cast<size_t>(to.r)] = from.p;
    }
    try_columns("first halves laid out for " + Name(layout), columns);
  }
  if (!full) return;
  std::vector<int64_t> repeated(static_cast<size_t>(scene.width));
  for (int64_t c = 0; c < scene.width; ++c) {
    repeated[static_cast<size_t>(c)] = c % (scene.width / 2);
  }
  try_columns("the first half of the columns twice", repeated);
}

constexpr std::pair<Dtype, const char*> kNarrow[] = {{Dtype::kBF16, "bf16"},
                                                     {Dtype::kF16, "fp16"}};

void Table16Bit(const Clues& clues, std::vector<Hypothesis>* add) {
  for (const auto& [dtype, name] : kNarrow) {
    if (clues.scene().tables.dtype() == dtype) continue;
    Model model = clues.base;
    model.round_tables = dtype;
    add->push_back({name, model});
  }
}

// Columns of a row in another order: pairs apart, or side by side.
std::vector<int64_t> Apart(int64_t width) {
  std::vector<int64_t> columns(static_cast<size_t>(width));
  for (int64_t k = 0; k < width / 2; ++k) {
    columns[static_cast<size_t>(k)] = 2 * k;
    columns[static_cast<size_t>(k + width / 2)] = 2 * k + 1;
  }
  return columns;
}

std::vector<int64_t> SideBySide(int64_t width) {
  std::vector<int64_t> columns(static_cast<size_t>(width));
  for (int64_t k = 0; k < width / 2; ++k) {
    columns[static_cast<size_t>(2 * k)] = k;
    columns[static_cast<size_t>(2 * k + 1)] = k + width / 2;
  }
  return columns;
}

void NotRotated(const Clues& clues, std::vector<Hypothesis>* add) {
  Model model = clues.base;
  model.identity = true;
  add->push_back({"", model});
  if (!Reorders(clues.scene().pairing)) return;
  const bool forward = model.direction == Direction::kForward;
  model.permute = forward ? Apart(model.width) : SideBySide(model.width);
  add->push_back({"only put in order", model});
}

void RotatedTwice(const Clues& clues, std::vector<Hypothesis>* add) {
  Model model = clues.base;
  model.twice = true;
  model.round_between = clues.scene().result.desc.dtype;
  add->push_back({"", model});
  model.round_between = std::nullopt;
  add->push_back({"not rounded between", model});
}

// Each order of 0 to n - 1.
std::vector<std::vector<int64_t>> Orders(size_t n) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int64_t>> orders;
  do {
    orders.push_back(order);
  } while (std::ranges::next_permutation(order).found);
  return orders;
}

void SectionOrder(const Clues& clues, std::vector<Hypothesis>* add) {
  const Tables& tables = clues.scene().tables;
  const auto& sizes = tables.section_sizes();
  if (sizes.empty()) return;
  std::set<std::vector<int>> tried = {
      SectionOfPair(sizes, tables.axes(), tables.width())};
  for (const auto& by_size : Orders(sizes.size())) {
    std::vector<int64_t> permuted;
    permuted.reserve(by_size.size());
    for (const int64_t i : by_size) {
      permuted.push_back(sizes[static_cast<size_t>(i)]);
    }
    const auto section = SectionOfPair(permuted, tables.axes(), tables.width());
    for (const auto& by_row : Orders(sizes.size())) {
      Model model = clues.base;
      model.section_of_pair.reserve(section.size());
      for (const int s : section) {
        model.section_of_pair.push_back(
            static_cast<int>(by_row[static_cast<size_t>(s)]));
      }
      if (!tried.insert(model.section_of_pair).second) continue;
      std::string detail = "sizes";
      for (const int64_t size : permuted) detail += " " + std::to_string(size);
      detail += ", position rows";
      for (const int64_t row : by_row) detail += " " + std::to_string(row);
      add->push_back({detail, model});
    }
  }
}

void OtherAxesLayout(const Clues& clues, std::vector<Hypothesis>* add) {
  const Tables& tables = clues.scene().tables;
  if (tables.section_sizes().size() != 3) return;
  const bool segmented = tables.axes() == AxisLayout::kSegmented;
  Model model = clues.base;
  model.section_of_pair = SectionOfPair(
      tables.section_sizes(),
      segmented ? AxisLayout::kInterleaved : AxisLayout::kSegmented,
      tables.width());
  add->push_back({segmented ? "interleaved" : "segmented", model});
  if (!segmented) return;
  // In turns until the sections are used up.
  model.section_of_pair.clear();
  std::vector<int64_t> left = tables.section_sizes();
  for (int64_t k = 0; k < tables.width() / 2; ++k) {
    size_t section = static_cast<size_t>(k) % left.size();
    while (left[section] == 0) section = (section + 1) % left.size();
    --left[section];
    model.section_of_pair.push_back(static_cast<int>(section));
  }
  add->push_back({"in turns", model});
}

bool Is16Bit(Dtype dtype) {
  return dtype == Dtype::kF16 || dtype == Dtype::kBF16;
}

void Truncated(const Clues& clues, std::vector<Hypothesis>* add) {
  if (!Is16Bit(clues.scene().result.desc.dtype)) return;
  Model model = clues.base;
  model.finish = Finish::kTruncate;
  add->push_back({"", model});
}

void TruncatedSums(const SumScene& scene, Sum sum,
                   std::vector<SumHypothesis>* add) {
  if (!Is16Bit(scene.result(sum)->desc.dtype)) return;
  SumModel model = RightSumModel(scene, sum);
  model.truncate = true;
  add->push_back({"", model});
}

void Fused(const Clues& clues, std::vector<Hypothesis>* add) {
  // Against 16-bit arithmetic it would be the lack of that which shows.
  if (clues.scene().x.desc.dtype == Dtype::kF64 ||
      clues.trial.judge().eager()) {
    return;
  }
  for (const auto& [finish, detail] :
       {std::pair{Finish::kFuseFirst, "the product with cos is not rounded"},
        {Finish::kFuseSecond, "the product with sin is not rounded"},
        {Finish::kFuseFirstThenSecond,
         "of a pair, the product with cos, then that with sin"},
        {Finish::kFuseSecondThenFirst,
         "of a pair, the product with sin, then that with cos"}}) {
    Model model = clues.base;
    model.finish = finish;
    add->push_back({detail, model});
  }
}

void Intermediates16Bit(const Clues& clues, std::vector<Hypothesis>* add) {
  const Scene& scene = clues.scene();
  for (const auto& [dtype, name] : kNarrow) {
    const bool brain = dtype == Dtype::kBF16;
    for (const Finish finish :
         {brain ? Finish::kBF16 : Finish::kFP16,
          brain ? Finish::kBF16Products : Finish::kFP16Products}) {
      for (const bool round_x : {false, true}) {
        for (const bool round_tables : {false, true}) {
          if (round_x && scene.x.desc.dtype == dtype) continue;
          if (round_tables && scene.tables.dtype() == dtype) continue;
          Model model = clues.base;
          model.finish = finish;
          if (round_x) model.round_x = dtype;
          if (round_tables) model.round_tables = dtype;
          std::string detail = name;
          if (round_x) detail += ", the data too";
          add->push_back({detail, model, round_tables ? "table-16bit" : ""});
        }
      }
    }
  }
}

void Intermediates16BitOfSums(const SumScene& scene, Sum sum,
                              std::vector<SumHypothesis>* add) {
  for (const auto& [dtype, name] : kNarrow) {
    SumModel model = RightSumModel(scene, sum);
    model.round_terms = dtype;
    add->push_back({name, model});
  }
}

void PermutedOutput(const Clues& clues, std::vector<Hypothesis>* add) {
  Model model = clues.base;
  model.permute = Apart(model.width);
  add->push_back({"pairs apart", model});
  model.permute = SideBySide(model.width);
  add->push_back({"pairs side by side", model});
}

void PermutedSums(const SumScene& scene, Sum sum,
                  std::vector<SumHypothesis>* add) {
  if (!scene.rows.tables.full()) return;
  SumModel model = RightSumModel(scene, sum);
  model.permute = Apart(scene.rows.width);
  add->push_back({"pairs apart", model});
  model.permute = SideBySide(scene.rows.width);
  add->push_back({"pairs side by side", model});
}

void Reduced16Bit(const SumScene& scene, Sum sum,
                  std::vector<SumHypothesis>* add) {
  if (scene.rows.heads < 2) return;
  for (const auto& [accumulate, in_any_order, name] :
       {std::tuple{Accumulate::kBF16, Accumulate::kAnyBF16, "bf16"},
        {Accumulate::kFP16, Accumulate::kAnyFP16, "fp16"}}) {
    SumModel model = RightSumModel(scene, sum);
    model.accumulate = accumulate;
    add->push_back({name, model});
    model.round_terms =
        accumulate == Accumulate::kBF16 ? Dtype::kBF16 : Dtype::kF16;
    add->push_back({std::string(name) + ", products too", model});
    model.round_terms = std::nullopt;
    model.accumulate = in_any_order;
    add->push_back({std::string(name) + ", in some order", model, true});
  }
}

void SlicedSums(const SumScene& scene, Sum sum,
                std::vector<SumHypothesis>* add) {
  const Scene& rows = scene.rows;
  for (int64_t start = 0; start + rows.width <= rows.columns; ++start) {
    if (start == rows.start) continue;
    SumModel model = RightSumModel(scene, sum);
    model.start = start;
    add->push_back({"from column " + std::to_string(start), model});
  }
}

}  // namespace

const std::vector<Mistake>& Mistakes() {
  static const std::vector<Mistake> kMistakes = {
      {"pairing", OtherPairing, OtherPairingOfSums},
      {"sin-negated", SinNegated, SinNegatedInSums},
      {"partner-sin", PartnerSin, nullptr},
      {"cos-sin-swapped", CosSinSwapped, CosSinSwappedInSums},
      {"table-halves", TableHalves, nullptr},
      {"table-16bit", Table16Bit, nullptr},
      // What is not rotated may also be rotated by a table row of position 0.
      {"not-rotated", NotRotated, nullptr},
      {"position-shift", PositionShift, nullptr, true},
      {"position-reset", PositionReset, nullptr, true},
      {"position-clamped", PositionClamped, nullptr, true},
      {"position-modulo", PositionModulo, nullptr, true},
      {"rotated-twice", RotatedTwice, nullptr},
      {"slice", WrongSlice, SlicedSums, true},
      {"axes-swapped", AxesSwapped, nullptr},
      {"section-order", SectionOrder, nullptr},
      {"axes-layout", OtherAxesLayout, nullptr},
      {"frequency-precision", FrequencyPrecision, nullptr, true},
      {"frequency-base", FrequencyBase, nullptr, true},
      {"truncated", Truncated, TruncatedSums},
      {"fused", Fused, nullptr},
      {"intermediates-16bit", Intermediates16Bit, Intermediates16BitOfSums},
      {"permuted-output", PermutedOutput, PermutedSums},
      {"reduced-axes", nullptr, ReducedAxes},
      {"reduced-16bit", nullptr, Reduced16Bit},
      {"head-repeated", HeadRepeated, nullptr, true},
  };
  return kMistakes;
}

}  // namespace ropewalk::verify
