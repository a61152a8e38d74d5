// Rotates rows of a scene in double, rightly or as a mistake would, by the
// library's own operators.

#ifndef ROPEWALK_SRC_VERIFY_ROTATOR_H_
#define ROPEWALK_SRC_VERIFY_ROTATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "ropewalk/ops.h"
#include "ropewalk/plan.h"
#include "verify/scene.h"

namespace ropewalk::verify {

/// How two products become a result.
enum class Finish : uint8_t {
  kExact,       ///< their sum in double
  kContract,    ///< each in fp32, their sum in fp32, rounded to nearest
  kTruncate,    ///< the contract's sum, rounded toward zero
  kFuseFirst,   ///< the first product is not rounded, the second is
  kFuseSecond,  ///< the other way round
  kFuseFirstThenSecond,  ///< of a pair, the one and then the other
  kFuseSecondThenFirst,
  kBF16Products,  ///< each product rounded to bf16, their sum in fp32
  kFP16Products,
  kBF16,  ///< each product and the sum rounded to bf16
  kFP16,
};

/// A rotation of rows: the right one, with something changed. What is left at
/// its default is as the scene says.
struct Model {
  Pairing pairing = Pairing::kHalf;
  Direction direction = Direction::kForward;
  int64_t start = 0, width = 0;  ///< the columns that rotate
  /// Which number of a table row serves each column that rotates.
  std::vector<int64_t> table_columns = {};
  bool swap_cos_sin = false;
  bool negate_sin = false;
  bool swap_partners = false;  ///< each element takes its partner's sin
  std::optional<Dtype> round_tables = {}, round_x = {};
  /// From a position and its slot to the position used instead.
  std::function<int64_t(int64_t position, int64_t slot)> position = {};
  /// The slot used for a row of x.
  std::function<int64_t(int64_t row, const RowPlace& place)> slot = {};
  /// The row of the result that stands in this row.
  std::function<int64_t(int64_t row)> source = {};
  /// Which position row serves each pair.
  std::vector<int> section_of_pair = {};
  /// numbers() cosines and sines that stand at a position instead.
  std::function<bool(int64_t position, double* cos, double* sin)> table = {};
  /// Added to what may differ: this much of the largest |x| of a row, for
  /// tables that are not known to the last bit, and for each position.
  double table_error = 0, table_error_per_position = 0;
  /// Column c of the rotated part shows column permute[c].
  std::vector<int64_t> permute = {};
  bool identity = false;  ///< nothing rotates
  bool twice = false;     ///< rotates what was rotated
  std::optional<Dtype> round_between = {};
  Finish finish = Finish::kExact;
};

/// The right one.
Model RightModel(const Scene& scene);

/// The numbers of a table row, a number for each pair or, if `full`, for each
/// column as `stored` pairs them, laid out by `layout`.
std::vector<int64_t> PairColumns(Pairing layout, int64_t width, bool full,
                                 Pairing stored = Pairing::kHalf);

/// Two products for each element, whose sum is the result; columns that do not
/// rotate have 0 as their second. [rows][columns].
struct Products {
  std::vector<double> first, second;
  std::vector<double> slack;  ///< for each row
  std::vector<char> known;    ///< 0: the tables do not hold what is needed
};

/// Not for several threads at once.
class Rotator {
 public:
  explicit Rotator(const Scene& scene);

  /// Computes the products of `rows`.
  Status Run(const Model& model, std::span<const int64_t> rows,
             Products* products);

  /// One row, by the plain reference: in double, and in the library's
  /// arithmetic before the store. For rows that are not finite. `model` changes
  /// nothing that the row's own table does not show.
  Status RunPlainly(const Model& model, int64_t row, std::vector<double>* exact,
                    std::vector<double>* contract);

 private:
  using PlanKey = std::tuple<size_t, size_t, int64_t, Pairing, Direction>;

  bool LoadTable(const Model& model, int64_t slot, double* cos, double* sin);
  bool LoadNumbers(const Model& model, int64_t slot, double* cos, double* sin);
  const Plan* FindPlan(const Model& model, size_t groups, size_t rows,
                       Status* status);
  void LoadRows(const Model& model, std::span<const int64_t> rows,
                Products* products);
  double Slack(const Model& model, const double* x) const;
  void EvenGroups(size_t width);
  Status Turn(const Model& model, Products* products);
  void PermuteRows(const Model& model, size_t rows, Products* products) const;

  const Scene& scene_;
  std::map<PlanKey, Plan> plans_;
  std::vector<double> x_, cos_, sin_, zeros_;
  std::vector<double> cos_numbers_, sin_numbers_, one_cos_, one_sin_;
  std::vector<int64_t> positions_, columns_;
  std::vector<size_t> groups_;  // rows that follow one another, by their slot
};

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_ROTATOR_H_
