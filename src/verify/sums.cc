#include "verify/sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "kernels/reference.h"
#include "ropewalk/plan.h"
#include "verify/map.h"

namespace ropewalk::verify {
namespace {

constexpr int64_t kTaskElements = 8192;

TensorDesc PermuteAxes(const TensorDesc& desc, const std::vector<int>& order) {
  TensorDesc permuted = desc;
  for (size_t i = 0; i < order.size(); ++i) {
    permuted.shape[i] = desc.shape[order[i]];
    permuted.strides[i] = desc.strides[order[i]];
  }
  return permuted;
}

// A range of slots with a range of the rows of each.
struct Task {
  int64_t first_slot, end_slot, first_row, end_row;
};

struct Partial {
  Status status;
  // [slot of the task][width], for dcos and dsin.
  std::array<std::vector<double>, 2> sum, abs;
};

// The library's own dcos and dsin, of all rows at once.
struct Contract {
  std::vector<std::byte> data[2];
  TensorDesc desc;
  bool there = false;

  Status Compute(const SumScene& scene, const VerifyOptions& options);
  void Load(Sum sum, int64_t slot, int64_t numbers, double* to) const {
    const auto* at = data[static_cast<size_t>(sum)].data();
    Widen(desc.dtype,
          at + static_cast<size_t>(slot * numbers) * DtypeSize(desc.dtype), 1,
          numbers, to);
  }
};

Status Contract::Compute(const SumScene& scene, const VerifyOptions& options) {
  const TensorDesc& cos = scene.cos.desc;
  desc = TensorDesc::Contiguous(
      cos.dtype,
      std::span<const int64_t>(cos.shape, static_cast<size_t>(cos.rank)));
  const auto bytes =
      static_cast<size_t>(scene.rows.tables.rows() * scene.numbers()) *
      DtypeSize(cos.dtype);
  for (auto& part : data) part.resize(bytes);
  const Tensor dcos{desc, data[0].data()};
  const Tensor dsin{desc, data[1].data()};
  RotateBackwardCall call;
  call.dy = scene.dy;
  call.cos = scene.cos;
  call.sin = scene.sin;
  call.x = &scene.x;
  call.dcos = &dcos;
  call.dsin = &dsin;
  there = true;
  return RotateBackward(scene.options, call, options.executor);
}

class SumPass {
 public:
  SumPass(const SumScene& scene, const VerifyOptions& options,
          const Contract* contract)
      : scene_(scene), options_(options), contract_(contract) {
    const auto numbers = static_cast<size_t>(scene.numbers());
    for (const Sum sum : {Sum::kCos, Sum::kSin}) {
      const auto& result = scene.result(sum);
      if (!result) continue;
      judges_[Index(sum)] =
          Judge(result->desc.dtype, options.limit, options.reference);
      if (options.map) {
        maps_[Index(sum)] =
            MakeMap(scene.rows.tables.slots(), scene.numbers(), 1);
      }
    }
    wanted_.Resize(numbers);
    got_.resize(numbers);
    ulp_.resize(numbers);
    for (size_t i = 0; i < MaxWorkers(options); ++i)
      terms_.emplace_back(scene.rows);
  }

  Status Run();
  void Report(Sum sum, OutputReport* report, Evidence* evidence);

 private:
  static size_t Index(Sum sum) { return static_cast<size_t>(sum); }

  Status RunWave(std::span<const Task> tasks);
  Status DoTask(const Task& task, size_t worker, Partial* partial);
  void Merge(const Task& task, const Partial& partial);
  void JudgeSlot(Sum sum, int64_t slot, const double* full, const double* abs);
  void Note(Sum sum, int64_t slot, const Tally& tally);

  const SumScene& scene_;
  const VerifyOptions& options_;
  const Contract* contract_;
  std::optional<Judge> judges_[2];
  Tally tallies_[2];
  Evidence evidence_[2];
  std::vector<WorstError> worst_[2];
  ErrorMap maps_[2];
  std::vector<Terms> terms_;
  Partial so_far_;
  Wanted wanted_;
  std::vector<double> got_, ulp_;
};

Status SumPass::DoTask(const Task& task, size_t worker, Partial* partial) {
  const int64_t heads = scene_.rows.heads;
  const int64_t width = scene_.rows.width;
  const int64_t in_slot = task.end_row - task.first_row;
  std::vector<int64_t> rows;
  for (int64_t slot = task.first_slot; slot < task.end_slot; ++slot) {
    for (int64_t row = task.first_row; row < task.end_row; ++row) {
      rows.push_back(slot * heads + row);
    }
  }
  const Judge& judge = judges_[0] ? *judges_[0] : *judges_[1];
  std::optional<Dtype> round;
  if (judge.eager()) round = judge.eager_dtype();
  Terms& terms = terms_[worker];
  const Status status =
      terms.Run(scene_.rows.pairing, scene_.rows.start, width, round, rows);
  if (!status.ok()) return status;
  const auto size =
      static_cast<size_t>((task.end_slot - task.first_slot) * width);
  for (const Sum sum : {Sum::kCos, Sum::kSin}) {
    std::vector<double>& sums = partial->sum[Index(sum)];
    std::vector<double>& abs = partial->abs[Index(sum)];
    sums.assign(size, 0);
    abs.assign(size, 0);
    const double* term = terms.of(sum).data();
    for (size_t i = 0; i < rows.size(); ++i, term += width) {
      const size_t at =
          i / static_cast<size_t>(in_slot) * static_cast<size_t>(width);
      double* __restrict s = sums.data() + at;
      double* __restrict a = abs.data() + at;
      for (int64_t c = 0; c < width; ++c) {
        s[c] += term[c];
        a[c] += std::fabs(term[c]);
      }
    }
  }
  return Status();
}

void SumPass::Merge(const Task& task, const Partial& partial) {
  const auto width = static_cast<size_t>(scene_.rows.width);
  const bool whole = task.first_row == 0 && task.end_row == scene_.rows.heads;
  const Partial* sums = &partial;
  if (!whole) {
    // Such a task has one slot.
    if (task.first_row == 0) {
      so_far_ = partial;
    } else {
      for (size_t s = 0; s < 2; ++s) {
        for (size_t c = 0; c < width; ++c) {
          so_far_.sum[s][c] += partial.sum[s][c];
          so_far_.abs[s][c] += partial.abs[s][c];
        }
      }
    }
    if (task.end_row < scene_.rows.heads) return;
    sums = &so_far_;
  }
  for (const Sum sum : {Sum::kCos, Sum::kSin}) {
    if (!scene_.result(sum)) continue;
    for (int64_t slot = task.first_slot; slot < task.end_slot; ++slot) {
      const size_t at = static_cast<size_t>(slot - task.first_slot) * width;
      JudgeSlot(sum, slot, sums->sum[Index(sum)].data() + at,
                sums->abs[Index(sum)].data() + at);
    }
  }
}

void SumPass::JudgeSlot(Sum sum, int64_t slot, const double* full,
                        const double* abs) {
  const Judge& judge = *judges_[Index(sum)];
  const auto numbers = static_cast<size_t>(scene_.numbers());
  Fold(scene_, full, wanted_.want.data());
  Fold(scene_, abs, wanted_.terms.data());
  scene_.LoadSums(sum, slot, got_.data());
  if (contract_->there) {
    contract_->Load(sum, slot, scene_.numbers(), wanted_.contract.data());
    for (double& v : wanted_.contract) v = Round(judge.format(), v);
  } else {
    for (size_t c = 0; c < numbers; ++c) {
      wanted_.contract[c] = Round(judge.format(), wanted_.want[c]);
    }
  }
  if (judge.reference_finish() == Finish::kContract) {
    wanted_.want = wanted_.contract;
  } else if (judge.eager()) {
    for (double& v : wanted_.want) {
      v = Round(judge.format(), Round(FormatOf(judge.eager_dtype()), v));
    }
  }
  Tally tally;
  const bool quick = judge.Quick(wanted_.want.data(), wanted_.terms.data(),
                                 wanted_.contract.data(), got_.data(), numbers,
                                 Columns::kSummed, ulp_.data(), &tally);
  if (!quick) {
    judge.Slow(wanted_.want.data(), wanted_.terms.data(),
               wanted_.contract.data(), got_.data(), numbers, Columns::kSummed,
               ulp_.data(), &tally);
  }
  tallies_[Index(sum)].Add(tally);
  Note(sum, slot, tally);
}

void SumPass::Note(Sum sum, int64_t slot, const Tally& tally) {
  Evidence& evidence = evidence_[Index(sum)];
  if (tally.gross > 0) {
    evidence.wrong.Add(slot);
  } else if (tally.outside > 0) {
    evidence.fine.Add(slot);
  }
  if (options_.map) AddToMap(slot, 0, ulp_.data(), &maps_[Index(sum)]);
  if (options_.worst == 0) return;
  std::vector<WorstError>& worst = worst_[Index(sum)];
  const double threshold = worst.size() < options_.worst ? 0 : worst.back().ulp;
  const TensorDesc& desc = scene_.result(sum)->desc;
  const size_t before = worst.size();
  for (int64_t c = 0; c < scene_.numbers(); ++c) {
    const auto at = static_cast<size_t>(c);
    if (!(ulp_[at] > threshold)) continue;
    WorstError error{{}, slot, 0, c, got_[at], wanted_.want[at], ulp_[at]};
    int64_t ordinal = slot * scene_.numbers() + c;
    error.index.resize(static_cast<size_t>(desc.rank));
    for (int i = desc.rank - 1; i >= 0; --i) {
      error.index[static_cast<size_t>(i)] = ordinal % desc.shape[i];
      ordinal /= desc.shape[i];
    }
    worst.push_back(std::move(error));
  }
  if (worst.size() == before) return;
  std::ranges::stable_sort(
      worst, [](const auto& a, const auto& b) { return a.ulp > b.ulp; });
  if (worst.size() > options_.worst) worst.resize(options_.worst);
}

Status SumPass::RunWave(std::span<const Task> tasks) {
  struct Wave {
    SumPass* pass;
    std::span<const Task> tasks;
    std::vector<Partial> partials;
  } wave{this, tasks, std::vector<Partial>(tasks.size())};
  Executor& executor =
      options_.executor != nullptr ? *options_.executor : DefaultExecutor();
  executor.ParallelFor(
      tasks.size(),
      [](void* context, size_t task, size_t worker, size_t) noexcept {
        Wave& w = *static_cast<Wave*>(context);
        Partial& partial = w.partials[task];
        partial.status = NoThrow([&w, &partial, task, worker] {
          return w.pass->DoTask(w.tasks[task], worker, &partial);
        });
      },
      &wave);
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!wave.partials[i].status.ok()) return wave.partials[i].status;
    Merge(tasks[i], wave.partials[i]);
  }
  return Status();
}

Status SumPass::Run() {
  const int64_t heads = scene_.rows.heads;
  const int64_t slots = scene_.rows.tables.slots();
  const int64_t most = std::max<int64_t>(
      1, kTaskElements / std::max<int64_t>(scene_.rows.columns, 1));
  const int64_t slots_at_once =
      std::max<int64_t>(1, most / std::max<int64_t>(heads, 1));
  const auto row_bytes = static_cast<size_t>(scene_.rows.columns) *
                         DtypeSize(scene_.dy.desc.dtype);
  std::vector<Task> tasks;
  for (int64_t slot = 0; slot < slots; slot += slots_at_once) {
    const int64_t end = std::min(slot + slots_at_once, slots);
    for (int64_t row = 0; row == 0 || row < heads; row += most) {
      tasks.push_back({slot, end, row, std::min(row + most, heads)});
      const bool last = end == slots && row + most >= heads;
      if (tasks.size() < BlockWork::kBlocksInWave && !last) continue;
      const Status status = RunWave(tasks);
      if (!status.ok()) return status;
      if (options_.progress != nullptr) {
        const int64_t done = slot * heads + (end - slot) * tasks.back().end_row;
        options_.progress->OnProgress(
            scene_.dcos ? "dcos" : "dsin", false,
            static_cast<size_t>(done) * row_bytes,
            static_cast<size_t>(slots * heads) * row_bytes);
      }
      tasks.clear();
    }
  }
  return Status();
}

void SumPass::Report(Sum sum, OutputReport* report, Evidence* evidence) {
  FillReport(tallies_[Index(sum)], report);
  report->worst = std::move(worst_[Index(sum)]);
  report->map = std::move(maps_[Index(sum)]);
  *evidence = std::move(evidence_[Index(sum)]);
  evidence->gross = tallies_[Index(sum)].gross;
  evidence->outside = tallies_[Index(sum)].outside;
  evidence->elements = tallies_[Index(sum)].elements;
}

}  // namespace

SumScene MakeSumScene(const VerifyBackwardCall& call) {
  SumScene scene;
  scene.options = call.options;
  scene.dy = call.dy;
  scene.x = *call.x;
  scene.cos = call.cos;
  scene.sin = call.sin;
  scene.dcos = call.dcos;
  scene.dsin = call.dsin;
  const int last = call.dy.desc.rank - 1;
  std::vector<int> order;
  for (int i = 0; i < last; ++i) {
    if (call.cos.desc.shape[i] != 1) scene.kept.push_back(i);
  }
  for (int i = 0; i < last; ++i) {
    if (call.cos.desc.shape[i] == 1) scene.shared.push_back(i);
  }
  order = scene.kept;
  order.insert(order.end(), scene.shared.begin(), scene.shared.end());
  Scene& rows = scene.rows;
  rows.pairing = call.options.pairing;
  rows.x = {PermuteAxes(call.dy.desc, order), call.dy.data};
  rows.x2 = {PermuteAxes(call.x->desc, order), call.x->data};
  rows.result = rows.x;
  const int64_t columns = call.dy.desc.shape[last];
  const Slice slice = call.options.slice.value_or(Slice{0, columns});
  rows.start = slice.start;
  rows.width = slice.end - slice.start;
  rows.tables = Tables(call.cos, call.sin, rows.width);
  std::vector<bool> kept(scene.kept.size(), true);
  kept.resize(order.size(), false);
  rows.SetRows(kept);
  return scene;
}

void SumScene::LoadSums(Sum sum, int64_t slot, double* to) const {
  const ConstTensor& tensor = *result(sum);
  int64_t offset = 0;
  for (int i = tensor.desc.rank - 2; i >= 0; --i) {
    offset += slot % tensor.desc.shape[i] * tensor.desc.strides[i];
    slot /= tensor.desc.shape[i];
  }
  const char* at = static_cast<const char*>(tensor.data) +
                   offset * static_cast<int64_t>(DtypeSize(tensor.desc.dtype));
  Widen(tensor.desc.dtype, at, tensor.desc.strides[tensor.desc.rank - 1],
        numbers(), to);
}

Status Terms::Run(Pairing pairing, int64_t start, int64_t width,
                  std::optional<Dtype> round, std::span<const int64_t> rows) {
  const auto columns = static_cast<size_t>(scene_.columns);
  dy_.resize(rows.size() * columns);
  x_.resize(rows.size() * columns);
  const size_t count = rows.size() * static_cast<size_t>(width);
  cos_.resize(count);
  sin_.resize(count);
  zeros_.resize(std::max(zeros_.size(), count), 0.0);
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowPlace place = scene_.Place(rows[i]);
    scene_.LoadX(place, dy_.data() + i * columns);
    scene_.LoadX2(place, x_.data() + i * columns);
  }
  if (count == 0) return Status();
  const std::tuple key{pairing, width, rows.size()};
  auto plan = plans_.find(key);
  if (plan == plans_.end()) {
    const auto n = static_cast<int64_t>(rows.size());
    RotateBackwardTensors tensors;
    tensors.dy =
        TensorDesc::Strided(Dtype::kF64, {n, width}, {scene_.columns, 1});
    tensors.x = tensors.dy;
    tensors.cos = TensorDesc::Contiguous(Dtype::kF64, {n, width});
    tensors.sin = tensors.cos;
    tensors.dcos = tensors.dsin = tensors.cos;
    RotateOptions options;
    options.pairing = pairing;
    Result<Plan> made = MakeRotateBackwardPlan(options, tensors);
    if (!made.ok()) return made.status();
    plan = plans_.emplace(key, std::move(*made)).first;
  }
  RotateBackwardBuffers buffers;
  buffers.dy = dy_.data() + start;
  buffers.x = x_.data() + start;
  buffers.cos = buffers.sin = zeros_.data();
  buffers.dcos = cos_.data();
  buffers.dsin = sin_.data();
  std::vector<std::byte> workspace(plan->second.workspace_bytes() + 64);
  void* aligned = workspace.data();
  size_t space = workspace.size();
  std::align(64, workspace.size() - 64, aligned, space);
  const Status status = plan->second.Run(
      buffers, {&InlineExecutor(),
                {static_cast<std::byte*>(aligned), workspace.size() - 64}});
  if (!status.ok() || !round) return status;
  const Format format = FormatOf(*round);
  for (double& term : cos_) term = Round(format, term);
  for (double& term : sin_) term = Round(format, term);
  return Status();
}

void Fold(const SumScene& scene, const double* full, double* numbers) {
  const int64_t width = scene.rows.width;
  if (scene.rows.tables.full()) {
    std::copy_n(full, width, numbers);
    return;
  }
  for (int64_t k = 0; k < width / 2; ++k) {
    const reference::Pair pair =
        reference::PairAt(scene.rows.pairing, width, k);
    numbers[k] = full[pair.p] + full[pair.r];
  }
}

Status RunSumSurvey(const SumScene& scene, const VerifyOptions& options,
                    SumSurvey* survey) {
  Contract contract;
  const bool wants_contract = options.limit.kind == Limit::Kind::kBits ||
                              options.reference == Reference::kContract;
  Status status;
  if (wants_contract) status = contract.Compute(scene, options);
  while (status.ok()) {
    SumPass pass(scene, options, &contract);
    status = pass.Run();
    if (!status.ok()) break;
    bool special = false;
    const auto finish = [&](Sum sum, std::optional<OutputReport>* to,
                            Evidence* evidence) {
      if (!scene.result(sum)) return;
      to->emplace();
      pass.Report(sum, &**to, evidence);
      special |= (*to)->nan_mismatches + (*to)->inf_mismatches > 0;
    };
    finish(Sum::kCos, &survey->dcos, &survey->dcos_evidence);
    finish(Sum::kSin, &survey->dsin, &survey->dsin_evidence);
    if (!special || contract.there) break;
    // What is not finite may be what the library itself gives.
    status = contract.Compute(scene, options);
  }
  return status;
}

}  // namespace ropewalk::verify
