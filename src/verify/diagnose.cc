#include "verify/diagnose.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "verify/mistakes.h"

namespace ropewalk::verify {
namespace {

// The shares of wrong elements that a mistake may leave, on samples and on all.
// Where a mistake computes twice, roundings may fall otherwise.
constexpr double kSampleTolerance = 0.03;
constexpr double kTolerance = 0.01;
constexpr size_t kEvenRows = 64;
constexpr size_t kPairRows = 24;
constexpr size_t kVariantsOfFirst = 16;
constexpr size_t kMaxSurvivors = 24;
constexpr double kLeastShare = 0.05;  // of rows, to be named as a part

struct Candidate {
  size_t mistake;
  Hypothesis hypothesis;
  Score score;
};

std::vector<int64_t> EvenRows(int64_t count, size_t most) {
  std::vector<int64_t> rows;
  const auto n = std::min<int64_t>(count, static_cast<int64_t>(most));
  for (int64_t i = 0; i < n; ++i) rows.push_back(i * count / n);
  if (count > 0) rows.push_back(count - 1);
  return rows;
}

std::vector<int64_t> SampleOf(const std::vector<int64_t>& wrong, int64_t count,
                              size_t most_even) {
  std::vector<int64_t> rows = EvenRows(count, most_even);
  rows.insert(rows.end(), wrong.begin(), wrong.end());
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// What fits within a wide margin counts if nothing fits better.
template <class Item, class IsLax>
void DropLax(std::vector<Item>* items, const IsLax& is_lax) {
  if (std::ranges::all_of(*items, is_lax)) return;
  std::erase_if(*items, is_lax);
}

// Of each mistake only the ways that explain most; and not too many in all.
void KeepBest(std::vector<Candidate>* candidates) {
  std::ranges::stable_sort(*candidates, [](const auto& a, const auto& b) {
    return a.score.Explains() > b.score.Explains();
  });
  std::map<size_t, size_t> kept_of;
  std::erase_if(*candidates, [&](const Candidate& candidate) {
    return ++kept_of[candidate.mistake] > 2;
  });
  if (candidates->size() > kMaxSurvivors) candidates->resize(kMaxSurvivors);
}

class Investigation {
 public:
  Investigation(const Scene& scene, const Judge& judge,
                const Evidence& evidence, const VerifyOptions& options)
      : scene_(scene),
        judge_(judge),
        evidence_(evidence),
        options_(options),
        wrong_by_(evidence.gross > 0 ? WrongBy::kGross : WrongBy::kLimit),
        trial_(scene, judge, wrong_by_) {}

  Status Run(Diagnosis* diagnosis);

 private:
  const std::vector<int64_t>& wrong_rows() const {
    return wrong_by_ == WrongBy::kGross ? evidence_.wrong.items()
                                        : evidence_.fine.items();
  }
  Status TrySingle(std::vector<Candidate>* fit, std::vector<Candidate>* part);
  Status TryPairs(std::vector<Candidate>* fit);
  Status TryPairsWith(const Candidate& first, std::vector<Candidate>* fit);
  Status ConfirmAll(std::vector<Candidate>* candidates);
  Status ExplainParts(std::vector<Candidate>* parts, Diagnosis* diagnosis);
  void NameParts(const std::vector<Candidate>& parts,
                 const std::map<uint64_t, int64_t>& wrong_by_parts,
                 Diagnosis* diagnosis) const;
  bool Sensible(const Model& model) const {
    // What is wrong by bits alone is told by bits alone.
    return wrong_by_ == WrongBy::kGross || model.finish != Finish::kExact;
  }
  // Whether what is right fits too, with the margin of a lax hypothesis: then
  // it says nothing.
  bool RightFitsLaxly(const Model& model) {
    Model right = trial_.right();
    right.table_error = model.table_error;
    right.table_error_per_position = model.table_error_per_position;
    Score score;
    const Status status = trial_.Try(right, &score);
    return !status.ok() || score.Accepted(kSampleTolerance);
  }
  template <class Visit>
  Status ForAll(const Visit& visit);

  const Scene& scene_;
  const Judge& judge_;
  const Evidence& evidence_;
  const VerifyOptions& options_;
  WrongBy wrong_by_;
  Trial trial_;
  std::vector<int64_t> sample_;
};

Status Investigation::TrySingle(std::vector<Candidate>* fit,
                                std::vector<Candidate>* part) {
  const Clues clues{trial_, evidence_, trial_.right()};
  for (size_t m = 0; m < Mistakes().size(); ++m) {
    if (Mistakes()[m].rotated == nullptr) continue;
    std::vector<Hypothesis> hypotheses;
    Mistakes()[m].rotated(clues, &hypotheses);
    std::optional<Candidate> best_part;
    for (Hypothesis& hypothesis : hypotheses) {
      if (!Sensible(hypothesis.model)) continue;
      if (hypothesis.lax && RightFitsLaxly(hypothesis.model)) continue;
      Candidate candidate{m, std::move(hypothesis), {}};
      const Status status =
          trial_.Try(candidate.hypothesis.model, &candidate.score);
      if (!status.ok()) return status;
      const Score& score = candidate.score;
      if (score.Accepted(kSampleTolerance)) {
        fit->push_back(std::move(candidate));
      } else if (score.rows_explained > 1 &&
                 static_cast<double>(score.rows_explained) >=
                     kLeastShare * static_cast<double>(score.wrong_rows) &&
                 (!best_part || best_part->score.explained_in_rows <
                                    score.explained_in_rows)) {
        best_part = std::move(candidate);
      }
    }
    if (best_part) part->push_back(std::move(*best_part));
  }
  KeepBest(fit);
  return Status();
}

// Mistakes on top of a first one.
Status Investigation::TryPairsWith(const Candidate& first,
                                   std::vector<Candidate>* fit) {
  const Clues clues{trial_, evidence_, first.hypothesis.model, true};
  for (size_t m = 0; m < Mistakes().size(); ++m) {
    const Mistake& mistake = Mistakes()[m];
    // Pairs of two that do not search are met in one order only.
    if (mistake.rotated == nullptr || m == first.mistake ||
        (!mistake.searches && m < first.mistake)) {
      continue;
    }
    std::vector<Hypothesis> hypotheses;
    mistake.rotated(clues, &hypotheses);
    for (Hypothesis& hypothesis : hypotheses) {
      if (!Sensible(hypothesis.model) || !hypothesis.with.empty() ||
          hypothesis.lax) {
        continue;
      }
      Candidate candidate{m, std::move(hypothesis), {}};
      const Status status =
          trial_.Try(candidate.hypothesis.model, &candidate.score);
      if (!status.ok()) return status;
      if (!candidate.score.Accepted(kSampleTolerance)) continue;
      candidate.hypothesis.with = Mistakes()[first.mistake].id;
      if (!first.hypothesis.detail.empty()) {
        candidate.hypothesis.detail +=
            (candidate.hypothesis.detail.empty() ? "" : "; ") +
            candidate.hypothesis.with + ": " + first.hypothesis.detail;
      }
      fit->push_back(std::move(candidate));
    }
  }
  return Status();
}

Status Investigation::TryPairs(std::vector<Candidate>* fit) {
  std::vector<int64_t> few = EvenRows(scene_.rows, kPairRows / 2);
  const std::vector<int64_t>& wrong = wrong_rows();
  for (size_t i = 0; i < kPairRows / 2 && i < wrong.size(); ++i) {
    few.push_back(
        wrong[i * wrong.size() / std::min(wrong.size(), kPairRows / 2)]);
  }
  Status status = trial_.Look(few);
  if (!status.ok()) return status;
  const Clues clues{trial_, evidence_, trial_.right()};
  for (size_t m = 0; m < Mistakes().size(); ++m) {
    const Mistake& mistake = Mistakes()[m];
    if (mistake.rotated == nullptr || mistake.searches) continue;
    std::vector<Hypothesis> hypotheses;
    mistake.rotated(clues, &hypotheses);
    if (hypotheses.size() > kVariantsOfFirst) continue;
    for (Hypothesis& hypothesis : hypotheses) {
      if (!hypothesis.with.empty()) continue;
      status = TryPairsWith({m, std::move(hypothesis), {}}, fit);
      if (!status.ok()) return status;
    }
  }
  KeepBest(fit);
  return Status();
}

// Calls visit(trial, rows, worker) for blocks of rows that a trial has looked
// at, one worker at a time each.
template <class Visit>
Status Investigation::ForAll(const Visit& visit) {
  std::vector<std::unique_ptr<Trial>> trials;
  for (size_t i = 0; i < MaxWorkers(options_); ++i) {
    trials.push_back(std::make_unique<Trial>(scene_, judge_, wrong_by_));
  }
  BlockWork work;
  work.work = [&](size_t, size_t worker, std::span<const int64_t> rows) {
    Status status = trials[worker]->Look(rows);
    if (status.ok()) status = visit(*trials[worker], rows, worker);
    return status;
  };
  work.merge = [](size_t) {};
  return ForEachBlock(scene_, options_, true, work);
}

// Scores the candidates on all of the result and drops those that do not fit.
Status Investigation::ConfirmAll(std::vector<Candidate>* candidates) {
  if (candidates->empty()) return Status();
  const size_t workers = MaxWorkers(options_);
  std::vector<std::vector<Score>> scores(
      workers, std::vector<Score>(candidates->size()));
  const Status status =
      ForAll([&](Trial& trial, std::span<const int64_t>, size_t worker) {
        for (size_t i = 0; i < candidates->size(); ++i) {
          Score score;
          const Status tried =
              trial.Try((*candidates)[i].hypothesis.model, &score);
          if (!tried.ok()) return tried;
          scores[worker][i].Add(score);
        }
        return Status();
      });
  if (!status.ok()) return status;
  for (size_t i = 0; i < candidates->size(); ++i) {
    Score& score = (*candidates)[i].score;
    score = {};
    for (size_t w = 0; w < workers; ++w) score.Add(scores[w][i]);
  }
  std::erase_if(*candidates, [](const Candidate& candidate) {
    return !candidate.score.Accepted(kTolerance);
  });
  DropLax(candidates, [](const Candidate& c) { return c.hypothesis.lax; });
  return status;
}

// Rows may be wrong in different ways, and others right.
Status Investigation::ExplainParts(std::vector<Candidate>* parts,
                                   Diagnosis* diagnosis) {
  if (parts->empty()) return Status();
  std::ranges::stable_sort(*parts, [](const auto& a, const auto& b) {
    return a.score.explained_in_rows > b.score.explained_in_rows;
  });
  if (parts->size() > kMaxSurvivors) parts->resize(kMaxSurvivors);
  const size_t workers = MaxWorkers(options_);
  std::vector<std::map<uint64_t, int64_t>> wrong_by_parts(workers);
  std::vector<std::vector<Score>> scores(workers,
                                         std::vector<Score>(parts->size()));
  const Status status =
      ForAll([&](Trial& trial, std::span<const int64_t> rows, size_t worker) {
        std::vector<uint64_t> masks(rows.size(), 0);
        std::vector<char> explained;
        for (size_t i = 0; i < parts->size(); ++i) {
          Score score;
          const Status tried =
              trial.Try((*parts)[i].hypothesis.model, &score, &explained);
          if (!tried.ok()) return tried;
          scores[worker][i].Add(score);
          for (size_t row = 0; row < rows.size(); ++row) {
            masks[row] |= uint64_t{explained[row] != 0} << i;
          }
        }
        for (size_t row = 0; row < rows.size(); ++row) {
          const int64_t wrong = trial.WrongInRow(row);
          if (wrong > 0) wrong_by_parts[worker][masks[row]] += wrong;
        }
        return Status();
      });
  if (!status.ok()) return status;
  for (size_t i = 0; i < parts->size(); ++i) {
    (*parts)[i].score = {};
    for (size_t w = 0; w < workers; ++w) (*parts)[i].score.Add(scores[w][i]);
  }
  for (size_t w = 1; w < workers; ++w) {
    for (const auto& [mask, wrong] : wrong_by_parts[w]) {
      wrong_by_parts[0][mask] += wrong;
    }
  }
  NameParts(*parts, wrong_by_parts[0], diagnosis);
  return status;
}

// Takes the mistake that explains most of what is left, again and again.
void Investigation::NameParts(const std::vector<Candidate>& parts,
                              const std::map<uint64_t, int64_t>& wrong_by_parts,
                              Diagnosis* diagnosis) const {
  std::map<uint64_t, int64_t> left = wrong_by_parts;
  while (true) {
    size_t best = 0;
    int64_t most = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      int64_t explained = 0;
      for (const auto& [mask, wrong] : left) {
        if ((mask >> i & 1) != 0) explained += wrong;
      }
      if (explained > most) {
        most = explained;
        best = i;
      }
    }
    if (static_cast<double>(most) <
        kLeastShare * static_cast<double>(diagnosis->wrong)) {
      return;
    }
    const Candidate& part = parts[best];
    Score score = part.score;
    score.explained = most;
    diagnosis->found.push_back({part.mistake, part.hypothesis.detail,
                                part.hypothesis.with, score, true});
    std::erase_if(left, [best](const auto& entry) {
      return (entry.first >> best & 1) != 0;
    });
  }
}

Status Investigation::Run(Diagnosis* diagnosis) {
  diagnosis->output = scene_.name;
  diagnosis->wrong =
      wrong_by_ == WrongBy::kGross ? evidence_.gross : evidence_.outside;
  diagnosis->elements = evidence_.elements;
  sample_ = SampleOf(wrong_rows(), scene_.rows, kEvenRows);
  Status status = trial_.Look(sample_);
  std::vector<Candidate> fit, part;
  if (status.ok()) status = TrySingle(&fit, &part);
  if (status.ok()) status = ConfirmAll(&fit);
  if (status.ok() && fit.empty()) status = TryPairs(&fit);
  if (status.ok() && !fit.empty()) status = ConfirmAll(&fit);
  if (!status.ok()) return status;
  for (const Candidate& candidate : fit) {
    diagnosis->found.push_back({candidate.mistake, candidate.hypothesis.detail,
                                candidate.hypothesis.with, candidate.score,
                                false});
  }
  if (fit.empty()) status = ExplainParts(&part, diagnosis);
  return status;
}

}  // namespace

Status Diagnose(const Scene& scene, const Judge& judge,
                const Evidence& evidence, const VerifyOptions& options,
                Diagnosis* diagnosis) {
  return Investigation(scene, judge, evidence, options).Run(diagnosis);
}

Status DiagnoseSum(const SumScene& scene, Sum sum, const Judge& judge,
                   const Evidence& evidence, const VerifyOptions&,
                   Diagnosis* diagnosis) {
  constexpr int64_t kRowsOfSamples = 16384;
  const bool gross = evidence.gross > 0;
  diagnosis->output = sum == Sum::kCos ? "dcos" : "dsin";
  diagnosis->wrong = gross ? evidence.gross : evidence.outside;
  diagnosis->elements = evidence.elements;
  if (!gross) return Status();
  SumTrial trial(scene, sum, judge, WrongBy::kGross);
  const auto most = static_cast<size_t>(std::clamp<int64_t>(
      kRowsOfSamples / std::max<int64_t>(scene.rows.heads, 1), 1, 48));
  std::vector<int64_t> wrong = evidence.wrong.items();
  if (wrong.size() > most) wrong.resize(most);
  Status status = trial.Look(SampleOf(wrong, scene.rows.tables.slots(), most));
  std::vector<std::pair<size_t, SumHypothesis>> survivors;
  for (size_t m = 0; m < Mistakes().size() && status.ok(); ++m) {
    if (Mistakes()[m].summed == nullptr) continue;
    std::vector<SumHypothesis> hypotheses;
    Mistakes()[m].summed(scene, sum, &hypotheses);
    for (SumHypothesis& hypothesis : hypotheses) {
      Score score;
      status = trial.Try(hypothesis.model, &score);
      if (!status.ok()) return status;
      if (score.Accepted(kSampleTolerance)) {
        survivors.emplace_back(m, std::move(hypothesis));
      }
    }
  }
  if (survivors.empty()) return status;
  std::vector<Score> scores(survivors.size());
  constexpr int64_t kSlotsAtOnce = 256;
  const int64_t slots = scene.rows.tables.slots();
  for (int64_t first = 0; first < slots && status.ok(); first += kSlotsAtOnce) {
    std::vector<int64_t> some;
    for (int64_t s = first; s < std::min(first + kSlotsAtOnce, slots); ++s) {
      some.push_back(s);
    }
    status = trial.Look(some);
    for (size_t i = 0; i < survivors.size() && status.ok(); ++i) {
      Score score;
      status = trial.Try(survivors[i].second.model, &score);
      scores[i].Add(score);
    }
  }
  std::vector<size_t> accepted;
  for (size_t i = 0; i < survivors.size(); ++i) {
    if (scores[i].Accepted(kTolerance)) accepted.push_back(i);
  }
  DropLax(&accepted, [&](size_t i) { return survivors[i].second.lax; });
  for (const size_t i : accepted) {
    diagnosis->found.push_back(
        {survivors[i].first, survivors[i].second.detail, "", scores[i], false});
  }
  return status;
}

namespace {

// What one mistake, or two together, explain over all outputs.
struct Combined {
  size_t mistake = 0;
  std::string with, detail;
  std::vector<std::string> outputs;
  int64_t explained = 0, wrong = 0, elements = 0, before = 0, after = 0;
  bool in_some_rows = false;

  double Explains() const {
    return wrong == 0
               ? 0
               : static_cast<double>(explained) / static_cast<double>(wrong);
  }
};

std::vector<Combined> Combine(const std::vector<const Diagnosis*>& diagnoses) {
  std::map<std::pair<size_t, std::string>, Combined> all;
  for (const Diagnosis* diagnosis : diagnoses) {
    std::map<std::pair<size_t, std::string>, const Found*> best;
    for (const Found& found : diagnosis->found) {
      const Found*& known = best[{found.mistake, found.with}];
      if (known == nullptr || found.score.explained > known->score.explained) {
        known = &found;
      }
    }
    for (const auto& [key, found] : best) {
      Combined& combined = all[key];
      combined.mistake = found->mistake;
      combined.with = found->with;
      if (combined.detail.empty()) combined.detail = found->detail;
      combined.outputs.push_back(diagnosis->output);
      combined.explained += found->score.explained;
      combined.wrong += std::max(diagnosis->wrong, found->score.explained);
      combined.elements += found->score.elements;
      combined.before += found->score.elements - found->score.wrong;
      combined.after += found->score.fits;
      combined.in_some_rows |= found->in_some_rows;
    }
  }
  std::vector<Combined> list;
  list.reserve(all.size());
  for (auto& [key, combined] : all) list.push_back(std::move(combined));
  return list;
}

void AddCauses(const Combined& combined, std::vector<Cause>* causes) {
  const auto share = [&combined](int64_t part) {
    return combined.elements == 0 ? 0
                                  : static_cast<double>(part) /
                                        static_cast<double>(combined.elements);
  };
  Cause cause;
  cause.id = Mistakes()[combined.mistake].id;
  cause.explains = combined.Explains();
  cause.outputs = combined.outputs;
  cause.detail = combined.detail;
  if (combined.in_some_rows) {
    cause.detail += cause.detail.empty() ? "in some rows" : ", in some rows";
  }
  cause.with = combined.with;
  cause.fit_before = share(combined.before);
  cause.fit_after = share(combined.after);
  if (cause.with.empty()) {
    causes->push_back(std::move(cause));
    return;
  }
  // Two entries, in the order of ids.
  Cause other = cause;
  std::swap(other.id, other.with);
  const auto place = [](const std::string& id) {
    return std::ranges::find(
               Mistakes(), id,
               [](const Mistake& m) { return std::string(m.id); }) -
           Mistakes().begin();
  };
  if (place(other.id) < place(cause.id)) std::swap(cause, other);
  causes->push_back(std::move(cause));
  causes->push_back(std::move(other));
}

void AddUnknown(const std::vector<const Diagnosis*>& diagnoses,
                std::vector<Cause>* causes) {
  Cause unknown;
  unknown.id = "unknown";
  for (const Diagnosis* diagnosis : diagnoses) {
    unknown.outputs.push_back(diagnosis->output);
  }
  causes->push_back(std::move(unknown));
}

}  // namespace

std::vector<Cause> Conclude(const std::vector<Diagnosis>& diagnoses) {
  std::vector<const Diagnosis*> left;
  left.reserve(diagnoses.size());
  for (const Diagnosis& diagnosis : diagnoses) left.push_back(&diagnosis);
  std::vector<Cause> causes;
  // The mistakes that explain most of what is left; then the outputs that they
  // do not touch.
  while (!left.empty()) {
    std::vector<Combined> combined = Combine(left);
    if (combined.empty()) {
      AddUnknown(left, &causes);
      break;
    }
    int64_t most = 0;
    for (const Combined& c : combined) most = std::max(most, c.explained);
    const bool parts = std::ranges::any_of(combined, &Combined::in_some_rows);
    std::set<std::string> touched;
    int64_t explained = 0;
    int64_t wrong = 0;
    for (const Combined& c : combined) {
      if (!parts && c.explained < most) continue;
      AddCauses(c, &causes);
      touched.insert(c.outputs.begin(), c.outputs.end());
      explained += c.explained;
      wrong = std::max(wrong, c.wrong);
    }
    if (parts && static_cast<double>(explained) <
                     (1 - kTolerance) * static_cast<double>(wrong)) {
      AddUnknown(left, &causes);
    }
    std::erase_if(left, [&](const Diagnosis* diagnosis) {
      return touched.contains(diagnosis->output);
    });
  }
  return causes;
}

}  // namespace ropewalk::verify

namespace ropewalk {

std::vector<std::string> CauseNames() {
  std::vector<std::string> names;
  for (const auto& mistake : verify::Mistakes()) names.emplace_back(mistake.id);
  return names;
}

}  // namespace ropewalk
