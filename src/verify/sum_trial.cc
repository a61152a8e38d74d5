#include "verify/sum_trial.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace ropewalk::verify {
namespace {

constexpr size_t kRowsAtOnce = 64;

std::optional<Dtype> DtypeOf(Accumulate accumulate) {
  switch (accumulate) {
    case Accumulate::kBF16:
    case Accumulate::kAnyBF16:
      return Dtype::kBF16;
    case Accumulate::kFP16:
    case Accumulate::kAnyFP16:
      return Dtype::kF16;
    case Accumulate::kExact:
      break;
  }
  return std::nullopt;
}

bool InAnyOrder(Accumulate accumulate) {
  return accumulate == Accumulate::kAnyBF16 ||
         accumulate == Accumulate::kAnyFP16;
}

}  // namespace

SumModel RightSumModel(const SumScene& scene, Sum sum) {
  SumModel model;
  model.pairing = scene.rows.pairing;
  model.start = scene.rows.start;
  model.sum = sum;
  return model;
}

SumTrial::SumTrial(const SumScene& scene, Sum sum, const Judge& judge,
                   WrongBy wrong_by)
    : scene_(scene),
      sum_(sum),
      judge_(judge),
      wrong_by_(wrong_by),
      terms_(scene.rows) {}

// The sums of one slot in columns of a full row.
Status SumTrial::Add(const SumModel& model, int64_t slot, Sums* sums) {
  const auto width = static_cast<size_t>(scene_.rows.width);
  sums->sum.assign(width, 0);
  sums->abs.assign(width, 0);
  std::vector<int64_t> rows;
  if (model.rows) {
    rows = model.rows(slot);
  } else {
    rows.resize(static_cast<size_t>(scene_.rows.heads));
    std::iota(rows.begin(), rows.end(), slot * scene_.rows.heads);
  }
  const std::optional<Dtype> narrow =
      InAnyOrder(model.accumulate) ? std::nullopt : DtypeOf(model.accumulate);
  const Format format = FormatOf(narrow.value_or(Dtype::kF64));
  for (size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
    const auto part = std::span(rows).subspan(
        first, std::min(kRowsAtOnce, rows.size() - first));
    const Status status = terms_.Run(
        model.pairing, model.start, scene_.rows.width, model.round_terms, part);
    if (!status.ok()) return status;
    const double* term = terms_.of(model.sum).data();
    for (size_t i = 0; i < part.size(); ++i, term += width) {
      for (size_t c = 0; c < width; ++c) {
        sums->sum[c] = Round(format, sums->sum[c] + term[c]);
        sums->abs[c] += std::fabs(term[c]);
      }
    }
  }
  if (!model.permute.empty()) {
    const Sums as = *sums;
    for (size_t c = 0; c < width; ++c) {
      sums->sum[c] = as.sum[static_cast<size_t>(model.permute[c])];
      sums->abs[c] = as.abs[static_cast<size_t>(model.permute[c])];
    }
  }
  return Status();
}

bool SumTrial::Fits(const SumModel& model, double want, double terms,
                    double got) const {
  const Format& format = judge_.format();
  if (model.truncate) return Truncate(format, want) == got;
  const std::optional<Dtype> narrow = DtypeOf(model.accumulate);
  if (!narrow) return judge_.Near(want, terms, got, Columns::kSummed, 0);
  if (!InAnyOrder(model.accumulate)) return Round(format, want) == got;
  const Format in = FormatOf(*narrow);
  return Round(in, got) == got &&
         judge_.Near(want, terms, got, Columns::kSummed, in.ulp_of_one * terms);
}

Status SumTrial::Look(std::span<const int64_t> slots) {
  slots_.assign(slots.begin(), slots.end());
  const auto numbers = static_cast<size_t>(scene_.numbers());
  got_.resize(slots.size() * numbers);
  wrong_.assign(slots.size() * numbers, 0);
  const SumModel right = RightSumModel(scene_, sum_);
  std::vector<double> want(numbers), terms(numbers);
  Sums sums;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Status status = Add(right, slots[i], &sums);
    if (!status.ok()) return status;
    Fold(scene_, sums.sum.data(), want.data());
    Fold(scene_, sums.abs.data(), terms.data());
    scene_.LoadSums(sum_, slots[i], got_.data() + i * numbers);
    for (size_t c = 0; c < numbers; ++c) {
      const double got = got_[i * numbers + c];
      const bool near =
          judge_.Near(want[c], terms[c], got, Columns::kSummed, 0);
      wrong_[i * numbers + c] = wrong_by_ == WrongBy::kGross
                                    ? !near
                                    : judge_.Outside(want[c], 0, got);
    }
  }
  return Status();
}

Status SumTrial::Try(const SumModel& model, Score* score) {
  *score = {};
  const auto numbers = static_cast<size_t>(scene_.numbers());
  std::vector<double> want(numbers), terms(numbers);
  std::map<int64_t, Sums> known;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const int64_t group = model.group ? model.group(slots_[i]) : slots_[i];
    if (!known.contains(group)) {
      if (known.size() > 64) known.clear();
      const Status status = Add(model, slots_[i], &known[group]);
      if (!status.ok()) return status;
    }
    const Sums& sums = known[group];
    Fold(scene_, sums.sum.data(), want.data());
    Fold(scene_, sums.abs.data(), terms.data());
    int64_t wrong = 0, explained = 0, misfits = 0;
    for (size_t c = 0; c < numbers; ++c) {
      const size_t at = i * numbers + c;
      const double value = model.negate ? -want[c] : want[c];
      const bool fits = Fits(model, value, terms[c], got_[at]);
      wrong += wrong_[at];
      explained += wrong_[at] != 0 && fits ? 1 : 0;
      misfits += fits ? 0 : 1;
    }
    score->elements += scene_.numbers();
    score->fits += scene_.numbers() - misfits;
    score->wrong += wrong;
    score->wrong_known += wrong;
    score->explained += explained;
    score->misfits += misfits;
    score->wrong_rows += wrong > 0 ? 1 : 0;
    if (wrong > 0 && misfits == 0) {
      ++score->rows_explained;
      score->explained_in_rows += wrong;
    }
  }
  return Status();
}

}  // namespace ropewalk::verify
