#include "verify/survey.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "verify/map.h"

namespace ropewalk::verify {
namespace {

// So many numbers as double are in the nearer caches.
constexpr int64_t kBlockElements = 4096;

struct Block {
  Tally tally;
  std::vector<WorstError> worst;
  double threshold = 0;  // of an error that may be among the worst
  std::vector<int64_t> wrong, fine;
  int64_t first_wrong_position = -1;
};

struct Worker {
  explicit Worker(const Scene& scene) : rotator(scene) {}
  Rotator rotator;
  Products products;
  Wanted wanted;
  std::vector<double> got, ulp;
  ErrorMap map;
};

bool Worse(const WorstError& a, const WorstError& b) {
  return a.ulp != b.ulp ? a.ulp > b.ulp : a.index < b.index;
}

void Shorten(size_t most, std::vector<WorstError>* worst) {
  std::ranges::sort(*worst, Worse);
  if (worst->size() > most) worst->resize(most);
}

int64_t Smaller(int64_t a, int64_t b) {
  return a < 0 || b < 0 ? std::max(a, b) : std::min(a, b);
}

class Pass {
 public:
  Pass(const Scene& scene, const Judge& judge, const VerifyOptions& options)
      : scene_(scene),
        judge_(judge),
        options_(options),
        model_(RightModel(scene)),
        blocks_(BlockWork::kBlocksInWave) {
    if (judge.eager()) {
      model_.round_x = model_.round_tables = judge.eager_dtype();
    }
    model_.finish = judge.reference_finish();
    for (size_t i = 0; i < MaxWorkers(options); ++i) {
      workers_.emplace_back(scene);
      if (options.map) {
        workers_.back().map =
            MakeMap(scene.tables.slots(), scene.columns, scene.heads);
      }
    }
  }

  Status DoBlock(size_t number, size_t worker, std::span<const int64_t> rows);
  void Merge(size_t number);
  void Report(OutputReport* report, Evidence* evidence);

 private:
  void Want(Worker& w, size_t row);
  bool JudgeQuickly(Worker& w, size_t i, Tally* tally);
  void JudgeRow(Worker& w, Block& block, int64_t row, size_t i);
  Status WantSlowly(Worker& w, int64_t row, size_t i);
  void Note(Worker& w, Block& block, int64_t row, const RowPlace& place,
            const Tally& tally);
  // Calls visit(first column, count, kind) for the parts of a row.
  template <class Visit>
  void ForEachPart(const Visit& visit) const {
    const int64_t end = scene_.start + scene_.width;
    if (scene_.start > 0) visit(int64_t{0}, scene_.start, Columns::kCopied);
    visit(scene_.start, scene_.width, Columns::kRotated);
    if (end < scene_.columns) {
      visit(end, scene_.columns - end, Columns::kCopied);
    }
  }

  const Scene& scene_;
  const Judge& judge_;
  const VerifyOptions& options_;
  Model model_;
  std::vector<Worker> workers_;
  std::vector<Block> blocks_;
  Tally total_;
  std::vector<WorstError> worst_;
  double threshold_ = 0;
  Evidence evidence_;
};

// The reference, from the products of one row.
void Pass::Want(Worker& w, size_t row) {
  const auto columns = static_cast<size_t>(scene_.columns);
  const double* first = w.products.first.data() + row * columns;
  const double* second = w.products.second.data() + row * columns;
  double* want = w.wanted.want.data();
  double* terms = w.wanted.terms.data();
  for (size_t c = 0; c < columns; ++c) {
    want[c] = first[c] + second[c];
    terms[c] = std::fabs(first[c]) + std::fabs(second[c]);
  }
  if (model_.finish != Finish::kExact) {
    for (size_t c = 0; c < columns; ++c) {
      want[c] =
          Apply(model_.finish, judge_.format(), first[c], second[c], false);
    }
  }
  if (!judge_.needs_contract()) return;
  const Finish finish = judge_.eager() ? model_.finish : Finish::kContract;
  for (size_t c = 0; c < columns; ++c) {
    w.wanted.contract[c] =
        Apply(finish, judge_.format(), first[c], second[c], false);
  }
}

// Where not all is finite, a product with a zero table is not the product that
// is wanted: the plain reference does the row.
Status Pass::WantSlowly(Worker& w, int64_t row, size_t i) {
  const auto columns = static_cast<size_t>(scene_.columns);
  std::vector<double> exact, contract;
  const Status status = w.rotator.RunPlainly(model_, row, &exact, &contract);
  if (!status.ok()) return status;
  const double* first = w.products.first.data() + i * columns;
  const double* second = w.products.second.data() + i * columns;
  for (size_t c = 0; c < columns; ++c) {
    const bool finite = std::isfinite(first[c]) && std::isfinite(second[c]);
    if (!finite) w.wanted.want[c] = w.wanted.terms[c] = exact[c];
    if (!finite && std::isfinite(exact[c])) {
      w.wanted.terms[c] = std::numeric_limits<double>::infinity();
    }
    const double library = Round(judge_.format(), contract[c]);
    const bool rounds = model_.finish != Finish::kExact;
    if (!finite && rounds) w.wanted.want[c] = library;
    const bool own = judge_.eager() && finite;
    w.wanted.contract[c] = own ? w.wanted.want[c] : library;
  }
  return Status();
}

void Pass::Note(Worker& w, Block& block, int64_t row, const RowPlace& place,
                const Tally& tally) {
  if (tally.gross > 0) {
    block.wrong.push_back(row);
    for (int s = 0; s < scene_.tables.sections(); ++s) {
      const int64_t position = scene_.tables.Position(s, place.slot);
      block.first_wrong_position =
          Smaller(block.first_wrong_position, position);
    }
  } else if (tally.outside > 0) {
    block.fine.push_back(row);
  }
  if (options_.map) AddToMap(place.slot, place.head, w.ulp.data(), &w.map);
  if (options_.worst == 0) return;
  for (int64_t c = 0; c < scene_.columns; ++c) {
    const auto at = static_cast<size_t>(c);
    if (!(w.ulp[at] > block.threshold)) continue;
    block.worst.push_back({scene_.ShownIndex(row, c),
                           scene_.tables.Position(0, place.slot), place.head, c,
                           w.got[at], w.wanted.want[at], w.ulp[at]});
  }
  if (block.worst.size() > 64 + 4 * options_.worst) {
    Shorten(options_.worst, &block.worst);
    block.threshold = block.worst.back().ulp;
  }
}

// Judges a row of finite numbers; false if there are others.
bool Pass::JudgeQuickly(Worker& w, size_t i, Tally* tally) {
  const bool of_products = judge_.takes_products();
  if (!of_products) Want(w, i);
  const double* first = w.products.first.data() + i * w.got.size();
  const double* second = w.products.second.data() + i * w.got.size();
  bool quick = true;
  ForEachPart([&](int64_t at, int64_t count, Columns columns) {
    const auto n = static_cast<size_t>(count);
    const double* got = w.got.data() + at;
    double* ulp = w.ulp.data() + at;
    quick = quick &&
            (of_products ? judge_.QuickProducts(first + at, second + at, got, n,
                                                columns, ulp, tally)
                         : judge_.Quick(w.wanted.want.data() + at,
                                        w.wanted.terms.data() + at,
                                        w.wanted.contract.data() + at, got, n,
                                        columns, ulp, tally));
  });
  return quick;
}

void Pass::JudgeRow(Worker& w, Block& block, int64_t row, size_t i) {
  const RowPlace place = scene_.Place(row);
  scene_.LoadResult(place, w.got.data());
  Tally tally;
  const bool known = w.products.known[i] != 0;
  const bool quick = known && JudgeQuickly(w, i, &tally);
  if (quick && tally.outside == 0 && !options_.map &&
      (options_.worst == 0 || tally.max_ulp <= block.threshold)) {
    block.tally.Add(tally);
    return;
  }
  Want(w, i);
  if (!known) {
    // No reference: all that rotates is beyond the limit.
    tally.elements = scene_.columns;
    tally.outside = tally.gross = scene_.width;
    std::ranges::fill(w.ulp, 0);
  } else if (!quick) {
    tally = {};
    if (!WantSlowly(w, row, i).ok()) return;
    ForEachPart([&](int64_t at, int64_t count, Columns columns) {
      judge_.Slow(w.wanted.want.data() + at, w.wanted.terms.data() + at,
                  w.wanted.contract.data() + at, w.got.data() + at,
                  static_cast<size_t>(count), columns, w.ulp.data() + at,
                  &tally);
    });
  }
  block.tally.Add(tally);
  Note(w, block, row, place, tally);
}

Status Pass::DoBlock(size_t number, size_t worker,
                     std::span<const int64_t> rows) {
  Worker& w = workers_[worker];
  Block& block = blocks_[number];
  block = {};
  block.threshold = threshold_;
  const Status status = w.rotator.Run(model_, rows, &w.products);
  if (!status.ok()) return status;
  w.wanted.Resize(static_cast<size_t>(scene_.columns));
  w.got.resize(static_cast<size_t>(scene_.columns));
  w.ulp.resize(static_cast<size_t>(scene_.columns));
  for (size_t i = 0; i < rows.size(); ++i) JudgeRow(w, block, rows[i], i);
  Shorten(options_.worst, &block.worst);
  return Status();
}

void Pass::Merge(size_t number) {
  Block& block = blocks_[number];
  total_.Add(block.tally);
  evidence_.first_wrong_position =
      Smaller(evidence_.first_wrong_position, block.first_wrong_position);
  for (const int64_t row : block.wrong) evidence_.wrong.Add(row);
  for (const int64_t row : block.fine) evidence_.fine.Add(row);
  if (block.worst.empty()) return;
  std::ranges::move(block.worst, std::back_inserter(worst_));
  Shorten(options_.worst, &worst_);
  if (worst_.size() == options_.worst) threshold_ = worst_.back().ulp;
}

void Pass::Report(OutputReport* report, Evidence* evidence) {
  FillReport(total_, report);
  report->worst = std::move(worst_);
  if (options_.map) {
    report->map = std::move(workers_[0].map);
    for (size_t i = 1; i < workers_.size(); ++i) {
      MergeMap(workers_[i].map, &report->map);
    }
  }
  evidence_.gross = total_.gross;
  evidence_.outside = total_.outside;
  evidence_.elements = total_.elements;
  *evidence = std::move(evidence_);
}

// Blocks hold whole runs of rows that share a slot, or lie in one.
int64_t RowsOfBlock(const Scene& scene) {
  const int64_t rows = std::max<int64_t>(
      1, kBlockElements / std::max<int64_t>(scene.columns, 1));
  const int64_t run = scene.RunOfSlot();
  return run <= rows ? rows / run * run : rows;
}

}  // namespace

void Sampler::Add(int64_t item) {
  if (seen_++ % step_ != 0) return;
  items_.push_back(item);
  if (items_.size() <= most_) return;
  std::vector<int64_t> half;
  for (size_t i = 0; i < items_.size(); i += 2) half.push_back(items_[i]);
  items_ = std::move(half);
  step_ *= 2;
}

size_t MaxWorkers(const VerifyOptions& options) {
  Executor* executor = options.executor;
  return (executor != nullptr ? *executor : DefaultExecutor()).max_workers();
}

Status ForEachBlock(const Scene& scene, const VerifyOptions& options,
                    bool diagnosis, const BlockWork& work) {
  Executor& executor =
      options.executor != nullptr ? *options.executor : DefaultExecutor();
  const int64_t block_rows = RowsOfBlock(scene);
  const int64_t run = std::max<int64_t>(scene.RunOfSlot(), 1);
  const size_t element = DtypeSize(scene.result.desc.dtype);
  const auto row_bytes = static_cast<size_t>(scene.columns) * element;
  const size_t total = static_cast<size_t>(scene.rows) * row_bytes;
  struct Wave {
    const BlockWork* work;
    std::vector<std::pair<int64_t, int64_t>> blocks;  // first row, end
    std::vector<Status> statuses;
  } wave{&work, {}, std::vector<Status>(BlockWork::kBlocksInWave)};
  for (int64_t row = 0; row < scene.rows;) {
    wave.blocks.clear();
    while (row < scene.rows && wave.blocks.size() < BlockWork::kBlocksInWave) {
      int64_t end = std::min(row + block_rows, scene.rows);
      if (run > block_rows) end = std::min(end, (row / run + 1) * run);
      wave.blocks.emplace_back(row, end);
      row = end;
    }
    executor.ParallelFor(
        wave.blocks.size(),
        [](void* context, size_t task, size_t worker, size_t) noexcept {
          Wave& w = *static_cast<Wave*>(context);
          w.statuses[task] = NoThrow([&w, task, worker] {
            const auto [first, end] = w.blocks[task];
            std::vector<int64_t> rows(static_cast<size_t>(end - first));
            std::iota(rows.begin(), rows.end(), first);
            return w.work->work(task, worker, rows);
          });
        },
        &wave);
    for (size_t block = 0; block < wave.blocks.size(); ++block) {
      if (!wave.statuses[block].ok()) return wave.statuses[block];
      work.merge(block);
    }
    if (options.progress != nullptr) {
      options.progress->OnProgress(scene.name, diagnosis,
                                   static_cast<size_t>(row) * row_bytes, total);
    }
  }
  return Status();
}

void FillReport(const Tally& tally, OutputReport* report) {
  report->elements = tally.elements;
  report->outside = tally.outside;
  report->ok = tally.outside == 0;
  const auto finite = static_cast<double>(std::max<int64_t>(tally.finite, 1));
  report->max_ulp = tally.max_ulp;
  report->mean_ulp = tally.sum_ulp / finite;
  report->max_abs = tally.max_abs;
  report->mean_abs = tally.sum_abs / finite;
  report->correctly_rounded = tally.elements == 0
                                  ? 1.0
                                  : static_cast<double>(tally.correct) /
                                        static_cast<double>(tally.elements);
  report->nan_mismatches = tally.nan_mismatches;
  report->inf_mismatches = tally.inf_mismatches;
}

Status RunSurvey(const Scene& scene, const Judge& judge,
                 const VerifyOptions& options, OutputReport* report,
                 Evidence* evidence) {
  Pass pass(scene, judge, options);
  BlockWork work;
  work.work = [&](size_t block, size_t worker, std::span<const int64_t> rows) {
    return pass.DoBlock(block, worker, rows);
  };
  work.merge = [&](size_t block) { pass.Merge(block); };
  const Status status = ForEachBlock(scene, options, false, work);
  if (!status.ok()) return status;
  pass.Report(report, evidence);
  return Status();
}

}  // namespace ropewalk::verify
