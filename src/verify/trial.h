// Tries models of a rotation on rows of a result.

#ifndef ROPEWALK_SRC_VERIFY_TRIAL_H_
#define ROPEWALK_SRC_VERIFY_TRIAL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "verify/judge.h"
#include "verify/rotator.h"
#include "verify/scene.h"

namespace ropewalk::verify {

/// How well a model fits rows. A row is known if the tables hold what the
/// model needs for it.
struct Score {
  int64_t elements = 0, fits = 0;
  int64_t wrong = 0;        ///< elements that are wrong as it should be
  int64_t wrong_known = 0;  ///< those in known rows
  int64_t explained = 0;    ///< those that the model gives
  int64_t misfits = 0;      ///< elements of known rows that it does not give
  /// Elements of rows that are right though not known: what tables give that
  /// lack a row is not right but by chance.
  int64_t right_unknown = 0;
  int64_t wrong_rows = 0;
  int64_t rows_explained = 0;     ///< rows with wrong elements that fit whole
  int64_t explained_in_rows = 0;  ///< wrong elements of these

  void Add(const Score& other);
  /// The share of wrong elements that the model gives.
  double Explains() const;
  /// Whether the model gives the rows that it can: but for a share of
  /// `tolerance` of what is wrong.
  bool Accepted(double tolerance) const;
};

/// Which elements count as wrong.
enum class WrongBy : uint8_t {
  kGross,  ///< beyond the arithmetic limit and the chosen one
  kLimit,  ///< beyond the chosen one, which is narrower
};

/// Not for several threads at once.
class Trial {
 public:
  Trial(const Scene& scene, const Judge& judge, WrongBy wrong_by);

  const Scene& scene() const { return scene_; }
  const Judge& judge() const { return judge_; }
  WrongBy wrong_by() const { return wrong_by_; }

  /// Looks at the rows: what is wrong in them. Later Try calls are of these.
  Status Look(std::span<const int64_t> rows);
  /// `explained`, if given, gets a 1 for each row with wrong elements that fits
  /// whole.
  Status Try(const Model& model, Score* score,
             std::vector<char>* explained = nullptr);
  /// How many elements of a row that was looked at are wrong.
  int64_t WrongInRow(size_t row) const;

  /// Whether a model gives one row, but for a few elements.
  bool FitsRow(const Model& model, int64_t row);

  /// The right model, with the reference's arithmetic.
  const Model& right() const { return right_; }

 private:
  bool Fits(const Model& model, const Products& products, size_t row,
            size_t column, double got) const;
  bool ScoreRow(const Model& model, size_t row, Score* score);

  const Scene& scene_;
  const Judge& judge_;
  WrongBy wrong_by_;
  Model right_;
  Rotator rotator_;
  Products products_;
  std::vector<int64_t> rows_;
  std::vector<double> got_;           // [rows][columns]
  std::vector<char> wrong_;           // likewise
  std::vector<char> usable_;          // rows whose numbers are finite
  std::vector<char> second_of_pair_;  // of each column
};

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_TRIAL_H_
