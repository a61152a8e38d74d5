// A host with OpenMP: its own parallel loops, nested too, call the library, and
// the library runs on its threads.

#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

#include "support/cases.h"
#include "support/executors.h"
#include "support/layouts.h"

namespace ropewalk::test {
namespace {

// Tasks on OpenMP's threads, as a host would write it.
class OpenMpExecutor final : public Executor {
 public:
  size_t max_workers() const noexcept override {
    return static_cast<size_t>(omp_get_max_threads());
  }
  void ParallelFor(size_t count, Task task, void* context) override {
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < count; ++i) {
      task(context, i, static_cast<size_t>(omp_get_thread_num()),
           static_cast<size_t>(omp_get_num_threads()));
    }
  }
};

// Large enough to be split among threads.
class OpenMpTest : public testing::Test {
 public:
  OpenMpTest() {
    RunReference(
        {{}, Direction::kForward, x_.in(), cos_.in(), cos_.in(), want_.out()});
    omp_set_dynamic(0);
    omp_set_num_threads(4);
  }
  ~OpenMpTest() override { omp_set_max_active_levels(1); }

  bool Gives(Executor* executor) const {
    const TestTensor y(x_.desc());
    RotateRun run{{}, x_.in(), cos_.in(), cos_.in(), y.out()};
    run.executor = executor;
    return Execute(run).ok() && SameMemory(y, want_);
  }
  // How many of the loop's calls gave what one thread gives.
  int RightInLoop(int calls, Executor* executor) const {
    int right = 0;
#pragma omp parallel for reduction(+ : right) schedule(dynamic)
    for (int i = 0; i < calls; ++i) right += Gives(executor) ? 1 : 0;
    return right;
  }

 private:
  Random random_{1};
  TestTensor x_{Dtype::kF32, {300, 8, 128}, Data::kNormal, random_};
  TestTensor cos_{Dtype::kF32, {300, 1, 128}, Data::kUnit, random_};
  TestTensor want_{x_.desc()};
};

TEST_F(OpenMpTest, TheHostsThreadsRunTheTasks) {
  OpenMpExecutor executor;
  for (const int threads : {1, 2, 4, 13}) {
    omp_set_num_threads(threads);
    EXPECT_TRUE(Gives(&executor)) << threads << " threads";
  }
}

TEST_F(OpenMpTest, TheHostsLoopCallsTheLibrary) {
  const auto pool = MakePool(3);
  OpenMpExecutor executor;
  EXPECT_EQ(RightInLoop(12, nullptr), 12);
  EXPECT_EQ(RightInLoop(12, pool.get()), 12);
  EXPECT_EQ(RightInLoop(12, &InlineExecutor()), 12);
  EXPECT_EQ(RightInLoop(12, &executor), 12);
}

// Loops within the host's loop, whether or not OpenMP gives the inner ones
// threads of their own.
TEST_F(OpenMpTest, TheHostsLoopsNest) {
  const auto pool = MakePool(3);
  OpenMpExecutor executor;
  const std::vector<Executor*> executors = {nullptr, pool.get(), &executor};
  for (const int levels : {1, 2, 3}) {
    omp_set_max_active_levels(levels);
    for (Executor* inner : executors) {
      int right = 0;
#pragma omp parallel for num_threads(3) reduction(+ : right)
      for (int i = 0; i < 3; ++i) right += RightInLoop(4, inner);
      EXPECT_EQ(right, 12) << levels << " levels";
    }
  }
}

// A task of the library's pool is a host's loop: what it calls runs on.
TEST_F(OpenMpTest, LoopsInsideOfThePoolsTasks) {
  struct Calls {
    const OpenMpTest* test;
    int right[4];
  } calls = {this, {}};
  const auto pool = MakePool(2);
  pool->ParallelFor(
      4,
      [](void* context, size_t i, size_t, size_t) noexcept {
        auto& all = *static_cast<Calls*>(context);
        all.right[i] = all.test->RightInLoop(3, nullptr);
      },
      &calls);
  for (const int right : calls.right) EXPECT_EQ(right, 3);
}

}  // namespace
}  // namespace ropewalk::test
