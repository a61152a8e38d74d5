#include "bench/prepare.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "bench/made_input.h"
#include "bench/table.h"
#include "ropewalk/plan.h"

namespace ropewalk::bench {
namespace {

// What a prepared work owns.
struct State {
  Memory memory;
  std::variant<RotateBuffers, RotateBackwardBuffers, RotateCachedBuffers>
      buffers;
  std::optional<Plan> plan;
  io::Buffer workspace;

  Status Run() const {
    RunOptions options;
    options.workspace = workspace.bytes();
    return std::visit(
        [&](const auto& addresses) { return plan->Run(addresses, options); },
        buffers);
  }
};

// The axes of the layout; those that `axes` does not name have size 1.
TensorDesc Desc(const Work& work, Dtype dtype, std::string_view axes,
                int64_t width) {
  int64_t shape[kMaxRank];
  for (size_t i = 0; i < work.layout.size(); ++i) {
    const char axis = work.layout[i];
    const int64_t size = axis == 'B'   ? work.batch
                         : axis == 'S' ? Tokens(work)
                         : axis == 'N' ? kHeads
                                       : width;
    const bool has = axis == 'D' || axes.find(axis) != axes.npos;
    shape[i] = has ? size : 1;
  }
  return TensorDesc::Contiguous(
      dtype, std::span<const int64_t>(shape, work.layout.size()));
}

TensorDesc DataDesc(const Work& work) {
  return Desc(work, work.dtype, work.layout, work.width);
}

TensorDesc TableDesc(const Work& work) {
  return Desc(work, work.table_dtype, work.table_axes, work.rotated);
}

RotateOptions Options(const Work& work) {
  RotateOptions options;
  options.pairing = work.pairing;
  if (work.rotated != work.width) {
    options.slice = Slice{work.width - work.rotated, work.width};
  }
  return options;
}

// Of the columns that are rotated; the others are left alone in place.
size_t RowBytes(const Work& work) {
  return TensorBytes(Desc(work, work.dtype, work.layout, work.rotated));
}

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

struct CachedDescs {
  TensorDesc positions, cache, query, key;
};

CachedDescs CachedTensors(const Work& work) {
  const int64_t tokens = Tokens(work);
  return {TensorDesc::Contiguous(Dtype::kI64, {tokens}),
          TensorDesc::Contiguous(work.table_dtype, {kCacheRows, work.rotated}),
          TensorDesc::Contiguous(work.dtype, {tokens, kHeads * work.width}),
          TensorDesc::Contiguous(work.dtype, {tokens, kKeyHeads * work.width})};
}

Result<Plan> PrepareCached(const Work& work, State& state) {
  const CachedDescs descs = CachedTensors(work);
  RotateCachedBuffers buffers;
  buffers.positions = state.memory.Positions(descs.positions, kCacheRows);
  buffers.cache = state.memory.Cache(descs.cache);
  buffers.query = state.memory.Random(descs.query);
  buffers.query_out = state.memory.Zeros(descs.query);
  buffers.key = state.memory.Random(descs.key);
  buffers.key_out = state.memory.Zeros(descs.key);
  state.buffers = buffers;
  RotateCachedOptions options;
  options.head_size = work.width;
  options.style = work.pairing == Pairing::kInterleave ? CachedStyle::kGptj
                                                       : CachedStyle::kNeox;
  return MakeRotateCachedPlan(options, {.positions = descs.positions,
                                        .cache = descs.cache,
                                        .query = descs.query,
                                        .query_out = descs.query,
                                        .key = descs.key,
                                        .key_out = descs.key});
}

size_t CountBytes(const Work& work) {
  const size_t tables = 2 * TensorBytes(TableDesc(work));
  switch (work.kind) {
    case Kind::kForward:
    case Kind::kInPlace:
    case Kind::kDx:
      return 2 * RowBytes(work) + tables;
    case Kind::kGradients:
      return 3 * RowBytes(work) + 2 * tables;
    case Kind::kCached: {
      CachedDescs descs = CachedTensors(work);
      descs.cache.shape[0] = std::min(kCacheRows, Tokens(work));
      return TensorBytes(descs.positions) + TensorBytes(descs.cache) +
             2 * (TensorBytes(descs.query) + TensorBytes(descs.key));
    }
    case Kind::kPlan:
      break;
  }
  return 0;
}

Result<Plan> PrepareKind(const Work& work, State& state) {
  if (work.kind == Kind::kCached) return PrepareCached(work, state);
  const bool backward = work.kind == Kind::kDx || work.kind == Kind::kGradients;
  return backward ? PrepareBackward(work, state) : PrepareForward(work, state);
}

std::function<Status()> PlanMaker(const Work& work) {
  return [options = Options(work), tensors = ForwardTensors(work)] {
    return MakeRotatePlan(options, tensors).status();
  };
}

}  // namespace

Result<Prepared> Prepare(const Work& work) {
  auto state = std::make_shared<State>();
  Result<Plan> plan = PrepareKind(work, *state);
  if (!plan.ok()) return plan.status();
  if (!state->memory.status().ok()) return state->memory.status();
  Result<io::Buffer> workspace = io::Buffer::Allocate(plan->workspace_bytes());
  if (!workspace.ok()) return workspace.status();
  state->workspace = std::move(*workspace);
  state->plan = std::move(*plan);

  Prepared prepared;
  prepared.run = [state] { return state->Run(); };
  if (work.kind == Kind::kPlan) prepared.run = PlanMaker(work);
  prepared.bytes = CountBytes(work);
  if (work.kind == Kind::kGradients) prepared.yardstick = YardstickKind::kTriad;
  prepared.shape = ShapeText(
      work.kind == Kind::kCached
          ? TensorDesc::Contiguous(
                work.dtype, {Tokens(work), kHeads + kKeyHeads, work.width})
          : DataDesc(work));
  prepared.describe = state->plan->Describe();
  const Status first = prepared.run();
  if (!first.ok()) return first;
  return prepared;
}

}  // namespace ropewalk::bench
