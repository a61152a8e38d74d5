#include "verify/trial.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference.h"
#include "verify/finish.h"

namespace ropewalk::verify {
namespace {

// A row fits if all but this share of it does.
constexpr double kRowTolerance = 0.02;
constexpr double kRightUnknown = 0.05;

bool Equal(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

void Score::Add(const Score& other) {
  elements += other.elements;
  fits += other.fits;
  wrong += other.wrong;
  wrong_known += other.wrong_known;
  explained += other.explained;
  misfits += other.misfits;
  right_unknown += other.right_unknown;
  wrong_rows += other.wrong_rows;
  rows_explained += other.rows_explained;
  explained_in_rows += other.explained_in_rows;
}

double Score::Explains() const {
  return wrong == 0
             ? 0
             : static_cast<double>(explained) / static_cast<double>(wrong);
}

bool Score::Accepted(double tolerance) const {
  return wrong_known > 0 && explained > 0 &&
         static_cast<double>(misfits) <=
             tolerance * static_cast<double>(wrong_known) &&
         static_cast<double>(right_unknown) <=
             kRightUnknown * static_cast<double>(wrong_known);
}

Trial::Trial(const Scene& scene, const Judge& judge, WrongBy wrong_by)
    : scene_(scene),
      judge_(judge),
      wrong_by_(wrong_by),
      right_(RightModel(scene)),
      rotator_(scene),
      second_of_pair_(static_cast<size_t>(scene.columns), 0) {
  right_.finish = judge.reference_finish() == Finish::kContract
                      ? Finish::kExact
                      : judge.reference_finish();
  if (judge.eager()) {
    right_.round_x = right_.round_tables = judge.eager_dtype();
  }
  for (int64_t k = 0; k < scene.width / 2; ++k) {
    const reference::Pair pair =
        reference::PairAt(scene.pairing, scene.width, k);
    const bool forward = scene.direction == Direction::kForward;
    second_of_pair_[static_cast<size_t>(scene.start +
                                        (forward ? pair.r : pair.j))] = 1;
  }
}

bool Trial::Fits(const Model& model, const Products& products, size_t row,
                 size_t column, double got) const {
  const size_t at = row * static_cast<size_t>(scene_.columns) + column;
  const double first = products.first[at];
  const double second = products.second[at];
  const auto c = static_cast<int64_t>(column);
  const bool rotates =
      !model.identity && model.start <= c && c < model.start + model.width;
  if (!rotates) return Equal(Round(judge_.format(), first), got);
  if (model.finish != Finish::kExact) {
    return Equal(Apply(model.finish, judge_.format(), first, second,
                       second_of_pair_[column] != 0),
                 got);
  }
  return judge_.Near(first + second, std::fabs(first) + std::fabs(second), got,
                     Columns::kRotated, products.slack[row]);
}

Status Trial::Look(std::span<const int64_t> rows) {
  const auto columns = static_cast<size_t>(scene_.columns);
  rows_.assign(rows.begin(), rows.end());
  got_.resize(rows.size() * columns);
  wrong_.assign(rows.size() * columns, 0);
  usable_.assign(rows.size(), 1);
  const Status status = rotator_.Run(right_, rows, &products_);
  if (!status.ok()) return status;
  const bool narrower = wrong_by_ == WrongBy::kLimit;
  for (size_t i = 0; i < rows.size(); ++i) {
    scene_.LoadResult(scene_.Place(rows[i]), got_.data() + i * columns);
    const bool known = products_.known[i] != 0;
    for (size_t c = 0; c < columns; ++c) {
      const size_t at = i * columns + c;
      const double first = products_.first[at];
      const double second = products_.second[at];
      if (known && !(std::isfinite(first) && std::isfinite(second))) {
        usable_[i] = 0;
        break;
      }
      const auto column = static_cast<int64_t>(c);
      const bool rotates =
          scene_.start <= column && column < scene_.start + scene_.width;
      bool fits = Fits(right_, products_, i, c, got_[at]);
      if (known && rotates && narrower) {
        fits = !judge_.Outside(first, second, got_[at]);
      }
      wrong_[at] = (known || !rotates) ? !fits : 1;
    }
  }
  return Status();
}

bool Trial::ScoreRow(const Model& model, size_t row, Score* score) {
  if (usable_[row] == 0) return false;
  const auto columns = static_cast<size_t>(scene_.columns);
  const bool known = products_.known[row] != 0;
  int64_t wrong = 0;
  int64_t explained = 0;
  int64_t misfits = 0;
  for (size_t c = 0; c < columns; ++c) {
    const size_t at = row * columns + c;
    const bool fits = known && Fits(model, products_, row, c, got_[at]);
    wrong += wrong_[at];
    explained += wrong_[at] != 0 && fits ? 1 : 0;
    misfits += known && !fits ? 1 : 0;
    score->fits += fits ? 1 : 0;
  }
  if (!known && wrong == 0) score->right_unknown += scene_.width;
  score->elements += scene_.columns;
  score->wrong += wrong;
  score->wrong_known += known ? wrong : 0;
  score->explained += explained;
  score->misfits += misfits;
  if (wrong == 0) return false;
  ++score->wrong_rows;
  if (known && static_cast<double>(misfits) <=
                   kRowTolerance * static_cast<double>(wrong)) {
    ++score->rows_explained;
    score->explained_in_rows += wrong;
    return true;
  }
  return false;
}

int64_t Trial::WrongInRow(size_t row) const {
  if (usable_[row] == 0) return 0;
  const auto columns = static_cast<ptrdiff_t>(scene_.columns);
  const auto first = wrong_.begin() + static_cast<ptrdiff_t>(row) * columns;
  return std::count(first, first + columns, 1);
}

Status Trial::Try(const Model& model, Score* score,
                  std::vector<char>* explained) {
  *score = {};
  if (explained != nullptr) explained->assign(rows_.size(), 0);
  const Status status = rotator_.Run(model, rows_, &products_);
  if (!status.ok()) return status;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const bool whole = ScoreRow(model, i, score);
    if (explained != nullptr) (*explained)[i] = whole ? 1 : 0;
  }
  return Status();
}

bool Trial::FitsRow(const Model& model, int64_t row) {
  const auto columns = static_cast<size_t>(scene_.columns);
  const int64_t rows[] = {row};
  if (!rotator_.Run(model, rows, &products_).ok() || products_.known[0] == 0) {
    return false;
  }
  std::vector<double> got(columns);
  scene_.LoadResult(scene_.Place(row), got.data());
  const auto most =
      static_cast<int64_t>(kRowTolerance * static_cast<double>(scene_.width));
  int64_t misfits = 0;
  for (size_t c = 0; c < columns && misfits <= most; ++c) {
    if (!Fits(model, products_, 0, c, got[c])) ++misfits;
  }
  return misfits <= most;
}

}  // namespace ropewalk::verify
