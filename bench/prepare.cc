#include "bench/prepare.h"

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "bench/made_input.h"
#include "bench/shapes.h"
#include "bench/table.h"
#include "ropewalk/plan.h"

namespace ropewalk::bench {
namespace {

constexpr int64_t kSections[] = {24, 20, 20};

// What a prepared work owns.
struct State {
  explicit State(io::Pages pages) : memory(pages) {}

  Memory memory;
  std::variant<RotateBuffers, RotateBackwardBuffers, RotateCachedBuffers>
      buffers;
  std::optional<Plan> plan;
  bool refused = false;  // it must be, so that is well
  io::Buffer workspace;

  Status Run() const {
    RunOptions options;
    options.workspace = workspace.bytes();
    Status status = std::visit(
        [&](const auto& addresses) { return plan->Run(addresses, options); },
        buffers);
    return refused && status.code() == Code::kPosition ? Status() : status;
  }
};

RotateTensors ForwardTensors(const Work& work) {
  RotateTensors tensors;
  tensors.x = tensors.y = DataDesc(work);
  tensors.cos = tensors.sin = TableDesc(work);
  return tensors;
}

Result<Plan> PrepareForward(const Work& work, State& state) {
  const TensorDesc x = DataDesc(work);
  const TensorDesc table = TableDesc(work);
  RotateBuffers buffers;
  buffers.x = state.memory.Random(x);
  buffers.cos = state.memory.Cos(table, work.pairing);
  buffers.sin = state.memory.Sin(table, work.pairing);
  buffers.y = work.kind == Kind::kInPlace ? const_cast<void*>(buffers.x)
                                          : state.memory.Zeros(x);
  state.buffers = buffers;
  return MakeRotatePlan(Options(work), ForwardTensors(work));
}

Result<Plan> PrepareBackward(const Work& work, State& state) {
  const TensorDesc x = DataDesc(work);
  const TensorDesc table = TableDesc(work);
  RotateBackwardTensors tensors;
  tensors.dy = x;
  tensors.cos = tensors.sin = table;
  tensors.dx = x;
  RotateBackwardBuffers buffers;
  buffers.dy = state.memory.Random(x);
  buffers.cos = state.memory.Cos(table, work.pairing);
  buffers.sin = state.memory.Sin(table, work.pairing);
  buffers.dx = state.memory.Zeros(x);
  if (work.kind == Kind::kGradients) {
    tensors.x = x;
    tensors.dcos = table;
    tensors.dsin = table;
    buffers.x = state.memory.Random(x);
    buffers.dcos = state.memory.Zeros(table);
    buffers.dsin = state.memory.Zeros(table);
  }
  state.buffers = buffers;
  return MakeRotateBackwardPlan(Options(work), tensors);
}

Result<Plan> PrepareCached(const Work& work, State& state) {
  const CachedDescs descs = CachedTensors(work);
  RotateCachedBuffers buffers;
  auto* positions = static_cast<int64_t*>(
      state.memory.Positions(descs.positions, kCacheRows));
  if (work.kind == Kind::kRefused && positions != nullptr) {
    positions[work.tokens - 1] = kCacheRows;
  }
  buffers.positions = positions;
  buffers.cache = state.memory.Cache(descs.cache);
  buffers.query = state.memory.Random(descs.query);
  buffers.query_out = state.memory.Zeros(descs.query);
  buffers.key = state.memory.Random(descs.key);
  buffers.key_out = state.memory.Zeros(descs.key);
  state.buffers = buffers;
  RotateCachedOptions options;
  options.head_size = work.width;
  if (work.positions != Positions::kPlain) options.sections = kSections;
  if (work.positions == Positions::kInterleaved) {
    options.axes = AxisLayout::kInterleaved;
  }
  options.style = work.pairing == Pairing::kInterleave ? CachedStyle::kGptj
                                                       : CachedStyle::kNeox;
  return MakeRotateCachedPlan(options, {.positions = descs.positions,
                                        .cache = descs.cache,
                                        .query = descs.query,
                                        .query_out = descs.query,
                                        .key = descs.key,
                                        .key_out = descs.key});
}

Result<Plan> PrepareKind(const Work& work, State& state) {
  if (IsByPosition(work)) return PrepareCached(work, state);
  const bool backward = work.kind == Kind::kDx || work.kind == Kind::kGradients;
  return backward ? PrepareBackward(work, state) : PrepareForward(work, state);
}

std::function<Status()> PlanMaker(const Work& work) {
  return [options = Options(work), tensors = ForwardTensors(work)] {
    return MakeRotatePlan(options, tensors).status();
  };
}

Result<std::shared_ptr<State>> MakeState(const Work& work, io::Pages pages) {
  auto state = std::make_shared<State>(pages);
  state->refused = work.kind == Kind::kRefused;
  Result<Plan> plan = PrepareKind(work, *state);
  if (!plan.ok()) return plan.status();
  if (!state->memory.status().ok()) return state->memory.status();
  Result<io::Buffer> workspace = io::Buffer::Allocate(plan->workspace_bytes());
  if (!workspace.ok()) return workspace.status();
  state->workspace = std::move(*workspace);
  state->plan = std::move(*plan);
  const Status first = state->Run();
  if (!first.ok()) return first;
  return state;
}

std::string ShapeOf(const Work& work) {
  if (!IsByPosition(work)) return ShapeText(DataDesc(work));
  return ShapeText(TensorDesc::Contiguous(
      work.dtype, {work.tokens, work.heads + kKeyHeads, work.width}));
}

}  // namespace

Result<Prepared> Prepare(const Work& work, io::Pages pages) {
  const Result<std::shared_ptr<State>> state = MakeState(work, pages);
  if (!state.ok()) return state.status();
  Prepared prepared;
  prepared.run = [state = *state] { return state->Run(); };
  if (work.kind == Kind::kPlan) prepared.run = PlanMaker(work);
  if (work.against_plain || work.kind == Kind::kRefused) {
    Work plain = work;
    plain.positions = Positions::kPlain;
    plain.kind = Kind::kCached;
    const Result<std::shared_ptr<State>> rival = MakeState(plain, pages);
    if (!rival.ok()) return rival.status();
    prepared.rival = [state = *rival] { return state->Run(); };
  }
  prepared.bytes = LeastBytes(work);
  if (work.kind == Kind::kGradients) prepared.yardstick = YardstickKind::kTriad;
  if (work.group == kHugeGroup) prepared.yardstick = YardstickKind::kNone;
  prepared.shape = ShapeOf(work);
  prepared.describe = (*state)->plan->Describe();
  return prepared;
}

}  // namespace ropewalk::bench
