#include "support/run.h"

#include <gtest/gtest.h>

#include "support/memory.h"

namespace ropewalk::test {
namespace {

template <class T>
std::optional<TensorDesc> DescOf(const T* tensor) {
  if (tensor == nullptr) return std::nullopt;
  return tensor->desc;
}

template <class T>
auto DataOf(const T* tensor) {
  return tensor == nullptr ? nullptr : tensor->data;
}

template <class AnyRun>
Status PlanAndRun(const AnyRun& run) {
  const Result<Plan> plan = MakePlan(run);
  if (!plan.ok()) return plan.status();
  const Memory workspace(plan->workspace_bytes(), Placement::kPadded, 64);
  RunOptions options;
  options.executor = run.executor;
  options.workspace = {workspace.data(), workspace.size()};
  Status status = plan->Run(Buffers(run), options);
  EXPECT_TRUE(workspace.PaddingIntact()) << plan->Describe();
  return status;
}

}  // namespace

RotateTensors Descs(const RotateRun& run) {
  return {run.x.desc, run.cos.desc,   run.sin.desc,
          run.y.desc, DescOf(run.x2), DescOf(run.y2)};
}

RotateBackwardTensors Descs(const BackwardRun& run) {
  return {run.dy.desc,    run.cos.desc,     run.sin.desc,     DescOf(run.x),
          DescOf(run.dx), DescOf(run.dcos), DescOf(run.dsin), DescOf(run.dy2),
          DescOf(run.x2), DescOf(run.dx2)};
}

RotateCachedTensors Descs(const CachedRun& run) {
  return {run.positions.desc, run.cache.desc,  run.query.desc,
          run.query_out.desc, DescOf(run.key), DescOf(run.key_out)};
}

RotateBuffers Buffers(const RotateRun& run) {
  return {run.x.data, run.cos.data,   run.sin.data,
          run.y.data, DataOf(run.x2), DataOf(run.y2)};
}

RotateBackwardBuffers Buffers(const BackwardRun& run) {
  return {run.dy.data,    run.cos.data,     run.sin.data,     DataOf(run.x),
          DataOf(run.dx), DataOf(run.dcos), DataOf(run.dsin), DataOf(run.dy2),
          DataOf(run.x2), DataOf(run.dx2)};
}

RotateCachedBuffers Buffers(const CachedRun& run) {
  return {run.positions.data, run.cache.data,  run.query.data,
          run.query_out.data, DataOf(run.key), DataOf(run.key_out)};
}

Result<Plan> MakePlan(const RotateRun& run) {
  return MakeRotatePlan(run.options, Descs(run));
}

Result<Plan> MakePlan(const BackwardRun& run) {
  return MakeRotateBackwardPlan(run.options, Descs(run));
}

Result<Plan> MakePlan(const CachedRun& run) {
  return MakeRotateCachedPlan(run.options, Descs(run));
}

Status Execute(const RotateRun& run) { return PlanAndRun(run); }
Status Execute(const BackwardRun& run) { return PlanAndRun(run); }
Status Execute(const CachedRun& run) { return PlanAndRun(run); }

}  // namespace ropewalk::test
