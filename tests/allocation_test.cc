// Running a plan allocates nothing; making one allocates at most once. This
// program counts every operator new.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "support/cases.h"

namespace {

std::atomic<size_t> allocations{0};

void* Allocate(std::size_t size, std::size_t alignment) {
  allocations.fetch_add(1);
  void* memory = std::aligned_alloc(
      alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size, 16); }
void* operator new[](std::size_t size) { return Allocate(size, 16); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, 16);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment,
                   const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t,
                     const std::nothrow_t&) noexcept {
  std::free(p);
}

namespace ropewalk::test {
namespace {

// Counts for one kind of run: the plan, then runs on two executors.
template <class AnyRun>
void Check(const AnyRun& run) {
  size_t before = allocations.load();
  const Result<Plan> plan = MakePlan(run);
  EXPECT_LE(allocations.load() - before, 1u) << "making the plan";
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const Memory workspace(plan->workspace_bytes(), Placement::kPadded, 64);
  const auto pool = MakePool(2);
  // A pool starts its threads at its first use.
  pool->ParallelFor(
      2, [](void*, size_t, size_t, size_t) noexcept {}, nullptr);
  for (Executor* executor : {pool.get(), &InlineExecutor()}) {
    RunOptions options{executor, {workspace.data(), workspace.size()}};
    for (int i = 0; i < 3; ++i) {
      before = allocations.load();
      const Status status = plan->Run(Buffers(run), options);
      EXPECT_EQ(allocations.load() - before, 0u) << plan->Describe();
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }
}

TEST(AllocationTest, CountsAtAll) {
  const size_t before = allocations.load();
  delete new int(7);
  EXPECT_EQ(allocations.load() - before, 1u);
}

TEST(AllocationTest, Rotate) {
  Random random(1);
  for (Pairing pairing : AllPairings()) {
    for (int64_t width : {64, 9000}) {
      for (int64_t stride : {1, 2}) {
        TestTensor x(
            Strided(Dtype::kBF16, {400, width}, {width * stride, stride}));
        TestTensor cos(Dtype::kF32, {1, width}, Data::kUnit, random);
        TestTensor y(Dtype::kBF16, {400, width});
        x.Fill(1.0);
        Check(RotateRun{{pairing, {}}, x.in(), cos.in(), cos.in(), y.out()});
        Check(RotateRun{{pairing, {}}, x.in(), cos.in(), cos.in(), x.out()});
      }
    }
  }
}

TEST(AllocationTest, Backward) {
  Random random(2);
  TestTensor x(Dtype::kF32, {9000, 3, 64}, Data::kNormal, random);
  TestTensor dx(x.desc());
  const ConstTensor x_in = x.in();
  const Tensor dx_out = dx.out();
  for (const Shape& table : {Shape{1, 1, 64}, Shape{9000, 1, 32}}) {
    TestTensor cos(Dtype::kF32, table, Data::kUnit, random);
    TestTensor dcos(cos.desc()), dsin(cos.desc());
    const Tensor dcos_out = dcos.out(), dsin_out = dsin.out();
    BackwardRun run{{}, x.in(), cos.in(), cos.in()};
    run.x = &x_in;
    run.dx = &dx_out;
    run.dcos = &dcos_out;
    run.dsin = &dsin_out;
    Check(run);
  }
}

TEST(AllocationTest, Cached) {
  Random random(3);
  TestTensor positions(Dtype::kI32, {3, 2000}), cache(Dtype::kF16, {9, 48});
  TestTensor query(Dtype::kBF16, {2000, 4 * 64}, Data::kNormal, random);
  TestTensor out(query.desc());
  positions.Fill(3);
  cache.Fill(0.5);
  const std::vector<int64_t> sections = {8, 8, 8};
  CachedRun run;
  run.options.head_size = 64;
  run.options.sections = sections;
  run.positions = positions.in();
  run.cache = cache.in();
  run.query = query.in();
  run.query_out = out.out();
  Check(run);
}

TEST(AllocationTest, RefusalsOfRunOnlyAllocateTheirMessage) {
  TestTensor x(Dtype::kF32, {3, 8});
  x.Fill(1.0);
  const RotateRun run{{}, x.in(), x.in(), x.in(), x.out()};
  const Result<Plan> plan = MakePlan(run);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->Run(Buffers(run)).code(), Code::kOverlap);
}

}  // namespace
}  // namespace ropewalk::test
