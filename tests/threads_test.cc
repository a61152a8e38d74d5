// Executors: any of them gives the same bits, pools may be used from anywhere,
// and the number of threads is what was asked for.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "support/cases.h"
#include "support/executors.h"
#include "support/layouts.h"

namespace ropewalk::test {
namespace {

// Large enough to be split.
struct Work {
  explicit Work(Pairing pairing = Pairing::kHalf)
      : random(1),
        x(Dtype::kF32, {300, 8, 128}, Data::kNormal, random),
        cos(Dtype::kF32, {300, 1, 128}, Data::kUnit, random),
        sin(Dtype::kF32, {300, 1, 128}, Data::kUnit, random),
        y(x.desc()),
        want(x.desc()),
        options{pairing, {}} {
    RunReference(
        {options, Direction::kForward, x.in(), cos.in(), sin.in(), want.out()});
  }
  Status Run(const TestTensor& out, Executor* executor = nullptr) const {
    RotateRun run{options, x.in(), cos.in(), sin.in(), out.out()};
    run.executor = executor;
    return Execute(run);
  }

  Random random;
  TestTensor x, cos, sin, y, want;
  RotateOptions options;
};

TEST(ThreadsTest, EveryExecutorGivesTheSameBits) {
  const Work work;
  std::vector<std::unique_ptr<Executor>> executors;
  for (size_t threads : {1, 2, 3, 8, 33}) {
    executors.push_back(MakePool(threads));
    executors.push_back(std::make_unique<ReverseExecutor>(threads));
    executors.push_back(std::make_unique<ThreadsExecutor>(threads));
  }
  executors.push_back(std::make_unique<ReverseExecutor>(1000));
  for (const auto& executor : executors) {
    TestTensor y(work.x.desc());
    RW_ASSERT_OK(work.Run(y, executor.get()));
    ASSERT_TRUE(SameMemory(y, work.want));
  }
  TestTensor y(work.x.desc());
  RW_ASSERT_OK(work.Run(y, &InlineExecutor()));
  ASSERT_TRUE(SameMemory(y, work.want));
}

TEST(ThreadsTest, InPlaceAndBufferedRowsToo) {
  Random random(2);
  const auto pool = MakePool(3);
  ReverseExecutor reverse(50);
  for (Pairing pairing : AllPairings()) {
    TestTensor x(Dtype::kBF16, {64, 9000}, Data::kNormal, random);
    TestTensor cos(Dtype::kF32, {1, 9000}, Data::kUnit, random);
    TestTensor want(x.desc());
    RunReference({{pairing, {}},
                  Direction::kForward,
                  x.in(),
                  cos.in(),
                  cos.in(),
                  want.out()});
    for (Executor* executor :
         {static_cast<Executor*>(&reverse), pool.get(), &InlineExecutor()}) {
      TestTensor y = x;
      Turn turn{{pairing, {}}, Direction::kForward, y.in(), cos.in(), cos.in(),
                y.out()};
      turn.executor = executor;
      RW_ASSERT_OK(Execute(turn));
      ASSERT_TRUE(SameMemory(y, want)) << PairingName(pairing);
    }
  }
}

TEST(ThreadsTest, SetNumThreadsIsRead) {
  const size_t usual = NumThreads();
  EXPECT_GE(usual, 1u);
  const Work work;
  for (size_t threads : {1, 2, 5, 3}) {
    SetNumThreads(threads);
    EXPECT_EQ(NumThreads(), threads);
    EXPECT_EQ(DefaultExecutor().max_workers(), threads);
    TestTensor y(work.x.desc());
    RW_ASSERT_OK(work.Run(y));
    ASSERT_TRUE(SameMemory(y, work.want));
  }
  SetNumThreads(0);
  EXPECT_EQ(NumThreads(), usual);
}

// Bytes of address space that this process has taken.
rlim_t AddressSpace() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE));
}

struct Seen {
  std::mutex mutex;
  std::multiset<size_t> tasks;
  std::set<std::thread::id> threads;
  std::atomic<bool> bad_worker{false};
};

void See(void* context, size_t task, size_t worker, size_t workers) noexcept {
  Seen& seen = *static_cast<Seen*>(context);
  if (worker >= workers) seen.bad_worker = true;
  const std::lock_guard<std::mutex> lock(seen.mutex);
  seen.tasks.insert(task);
  seen.threads.insert(std::this_thread::get_id());
}

TEST(ThreadsTest, PoolsRunEachTaskOnce) {
  for (size_t threads : {1, 2, 4}) {
    const auto pool = MakePool(threads);
    EXPECT_EQ(pool->max_workers(), threads);
    for (size_t count : {0, 1, 2, 3, 100, 1000}) {
      Seen seen;
      pool->ParallelFor(count, See, &seen);
      EXPECT_EQ(seen.tasks.size(), count);
      for (size_t i = 0; i < count; ++i) EXPECT_EQ(seen.tasks.count(i), 1u);
      EXPECT_FALSE(seen.bad_worker);
      EXPECT_LE(seen.threads.size(), threads);
    }
  }
  EXPECT_GE(MakePool(0)->max_workers(), 1u);
}

TEST(ThreadsTest, FromInsideATaskItRunsInline) {
  const Work work;
  struct Nested {
    const Work* work;
    std::vector<TestTensor> outputs;
  } nested{&work, std::vector<TestTensor>(6, TestTensor(work.x.desc()))};
  const auto pool = MakePool(3);
  for (Executor* outer : {&DefaultExecutor(), pool.get()}) {
    outer->ParallelFor(
        6,
        [](void* context, size_t task, size_t, size_t) noexcept {
          Nested& n = *static_cast<Nested*>(context);
          const Status status = n.work->Run(n.outputs[task]);
          EXPECT_TRUE(status.ok()) << status.message();
        },
        &nested);
    for (const TestTensor& y : nested.outputs) {
      EXPECT_TRUE(SameMemory(y, work.want));
    }
  }
}

// A host's own parallel-for that nests: its tasks rotate by the same executor,
// by one that starts threads anew, and by the library's pool.
TEST(ThreadsTest, AHostsParallelForMayNest) {
  const Work work;
  ThreadsExecutor host(3);
  const auto pool = MakePool(2);
  struct Nested {
    const Work* work;
    std::vector<Executor*> executors;
    std::vector<TestTensor> outputs;
  } nested{&work,
           {&host, pool.get(), nullptr, &InlineExecutor()},
           std::vector<TestTensor>(8, TestTensor(work.x.desc()))};
  host.ParallelFor(
      nested.outputs.size(),
      [](void* context, size_t task, size_t, size_t) noexcept {
        Nested& n = *static_cast<Nested*>(context);
        const Status status = n.work->Run(
            n.outputs[task], n.executors[task % n.executors.size()]);
        EXPECT_TRUE(status.ok()) << status.message();
      },
      &nested);
  for (const TestTensor& y : nested.outputs) {
    EXPECT_TRUE(SameMemory(y, work.want));
  }
}

// One plan, many threads, each with buffers of its own.
TEST(ThreadsTest, OnePlanManyThreads) {
  const Work work;
  const Result<Plan> plan = MakeRotatePlan(
      work.options,
      {work.x.desc(), work.cos.desc(), work.sin.desc(), work.y.desc()});
  ASSERT_TRUE(plan.ok());
  std::vector<TestTensor> outputs(5, TestTensor(work.x.desc()));
  std::vector<std::thread> threads;
  for (TestTensor& y : outputs) {
    threads.emplace_back([&] {
      for (int i = 0; i < 8; ++i) {
        const Status status =
            plan->Run(RotateBuffers{work.x.data(), work.cos.data(),
                                    work.sin.data(), y.data()},
                      {i % 2 == 0 ? nullptr : &InlineExecutor(), {}});
        EXPECT_TRUE(status.ok()) << status.message();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const TestTensor& y : outputs) EXPECT_TRUE(SameMemory(y, work.want));
}

TEST(ThreadsTest, ManyCallersAtOnce) {
  const Work work;
  std::vector<TestTensor> outputs(6, TestTensor(work.x.desc()));
  std::vector<std::thread> threads;
  for (TestTensor& y : outputs) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const Status status = work.Run(y);
        EXPECT_TRUE(status.ok()) << status.message();
      }
    });
  }
  for (int i = 0; i < 20; ++i) SetNumThreads(i % 4 + 1);
  for (std::thread& thread : threads) thread.join();
  SetNumThreads(0);
  for (const TestTensor& y : outputs) EXPECT_TRUE(SameMemory(y, work.want));
}

// A child of fork() has no threads of its parent, yet works.
TEST(ThreadsTest, AChildProcessStartsAnew) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "threads after fork are not supported by the sanitizer";
#endif
  const Work work;
  SetNumThreads(3);
  TestTensor y(work.x.desc());
  RW_ASSERT_OK(work.Run(y));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    TestTensor again(work.x.desc());
    const bool good = work.Run(again).ok() && SameMemory(again, work.want);
    _exit(good ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0);
  SetNumThreads(0);
  RW_ASSERT_OK(work.Run(y));
  EXPECT_TRUE(SameMemory(y, work.want));
}

// An executor that says 0 breaks the contract, but must not lose the work.
TEST(ThreadsTest, AnExecutorWithoutWorkers) {
  class NoWorkers : public Executor {
   public:
    size_t max_workers() const noexcept override { return 0; }
    void ParallelFor(size_t count, Task task, void* context) override {
      for (size_t i = 0; i < count; ++i) task(context, i, 0, 1);
    }
  } executor;
  const Work work;
  TestTensor y(work.x.desc());
  const Status status = work.Run(y, &executor);
  EXPECT_TRUE(!status.ok() || SameMemory(y, work.want));
}

// With room for a few stacks only, a pool runs with fewer threads.
TEST(ThreadsTest, WhereThreadsCannotBeStarted) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  const Work work;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit limit = {};
    limit.rlim_cur = limit.rlim_max = AddressSpace() + (64 << 20);
    setrlimit(RLIMIT_AS, &limit);
    const auto pool = MakePool(64);
    TestTensor y(work.x.desc());
    const bool good =
        work.Run(y, pool.get()).ok() && SameElements(y.in(), work.want.in());
    _exit(good ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result)) << "signal " << WTERMSIG(result);
  EXPECT_EQ(WEXITSTATUS(result), 0);
}

TEST(ThreadsTest, SmallWorkStaysOnTheCallingThread) {
  Random random(3);
  TestTensor x(Dtype::kF32, {2, 64}, Data::kNormal, random);
  TestTensor cos(Dtype::kF32, {2, 64}, Data::kUnit, random);
  TestTensor y(x.desc());
  ReverseExecutor executor(4);
  RotateRun run{{}, x.in(), cos.in(), cos.in(), y.out()};
  run.executor = &executor;
  RW_ASSERT_OK(Execute(run));
  EXPECT_EQ(executor.calls(), 0u);
}

}  // namespace
}  // namespace ropewalk::test
