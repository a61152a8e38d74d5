// Mistakes in how the tables were made. The frequencies are found in the tables
// given: the angle of pair k at position p is p * f[k].

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include "kernels/reference.h"
#include "verify/mistakes.h"

namespace ropewalk::verify {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr int64_t kMaxChain = 65536;

// Of a power of two.
size_t Log2(int64_t step) {
  return static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(step)));
}

double Wrap(double angle) { return std::remainder(angle, kTurn); }

// Angles of one table row, and their common scale.
struct Row {
  std::vector<double> angle;
  double scale = 0;
  bool even = true;  ///< all pairs have that scale
};

// How tables are made.
struct Made {
  std::vector<double> frequency;
  std::vector<double> exponent;  ///< f = base ^ -exponent
  std::optional<double> base;    ///< if the frequencies are its powers
  double scale = 1;
  double error = 0;  ///< of a number of the tables
  /// The position of each row that starts a period; the others follow.
  std::vector<double> starts;
};

// Rows of tables as angles, pair by pair.
class AngleRows {
 public:
  explicit AngleRows(const Scene& scene)
      : tables_(scene.tables), pairing_(scene.pairing) {}

  int64_t pairs() const { return tables_.width() / 2; }
  // Where in a stored row the number of pair k stands first.
  int64_t NumberOf(int64_t k) const {
    return tables_.full() ? reference::PairAt(pairing_, tables_.width(), k).p
                          : k;
  }
  Row Load(int64_t row) const {
    std::vector<double> cos(static_cast<size_t>(tables_.numbers()));
    std::vector<double> sin(cos.size());
    tables_.LoadRow(row, cos.data(), sin.data());
    Row result;
    for (int64_t k = 0; k < pairs(); ++k) {
      const auto at = static_cast<size_t>(NumberOf(k));
      const double scale = std::hypot(cos[at], sin[at]);
      if (k == 0) result.scale = scale;
      result.even = result.even && std::isfinite(scale) && scale > 0 &&
                    std::fabs(scale / result.scale - 1) < 0.02;
      result.angle.push_back(std::atan2(sin[at], cos[at]));
    }
    return result;
  }

 private:
  const Tables& tables_;
  Pairing pairing_;
};

// From angles at 0, 1, 2, 4, ... steps, each time twice as exactly.
// `angle(step, k)` is the angle passed.
template <class Angle>
std::vector<double> FollowAngles(int64_t pairs, int64_t last,
                                 const Angle& angle) {
  std::vector<double> frequency(static_cast<size_t>(pairs));
  for (int64_t k = 0; k < pairs; ++k) {
    double f = Wrap(angle(1, k));
    for (int64_t step = 2; step <= last; step *= 2) {
      const auto steps = static_cast<double>(step);
      f += Wrap(angle(step, k) - f * steps) / steps;
    }
    frequency[static_cast<size_t>(k)] = f;
  }
  return frequency;
}

std::vector<double> Powers(double base, const std::vector<double>& exponent) {
  std::vector<double> powers;
  powers.reserve(exponent.size());
  for (const double e : exponent) powers.push_back(std::pow(base, -e));
  return powers;
}

// `value` with fewer and fewer digits dropped, the roundest first.
std::vector<double> RoundNumbers(double value) {
  std::vector<double> numbers;
  const double magnitude = std::floor(std::log10(value));
  for (int digits = 1; digits <= 5; ++digits) {
    const double unit = std::pow(10.0, magnitude - digits + 1);
    numbers.push_back(std::round(value / unit) * unit);
  }
  numbers.push_back(value);
  return numbers;
}

double UnitOf(Dtype dtype) { return FormatOf(dtype).ulp_of_one / 2; }

void FindBase(double frequency_error, Made* made) {
  const size_t pairs = made->frequency.size();
  const size_t quarter = pairs / 2;
  for (const size_t cycle : {pairs, quarter}) {
    if (cycle < 2) continue;
    made->exponent.clear();
    for (size_t k = 0; k < pairs; ++k) {
      made->exponent.push_back(static_cast<double>(k % cycle) /
                               static_cast<double>(cycle));
    }
    const size_t k = cycle / 2;
    if (!(made->frequency[k] > 0)) continue;
    const double base =
        std::exp(-std::log(made->frequency[k]) / made->exponent[k]);
    if (!(base > 1.5 && base < 1e12)) continue;
    for (const double round : RoundNumbers(base)) {
      const std::vector<double> powers = Powers(round, made->exponent);
      bool fits = true;
      for (size_t i = 0; i < pairs; ++i) {
        const double off = std::fabs(powers[i] - made->frequency[i]);
        fits = fits && off <= frequency_error + 3e-7 * powers[i];
      }
      if (!fits) continue;
      made->base = round;
      made->frequency = powers;
      return;
    }
  }
}

// The position that a table row stands for: what the slowest pair says, if all
// others agree.
std::optional<double> PositionOfRow(const AngleRows& angles, const Made& made,
                                    int64_t row) {
  const Row at = angles.Load(row);
  const size_t last = made.frequency.size() - 1;
  const double rough = at.angle[last] / made.frequency[last];
  const double slack = std::ceil(4 * made.error / made.frequency[last]) + 1;
  std::optional<double> best;
  double best_off = 0.25;
  const auto tries = static_cast<int64_t>(2 * slack);
  for (int64_t i = 0; i <= tries; ++i) {
    const double p = std::round(rough) - slack + static_cast<double>(i);
    double off = 0;
    for (size_t k = 0; k <= last; ++k) {
      off = std::max(off, std::fabs(Wrap(at.angle[k] - p * made.frequency[k])));
    }
    if (off < best_off) {
      best_off = off;
      best = p;
    }
  }
  return best;
}

std::optional<Made> FindFrequencies(const Scene& scene) {
  const Tables& tables = scene.tables;
  const int64_t rows = tables.cached() ? tables.rows() : tables.period();
  if (rows < 3 || tables.width() < 4) return std::nullopt;
  const AngleRows angles(scene);
  const Row first = angles.Load(0);
  if (!first.even) return std::nullopt;
  int64_t last = 1;
  std::vector<Row> chain;
  for (; last < rows; last *= 2) chain.push_back(angles.Load(last));
  last /= 2;
  if (!std::ranges::all_of(chain, &Row::even)) return std::nullopt;
  Made made;
  made.scale = first.scale;
  made.frequency =
      FollowAngles(angles.pairs(), last, [&](int64_t step, int64_t k) {
        const size_t i = Log2(step);
        const auto at = static_cast<size_t>(k);
        return chain[i].angle[at] - first.angle[at];
      });
  made.error = 2 * UnitOf(tables.dtype());
  // An angle formed in fp32 is off by its own rounding.
  FindBase(4 * made.error / static_cast<double>(last) + 1.2e-7, &made);
  if (tables.cached()) {
    made.starts = {0};
    return made;
  }
  for (int64_t row = 0; row < tables.rows(); row += tables.period()) {
    const std::optional<double> position = PositionOfRow(angles, made, row);
    if (!position) return std::nullopt;
    made.starts.push_back(*position);
  }
  return made;
}

// Tables made anew: `angle(position, k)`.
using AngleOf = std::function<double(double position, size_t k)>;

bool IsNarrow(Dtype dtype) { return FormatOf(dtype).ulp_of_one > 1e-6; }

// If `lax`, a number of 16-bit tables may round either way.
Model Remade(const Clues& clues, const Made& made, bool lax, AngleOf angle) {
  const Scene& scene = clues.scene();
  const Dtype dtype = scene.tables.dtype();
  Model model = clues.base;
  model.table = [made, dtype, angle = std::move(angle), &scene](
                    int64_t row, double* cos, double* sin) {
    const Tables& tables = scene.tables;
    if (!tables.Holds(row)) return false;
    const int64_t period = tables.period();
    const double position = made.starts[static_cast<size_t>(row / period)] +
                            static_cast<double>(row % period);
    const Format format = FormatOf(dtype);
    for (size_t k = 0; k < made.frequency.size(); ++k) {
      const double turned = angle(position, k);
      const double c = Round(format, made.scale * std::cos(turned));
      const double s = Round(format, made.scale * std::sin(turned));
      if (!tables.full()) {
        cos[k] = c;
        sin[k] = s;
        continue;
      }
      const auto at = reference::PairAt(scene.pairing, scene.width,
                                        static_cast<int64_t>(k));
      cos[at.p] = cos[at.r] = c;
      sin[at.p] = sin[at.r] = s;
    }
    return true;
  };
  // Numbers of fp32 differ with the library of sine and cosine, and their
  // angles are rounded.
  model.table_error = lax ? 2 * UnitOf(dtype) : 4 * UnitOf(Dtype::kF32);
  if (dtype == Dtype::kF64) model.table_error = 4 * UnitOf(Dtype::kF64);
  if (dtype != Dtype::kF64) model.table_error_per_position = 0x1p-23;
  return model;
}

void AddRemade(const Clues& clues, const Made& made, const std::string& detail,
               const AngleOf& angle, std::vector<Hypothesis>* add) {
  add->push_back({detail, Remade(clues, made, false, angle)});
  if (!IsNarrow(clues.scene().tables.dtype())) return;
  add->push_back({detail, Remade(clues, made, true, angle), "", true});
}

}  // namespace

void FrequencyPrecision(const Clues& clues, std::vector<Hypothesis>* add) {
  const std::optional<Made> made = FindFrequencies(clues.scene());
  if (!made) return;
  for (const auto& [dtype, name] :
       {std::pair{Dtype::kBF16, "bf16"}, {Dtype::kF16, "fp16"}}) {
    const Format format = FormatOf(dtype);
    std::vector<double> rounded;
    for (const double f : made->frequency) rounded.push_back(Round(format, f));
    const std::string detail = name;
    const auto in = [format](double v) { return Round(format, v); };
    const auto turn = [rounded](double position, size_t k) {
      return position * rounded[k];
    };
    AddRemade(clues, *made, detail, turn, add);
    AddRemade(
        clues, *made, detail + ", positions too",
        [turn, in](double p, size_t k) { return turn(in(p), k); }, add);
    AddRemade(
        clues, *made, detail + ", angles too",
        [turn, in](double p, size_t k) { return in(turn(in(p), k)); }, add);
  }
}

namespace {

// The angle by which a slot of the result was turned, summed over heads.
double TurnedBy(const Scene& scene, int64_t slot, int64_t k) {
  constexpr int64_t kHeads = 64;
  const auto pair = reference::PairAt(scene.pairing, scene.width, k);
  const bool forward = scene.direction == Direction::kForward;
  std::vector<double> x(static_cast<size_t>(scene.columns)), y(x.size());
  double real = 0;
  double imaginary = 0;
  for (int64_t head = 0; head < std::min(scene.heads, kHeads); ++head) {
    const RowPlace place = scene.Place(scene.RowOf(slot, head));
    scene.LoadX(place, x.data());
    scene.LoadResult(place, y.data());
    const double* from = x.data() + scene.start;
    const double* to = y.data() + scene.start;
    const double a = from[forward ? pair.i : pair.p];
    const double b = from[forward ? pair.j : pair.r];
    const double p = to[forward ? pair.p : pair.i];
    const double r = to[forward ? pair.r : pair.j];
    real += a * p + b * r;
    imaginary += a * r - b * p;
  }
  const double angle = std::atan2(imaginary, real);
  return forward ? angle : -angle;
}

// Two slots for each distance of positions, 1, 2, 4, ... as far as there are.
std::vector<std::pair<int64_t, int64_t>> SlotsInChain(const Tables& tables) {
  const int64_t slots =
      std::min({tables.slots(), kMaxChain,
                tables.cached() ? tables.slots() : tables.period()});
  std::map<int64_t, int64_t> slot_of;
  for (int64_t slot = 0; slot < slots; ++slot) {
    slot_of.emplace(tables.Position(0, slot), slot);
  }
  std::vector<std::pair<int64_t, int64_t>> chain;
  for (int64_t step = 1;; step *= 2) {
    const auto first = std::ranges::find_if(slot_of, [&](const auto& entry) {
      return slot_of.contains(entry.first + step);
    });
    if (first == slot_of.end()) return chain;
    chain.emplace_back(first->second, slot_of.at(first->first + step));
  }
}

// The base that the result tells, roughly.
std::optional<double> BaseOfResult(const Scene& scene, const Made& made) {
  const auto chain = SlotsInChain(scene.tables);
  if (chain.empty() || scene.tables.sections() > 1) return std::nullopt;
  const int64_t last = int64_t{1} << (chain.size() - 1);
  const std::vector<double> frequency =
      FollowAngles(scene.width / 2, last, [&](int64_t step, int64_t k) {
        const size_t i = Log2(step);
        return TurnedBy(scene, chain[i].second, k) -
               TurnedBy(scene, chain[i].first, k);
      });
  // Slow pairs say more of the base, but less exactly.
  double sum = 0;
  double weights = 0;
  for (size_t k = 1; k < frequency.size(); ++k) {
    const double f = frequency[k];
    const double e = made.exponent[k];
    if (!(f > 0) || e == 0) continue;
    const double weight = (e * f) * (e * f);
    sum += weight * -std::log(f) / e;
    weights += weight;
  }
  if (weights == 0) return std::nullopt;
  return std::exp(sum / weights);
}

AngleOf WithBase(double base, const Made& made) {
  return [powers = Powers(base, made.exponent)](double position, size_t k) {
    return position * powers[k];
  };
}

// Climbs to the base that fits most elements of the sample.
double Refine(const Clues& clues, const Made& made, double base) {
  const auto fits = [&](double with) {
    Score score;
    const Status status = clues.trial.Try(
        Remade(clues, made, false, WithBase(with, made)), &score);
    return status.ok() ? score.fits : 0;
  };
  int64_t best = fits(base);
  double step = 4e-3;
  for (int halvings = 0; halvings < 18; ++halvings, step /= 2) {
    for (const double with : {base * (1 - step), base * (1 + step)}) {
      const int64_t now = fits(with);
      if (now <= best) continue;
      best = now;
      base = with;
    }
  }
  return base;
}

// Bases that models have.
constexpr double kBases[] = {100, 500, 1e3,   5e3,   1e4,   1.5e4, 2e4, 2.5e4,
                             4e4, 5e4, 1e5,   1.5e5, 1.6e5, 2e5,   3e5, 2.5e5,
                             5e5, 6e5, 8e5,   1e6,   1.5e6, 2e6,   3e6, 4e6,
                             5e6, 8e6, 3.5e6, 1e7,   5e7,   1e8};

}  // namespace

void FrequencyBase(const Clues& clues, std::vector<Hypothesis>* add) {
  const std::optional<Made> made = FindFrequencies(clues.scene());
  if (!made || !made->base) return;
  std::vector<double> bases;
  const std::optional<double> told = BaseOfResult(clues.scene(), *made);
  if (told && *told > 1.01 && *told < 1e15) {
    bases = RoundNumbers(*told);
    if (!clues.quickly) {
      for (const double base : RoundNumbers(Refine(clues, *made, *told))) {
        bases.push_back(base);
      }
    }
  }
  bases.insert(bases.end(), std::begin(kBases), std::end(kBases));
  std::set<double> tried;
  for (const double base : bases) {
    if (std::fabs(base / *made->base - 1) < 1e-3) continue;
    if (!tried.insert(base).second) continue;
    std::string number = std::to_string(base);
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    AddRemade(clues, *made, number, WithBase(base, *made), add);
  }
}

}  // namespace ropewalk::verify
