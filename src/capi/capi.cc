// The C API: structs to the C++ API's, status to code and message.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "ropewalk.h"
#include "ropewalk/executor.h"
#include "ropewalk/ops.h"
#include "ropewalk/plan.h"
#include "ropewalk/targets.h"
#include "ropewalk/version.h"

struct ropewalk_plan {
  ropewalk::Plan plan;
};

namespace ropewalk {
namespace {

thread_local char last_message[1024] = "";

ropewalk_code Keep(Code code, const char* message) noexcept {
  std::snprintf(last_message, sizeof(last_message), "%s", message);
  return static_cast<ropewalk_code>(code);
}

ropewalk_code Report(const Status& status) noexcept {
  if (status.ok()) return ROPEWALK_OK;
  return Keep(status.code(), status.message().c_str());
}

// An exception can only be a lack of memory.
template <class Body>
ropewalk_code Guarded(Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return Keep(Code::kOutOfMemory, "out of memory");
  }
}

Status Missing(const char* name) {
  return Status(Code::kNullPointer,
                std::string("[c] ") + name + ": must not be null");
}

TensorDesc ToDesc(const ropewalk_tensor& from) noexcept {
  TensorDesc desc;
  desc.dtype = static_cast<Dtype>(from.dtype);
  desc.rank = from.rank;
  std::copy_n(from.shape, kMaxRank, desc.shape);
  std::copy_n(from.strides, kMaxRank, desc.strides);
  return desc;
}

std::optional<TensorDesc> ToOptional(const ropewalk_tensor* from) noexcept {
  if (from == nullptr) return std::nullopt;
  return ToDesc(*from);
}

struct Required {
  const char* name;
  const void* pointer;
};

Status CheckRequired(std::initializer_list<Required> all) {
  for (const Required& one : all) {
    if (one.pointer == nullptr) return Missing(one.name);
  }
  return Status();
}

// dtypes that no enumerator names would be read as another one.
Status CheckDtypes(std::initializer_list<const ropewalk_tensor*> tensors) {
  for (const ropewalk_tensor* tensor : tensors) {
    if (tensor == nullptr) continue;
    if (tensor->dtype < ROPEWALK_F32 || tensor->dtype > ROPEWALK_I64) {
      return Status(Code::kDtype, "[c] dtype: must be 0 to 5, but is " +
                                      std::to_string(tensor->dtype));
    }
  }
  return Status();
}

Status ToOptions(const ropewalk_rotate_options& from, RotateOptions* options) {
  if (from.pairing < ROPEWALK_HALF || from.pairing > ROPEWALK_INTERLEAVE_HALF) {
    return Status(Code::kOption, "[c] pairing: must be 0 to 3, but is " +
                                     std::to_string(from.pairing));
  }
  options->pairing = static_cast<Pairing>(from.pairing);
  if (from.has_slice != 0) options->slice = Slice{from.start, from.end};
  return Status();
}

Status Give(Result<Plan> plan, ropewalk_plan** result) {
  if (!plan.ok()) return plan.status();
  *result = new ropewalk_plan{std::move(plan).value()};
  return Status();
}

// The caller's parallel-for.
class HostExecutor final : public Executor {
 public:
  explicit HostExecutor(const ropewalk_executor& host) : host_(host) {}
  size_t max_workers() const noexcept override {
    return std::max<size_t>(host_.max_workers, 1);
  }
  void ParallelFor(size_t count, Task task, void* context) override {
    if (host_.parallel_for(host_.self, count, task, context) != 0) {
      throw std::runtime_error("parallel_for failed");
    }
  }

 private:
  const ropewalk_executor& host_;
};

template <class Buffers>
ropewalk_code RunPlan(const ropewalk_plan* plan, const Buffers& buffers,
                      const ropewalk_run_options* from) {
  if (plan == nullptr) return Report(Missing("plan"));
  RunOptions options;
  std::optional<HostExecutor> host;
  if (from != nullptr) {
    options.workspace = {static_cast<std::byte*>(from->workspace),
                         from->workspace_size};
    if (from->executor != nullptr) {
      if (from->executor->parallel_for == nullptr) {
        return Report(Missing("parallel_for"));
      }
      options.executor = &host.emplace(*from->executor);
    } else if (from->single_thread != 0) {
      options.executor = &InlineExecutor();
    }
  }
  return Report(plan->plan.Run(buffers, options));
}

Status PlanRotate(const ropewalk_rotate_options* options,
                  const ropewalk_rotate_tensors* t, ropewalk_plan** plan) {
  Status status =
      CheckRequired({{"options", options}, {"tensors", t}, {"plan", plan}});
  if (status.ok()) {
    status = CheckRequired(
        {{"x", t->x}, {"cos", t->cos}, {"sin", t->sin}, {"y", t->y}});
  }
  if (status.ok()) {
    status = CheckDtypes({t->x, t->cos, t->sin, t->y, t->x2, t->y2});
  }
  RotateOptions to;
  if (status.ok()) status = ToOptions(*options, &to);
  if (!status.ok()) return status;
  return Give(
      MakeRotatePlan(to, {ToDesc(*t->x), ToDesc(*t->cos), ToDesc(*t->sin),
                          ToDesc(*t->y), ToOptional(t->x2), ToOptional(t->y2)}),
      plan);
}

Status PlanBackward(const ropewalk_rotate_options* options,
                    const ropewalk_backward_tensors* t, ropewalk_plan** plan) {
  Status status =
      CheckRequired({{"options", options}, {"tensors", t}, {"plan", plan}});
  if (status.ok()) {
    status = CheckRequired({{"dy", t->dy}, {"cos", t->cos}, {"sin", t->sin}});
  }
  if (status.ok()) {
    status = CheckDtypes({t->dy, t->cos, t->sin, t->x, t->dx, t->dcos, t->dsin,
                          t->dy2, t->x2, t->dx2});
  }
  RotateOptions to;
  if (status.ok()) status = ToOptions(*options, &to);
  if (!status.ok()) return status;
  RotateBackwardTensors tensors;
  tensors.dy = ToDesc(*t->dy);
  tensors.cos = ToDesc(*t->cos);
  tensors.sin = ToDesc(*t->sin);
  tensors.x = ToOptional(t->x);
  tensors.dx = ToOptional(t->dx);
  tensors.dcos = ToOptional(t->dcos);
  tensors.dsin = ToOptional(t->dsin);
  tensors.dy2 = ToOptional(t->dy2);
  tensors.x2 = ToOptional(t->x2);
  tensors.dx2 = ToOptional(t->dx2);
  return Give(MakeRotateBackwardPlan(to, tensors), plan);
}

Status PlanCached(const ropewalk_cached_options* from,
                  const ropewalk_cached_tensors* t, ropewalk_plan** plan) {
  Status status =
      CheckRequired({{"options", from}, {"tensors", t}, {"plan", plan}});
  if (status.ok()) {
    status = CheckRequired({{"positions", t->positions},
                            {"cache", t->cache},
                            {"query", t->query},
                            {"query_out", t->query_out}});
  }
  if (status.ok() && from->section_count != 0) {
    status = CheckRequired({{"sections", from->sections}});
  }
  if (status.ok()) {
    status = CheckDtypes(
        {t->positions, t->cache, t->query, t->query_out, t->key, t->key_out});
  }
  if (!status.ok()) return status;
  RotateCachedOptions options;
  options.head_size = from->head_size;
  options.style = from->gptj != 0 ? CachedStyle::kGptj : CachedStyle::kNeox;
  options.axes = from->interleaved_axes != 0 ? AxisLayout::kInterleaved
                                             : AxisLayout::kSegmented;
  options.direction =
      from->backward != 0 ? Direction::kBackward : Direction::kForward;
  options.sections = {from->sections, from->section_count};
  return Give(MakeRotateCachedPlan(
                  options, {ToDesc(*t->positions), ToDesc(*t->cache),
                            ToDesc(*t->query), ToDesc(*t->query_out),
                            ToOptional(t->key), ToOptional(t->key_out)}),
              plan);
}

}  // namespace
}  // namespace ropewalk

using namespace ropewalk;  // NOLINT: the C functions below

const char* ropewalk_message(void) { return last_message; }
const char* ropewalk_version(void) { return Version(); }

ropewalk_tensor ropewalk_contiguous(ropewalk_dtype dtype, int32_t rank,
                                    const int64_t* shape) {
  ropewalk_tensor tensor = {dtype, rank, {}, {}};
  if (rank < 0 || rank > kMaxRank || shape == nullptr) return tensor;
  uint64_t step = 1;  // wraps where sizes are absurd, which operators refuse
  for (int i = rank; i-- > 0;) {
    tensor.shape[i] = shape[i];
    tensor.strides[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(shape[i]);
  }
  return tensor;
}

void ropewalk_plan_destroy(ropewalk_plan* plan) { delete plan; }

size_t ropewalk_plan_workspace(const ropewalk_plan* plan) {
  return plan != nullptr ? plan->plan.workspace_bytes() : 0;
}

size_t ropewalk_plan_describe(const ropewalk_plan* plan, char* text,
                              size_t size) {
  size_t length = 0;
  if (text != nullptr && size != 0) *text = '\0';
  if (plan == nullptr) return 0;
  Guarded([&] {
    const std::string line = plan->plan.Describe();
    length = line.size();
    if (text != nullptr && size != 0) {
      const size_t kept = std::min(length, size - 1);
      std::memcpy(text, line.data(), kept);
      text[kept] = '\0';
    }
    return ROPEWALK_OK;
  });
  return length;
}

ropewalk_code ropewalk_plan_rotate(const ropewalk_rotate_options* options,
                                   const ropewalk_rotate_tensors* tensors,
                                   ropewalk_plan** plan) {
  return Guarded([&] { return Report(PlanRotate(options, tensors, plan)); });
}
ropewalk_code ropewalk_plan_backward(const ropewalk_rotate_options* options,
                                     const ropewalk_backward_tensors* tensors,
                                     ropewalk_plan** plan) {
  return Guarded([&] { return Report(PlanBackward(options, tensors, plan)); });
}
ropewalk_code ropewalk_plan_cached(const ropewalk_cached_options* options,
                                   const ropewalk_cached_tensors* tensors,
                                   ropewalk_plan** plan) {
  return Guarded([&] { return Report(PlanCached(options, tensors, plan)); });
}

ropewalk_code ropewalk_run_rotate(const ropewalk_plan* plan,
                                  const ropewalk_rotate_buffers* b,
                                  const ropewalk_run_options* options) {
  return Guarded([&] {
    if (b == nullptr) return Report(Missing("buffers"));
    const RotateBuffers to = {b->x, b->cos, b->sin, b->y, b->x2, b->y2};
    return RunPlan(plan, to, options);
  });
}
ropewalk_code ropewalk_run_backward(const ropewalk_plan* plan,
                                    const ropewalk_backward_buffers* b,
                                    const ropewalk_run_options* options) {
  return Guarded([&] {
    if (b == nullptr) return Report(Missing("buffers"));
    const RotateBackwardBuffers to = {b->dy,   b->cos,  b->sin, b->x,  b->dx,
                                      b->dcos, b->dsin, b->dy2, b->x2, b->dx2};
    return RunPlan(plan, to, options);
  });
}
ropewalk_code ropewalk_run_cached(const ropewalk_plan* plan,
                                  const ropewalk_cached_buffers* b,
                                  const ropewalk_run_options* options) {
  return Guarded([&] {
    if (b == nullptr) return Report(Missing("buffers"));
    const RotateCachedBuffers to = {b->positions, b->cache, b->query,
                                    b->query_out, b->key,   b->key_out};
    return RunPlan(plan, to, options);
  });
}

size_t ropewalk_threads(void) { return NumThreads(); }
void ropewalk_set_threads(size_t threads) { SetNumThreads(threads); }

ropewalk_code ropewalk_force_target(const char* name) {
  return Guarded([&] {
    if (name == nullptr) return Report(Missing("name"));
    return Report(ForceTarget(name));
  });
}
