#include "verify/rotator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/dtype.h"
#include "kernels/reference.h"
#include "verify/finish.h"
#include "verify/numbers.h"

namespace ropewalk::verify {
namespace {

void RoundAll(Dtype dtype, double* numbers, size_t count) {
  const Format format = FormatOf(dtype);
  for (size_t i = 0; i < count; ++i) numbers[i] = Round(format, numbers[i]);
}

void Permute(const std::vector<int64_t>& columns, double* row,
             std::vector<double>* scratch) {
  scratch->assign(row, row + columns.size());
  for (size_t c = 0; c < columns.size(); ++c) {
    row[c] = (*scratch)[static_cast<size_t>(columns[c])];
  }
}

}  // namespace

Model RightModel(const Scene& scene) {
  Model model;
  model.pairing = scene.pairing;
  model.direction = scene.direction;
  model.start = scene.start;
  model.width = scene.width;
  return model;
}

std::vector<int64_t> PairColumns(Pairing layout, int64_t width, bool full,
                                 Pairing stored) {
  std::vector<int64_t> columns(static_cast<size_t>(width));
  for (int64_t k = 0; k < width / 2; ++k) {
    const reference::Pair to = reference::PairAt(layout, width, k);
    const reference::Pair from = reference::PairAt(stored, width, k);
    columns[static_cast<size_t>(to.p)] = full ? from.p : k;
    columns[static_cast<size_t>(to.r)] = full ? from.r : k;
  }
  return columns;
}

Rotator::Rotator(const Scene& scene)
    : scene_(scene),
      cos_numbers_(static_cast<size_t>(scene.tables.numbers())),
      sin_numbers_(cos_numbers_.size()),
      one_cos_(cos_numbers_.size()),
      one_sin_(cos_numbers_.size()),
      positions_(static_cast<size_t>(scene.tables.sections())) {}

// The numbers of one table row, or of several by sections, as they are stored.
bool Rotator::LoadNumbers(const Model& model, int64_t slot, double* cos,
                          double* sin) {
  const Tables& tables = scene_.tables;
  const auto load = [&](int64_t position, double* to_cos, double* to_sin) {
    if (model.table) return model.table(position, to_cos, to_sin);
    if (!tables.Holds(position)) return false;
    tables.LoadRow(position, to_cos, to_sin);
    return true;
  };
  for (int section = 0; section < tables.sections(); ++section) {
    int64_t position = tables.Position(section, slot);
    if (model.position) position = model.position(position, slot);
    positions_[static_cast<size_t>(section)] = position;
  }
  if (!load(positions_[0], cos, sin)) return false;
  for (int section = 1; section < tables.sections(); ++section) {
    if (!load(positions_[static_cast<size_t>(section)], one_cos_.data(),
              one_sin_.data())) {
      return false;
    }
    for (size_t k = 0; k < model.section_of_pair.size(); ++k) {
      if (model.section_of_pair[k] != section) continue;
      cos[k] = one_cos_[k];
      sin[k] = one_sin_[k];
    }
  }
  return true;
}

bool Rotator::LoadTable(const Model& model, int64_t slot, double* cos,
                        double* sin) {
  const auto width = static_cast<size_t>(model.width);
  if (columns_.empty() && !LoadNumbers(model, slot, cos, sin)) return false;
  if (!columns_.empty() &&
      !LoadNumbers(model, slot, cos_numbers_.data(), sin_numbers_.data())) {
    return false;
  }
  for (size_t c = 0; c < columns_.size(); ++c) {
    const auto number = static_cast<size_t>(columns_[c]);
    cos[c] = cos_numbers_[number];
    sin[c] = sin_numbers_[number];
  }
  if (model.round_tables) {
    RoundAll(*model.round_tables, cos, width);
    RoundAll(*model.round_tables, sin, width);
  }
  if (model.swap_cos_sin) std::swap_ranges(cos, cos + width, sin);
  if (model.negate_sin) {
    for (size_t c = 0; c < width; ++c) sin[c] = -sin[c];
  }
  if (model.swap_partners) {
    for (int64_t k = 0; k < model.width / 2; ++k) {
      const reference::Pair pair =
          reference::PairAt(model.pairing, model.width, k);
      std::swap(sin[pair.p], sin[pair.r]);
    }
  }
  return true;
}

const Plan* Rotator::FindPlan(const Model& model, size_t groups, size_t rows,
                              Status* status) {
  const PlanKey key{groups, rows, model.width, model.pairing, model.direction};
  const auto found = plans_.find(key);
  if (found != plans_.end()) return &found->second;
  const auto g = static_cast<int64_t>(groups);
  const auto r = static_cast<int64_t>(rows);
  const int64_t step = scene_.columns;
  const TensorDesc x = TensorDesc::Strided(Dtype::kF64, {g, r, model.width},
                                           {r * step, step, 1});
  const TensorDesc table =
      TensorDesc::Contiguous(Dtype::kF64, {g, 1, model.width});
  RotateOptions options;
  options.pairing = model.pairing;
  Result<Plan> plan = [&]() -> Result<Plan> {
    if (model.direction == Direction::kForward) {
      RotateTensors tensors;
      tensors.x = tensors.y = x;
      tensors.cos = tensors.sin = table;
      return MakeRotatePlan(options, tensors);
    }
    RotateBackwardTensors tensors;
    tensors.dy = x;
    tensors.dx = x;
    tensors.cos = tensors.sin = table;
    return MakeRotateBackwardPlan(options, tensors);
  }();
  if (!plan.ok()) {
    *status = plan.status();
    return nullptr;
  }
  return &plans_.emplace(key, std::move(*plan)).first->second;
}

// x_, cos_, sin_ to the two products: one rotation with sin 0, one with cos 0.
Status Rotator::Turn(const Model& model, Products* products) {
  const bool rotates = !groups_.empty() && model.width > 0;
  if (rotates && model.width == scene_.columns) {
    products->first.resize(x_.size());
    products->second.resize(x_.size());
  } else {
    products->first = x_;
    products->second.assign(x_.size(), 0.0);
  }
  if (!rotates) return Status();
  Status status;
  const Plan* plan = FindPlan(model, groups_.size(), groups_[0], &status);
  if (plan == nullptr) return status;
  zeros_.resize(std::max(zeros_.size(), cos_.size()), 0.0);
  const RunOptions run{&InlineExecutor(), {}};
  const double* x = x_.data() + model.start;
  const auto turn = [&](const double* cos, const double* sin, double* out) {
    if (model.direction == Direction::kForward) {
      return plan->Run(RotateBuffers{x, cos, sin, out}, run);
    }
    RotateBackwardBuffers buffers;
    buffers.dy = x;
    buffers.cos = cos;
    buffers.sin = sin;
    buffers.dx = out;
    return plan->Run(buffers, run);
  };
  status =
      turn(cos_.data(), zeros_.data(), products->first.data() + model.start);
  if (!status.ok()) return status;
  return turn(zeros_.data(), sin_.data(),
              products->second.data() + model.start);
}

// Fills x_, and cos_ and sin_ with a row for each run of rows of one slot.
void Rotator::LoadRows(const Model& model, std::span<const int64_t> rows,
                       Products* products) {
  const auto columns = static_cast<size_t>(scene_.columns);
  const auto width = static_cast<size_t>(model.width);
  int64_t last_slot = -1;
  bool holds = true;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t row = model.source ? model.source(rows[i]) : rows[i];
    const RowPlace place = scene_.Place(row);
    double* x = x_.data() + i * columns;
    scene_.LoadX(place, x);
    if (model.round_x) RoundAll(*model.round_x, x, columns);
    if (model.identity) continue;
    const int64_t slot = model.slot ? model.slot(row, place) : place.slot;
    if (slot != last_slot || i == 0) {
      last_slot = slot;
      groups_.push_back(0);
      const size_t at = (groups_.size() - 1) * width;
      if (cos_.size() < at + width) {
        cos_.resize(std::max(rows.size() * width, at + width));
        sin_.resize(cos_.size());
      }
      holds = slot >= 0 && slot < scene_.tables.slots() &&
              LoadTable(model, slot, cos_.data() + at, sin_.data() + at);
    }
    ++groups_.back();
    products->known[i] = holds ? 1 : 0;
    products->slack[i] = Slack(model, x);
  }
}

double Rotator::Slack(const Model& model, const double* x) const {
  if (model.table_error == 0 && model.table_error_per_position == 0) return 0;
  double size = 0;
  for (int64_t c = 0; c < scene_.columns; ++c) {
    size = std::max(size, std::fabs(x[c]));
  }
  const double position = std::fabs(static_cast<double>(positions_[0]));
  return 2 * size *
         (model.table_error + model.table_error_per_position * position);
}

// Groups of one size are what an operator takes; else each row gets a table row
// of its own.
void Rotator::EvenGroups(size_t width) {
  if (std::ranges::count(groups_, groups_.empty() ? 0 : groups_[0]) ==
      static_cast<ptrdiff_t>(groups_.size())) {
    return;
  }
  std::vector<double> cos, sin;
  std::vector<size_t> groups;
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (size_t i = 0; i < groups_[g]; ++i) {
      cos.insert(cos.end(), cos_.data() + g * width,
                 cos_.data() + (g + 1) * width);
      sin.insert(sin.end(), sin_.data() + g * width,
                 sin_.data() + (g + 1) * width);
      groups.push_back(1);
    }
  }
  cos_.swap(cos);
  sin_.swap(sin);
  groups_.swap(groups);
}

Status Rotator::Run(const Model& model, std::span<const int64_t> rows,
                    Products* products) {
  const bool several = scene_.tables.sections() > 1;
  if (several && model.section_of_pair.empty()) {
    Model right = model;
    right.section_of_pair =
        SectionOfPair(scene_.tables.section_sizes(), scene_.tables.axes(),
                      scene_.tables.width());
    return Run(right, rows, products);
  }
  columns_ = model.table_columns;
  if (columns_.empty() && !scene_.tables.full()) {
    columns_ = PairColumns(model.pairing, model.width, false);
  }
  x_.resize(rows.size() * static_cast<size_t>(scene_.columns));
  groups_.clear();
  products->known.assign(rows.size(), 1);
  products->slack.assign(rows.size(), 0.0);
  LoadRows(model, rows, products);
  EvenGroups(static_cast<size_t>(model.width));
  Status status = Turn(model, products);
  if (status.ok() && model.twice) {
    for (size_t i = 0; i < x_.size(); ++i) {
      const double a = products->first[i];
      const double b = products->second[i];
      x_[i] = model.round_between
                  ? Apply(Finish::kContract, FormatOf(*model.round_between), a,
                          b, false)
                  : a + b;
    }
    status = Turn(model, products);
  }
  if (!model.permute.empty()) PermuteRows(model, rows.size(), products);
  return status;
}

void Rotator::PermuteRows(const Model& model, size_t rows,
                          Products* products) const {
  std::vector<double> scratch;
  for (size_t i = 0; i < rows; ++i) {
    const auto at = static_cast<ptrdiff_t>(i) * scene_.columns + model.start;
    Permute(model.permute, products->first.data() + at, &scratch);
    Permute(model.permute, products->second.data() + at, &scratch);
  }
}

Status Rotator::RunPlainly(const Model& model, int64_t row,
                           std::vector<double>* exact,
                           std::vector<double>* contract) {
  Products products;
  const int64_t rows[] = {row};
  const Status status = Run(model, rows, &products);
  if (!status.ok()) return status;
  cos_.resize(static_cast<size_t>(model.width));
  sin_.resize(cos_.size());
  RotateOptions options;
  options.pairing = model.pairing;
  options.slice = Slice{model.start, model.start + model.width};
  const auto all = [](std::vector<double>& numbers) {
    return ConstTensor{
        TensorDesc::Contiguous(Dtype::kF64,
                               {1, static_cast<int64_t>(numbers.size())}),
        numbers.data()};
  };
  const bool forward = model.direction == Direction::kForward;
  *exact = forward
               ? reference::ExactRotate(options, all(x_), all(cos_), all(sin_))
               : reference::ExactRotateBackward(options, all(x_), all(cos_),
                                                all(sin_));
  *contract = *exact;
  if (scene_.x.desc.dtype == Dtype::kF64) return Status();
  // Exact: f32 holds the numbers of f32, f16 and bf16.
  std::vector<float> x(x_.begin(), x_.end()), cos(cos_.begin(), cos_.end()),
      sin(sin_.begin(), sin_.end()), y(x_.size());
  const auto narrow = [](std::vector<float>& numbers) {
    return Tensor{TensorDesc::Contiguous(
                      Dtype::kF32, {1, static_cast<int64_t>(numbers.size())}),
                  numbers.data()};
  };
  (forward ? reference::Rotate : reference::RotateBackward)(
      options, narrow(x), narrow(cos), narrow(sin), narrow(y));
  contract->assign(y.begin(), y.end());
  return Status();
}

}  // namespace ropewalk::verify
