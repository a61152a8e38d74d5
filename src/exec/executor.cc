// The library's executors. Threads come from Highway's pool.

#include "ropewalk/executor.h"

#include <hwy/contrib/thread_pool/thread_pool.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "exec/cpus.h"

namespace ropewalk {
namespace {

// Set while this thread runs a task of one of our pools: a nested run would
// wait for threads that wait for it.
thread_local bool in_task = false;

void RunInline(size_t count, Executor::Task task, void* context) {
  for (size_t i = 0; i < count; ++i) task(context, i, 0, 1);
}

class Inline final : public Executor {
 public:
  size_t max_workers() const noexcept override { return 1; }
  void ParallelFor(size_t count, Task task, void* context) override {
    RunInline(count, task, context);
  }
};

// How many of `threads`, the caller among them, can be started. Highway's pool
// ends the process when one cannot, so that is tried before.
size_t StartableThreads(size_t threads) {
  std::vector<std::thread> started;
  started.reserve(threads);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  try {
    while (started.size() + 1 < threads) {
      started.emplace_back([released] { released.wait(); });
    }
  } catch (const std::system_error&) {
    // As many as there are will do.
  }
  release.set_value();
  for (std::thread& thread : started) thread.join();
  return started.size() + 1;
}

// Highway's pool takes one run at a time. It knows nothing of fork(): in the
// child its threads are gone, so the child leaves it alone and makes another.
class Pool final : public Executor {
 public:
  explicit Pool(size_t threads) : threads_(std::max<size_t>(threads, 1)) {}

  ~Pool() override {
    // After a fork the threads cannot be joined: the memory stays behind.
    if (owner_ == getpid()) delete pool_;
  }

  size_t max_workers() const noexcept override { return threads_; }

  void ParallelFor(size_t count, Task task, void* context) override {
    if (in_task || threads_ == 1 || count <= 1 || !Acquire()) {
      RunInline(count, task, context);
      return;
    }
    hwy::ThreadPool* pool = Ready();
    if (pool == nullptr) {
      RunInline(count, task, context);
    } else {
      const size_t workers = pool->NumWorkers();
      pool->Run(0, count, [&](uint64_t i, size_t worker) {
        in_task = true;
        task(context, static_cast<size_t>(i), worker, workers);
        in_task = false;
      });
    }
    user_.store(0, std::memory_order_release);
  }

 private:
  // True if the pool is free. In a child of fork() it is also free if another
  // thread of the parent was using it, since that thread is not there.
  bool Acquire() noexcept {
    const pid_t pid = getpid();
    pid_t user = 0;
    if (user_.compare_exchange_strong(user, pid, std::memory_order_acquire)) {
      return true;
    }
    return user != pid &&
           user_.compare_exchange_strong(user, pid, std::memory_order_acquire);
  }

  // Called by whoever acquired the pool.
  hwy::ThreadPool* Ready() noexcept {
    const pid_t pid = getpid();
    if (owner_ == pid) return pool_;
    owner_ = pid;
    pool_ = nullptr;
    try {
      pool_ = new hwy::ThreadPool(StartableThreads(threads_));
    } catch (const std::exception&) {
      // No memory to be had: the caller runs alone.
    }
    return pool_;
  }

  const size_t threads_;
  hwy::ThreadPool* pool_ = nullptr;
  pid_t owner_ = 0;
  std::atomic<pid_t> user_{0};  // process that runs tasks, or 0
};

std::atomic<size_t> set_threads{0};

size_t DefaultThreads() noexcept {
  static const size_t threads = ThreadsFromEnvironment();
  return threads;
}

// Pools live as long as the process, one for each number of threads that was
// ever asked for, since a run in progress keeps the one it has.
class Default final : public Executor {
 public:
  size_t max_workers() const noexcept override { return NumThreads(); }
  void ParallelFor(size_t count, Task task, void* context) override {
    PoolOf(NumThreads()).ParallelFor(count, task, context);
  }

 private:
  struct Node {
    Pool pool;
    size_t threads;
    Node* next;
  };

  Executor& PoolOf(size_t threads) {
    Node* head = head_.load(std::memory_order_acquire);
    for (Node* node = head; node != nullptr; node = node->next) {
      if (node->threads == threads) return node->pool;
    }
    auto* node = new (std::nothrow) Node{Pool(threads), threads, head};
    if (node == nullptr) return InlineExecutor();
    while (!head_.compare_exchange_weak(node->next, node,
                                        std::memory_order_acq_rel)) {
    }
    return node->pool;
  }

  std::atomic<Node*> head_{nullptr};
};

}  // namespace

Executor& InlineExecutor() noexcept {
  static Inline executor;
  return executor;
}

Executor& DefaultExecutor() noexcept {
  // Never destroyed: other threads may still run when statics go.
  static Default* const executor = new Default();
  return *executor;
}

std::unique_ptr<Executor> MakePool(size_t threads) {
  return std::make_unique<Pool>(threads);
}

size_t NumThreads() noexcept {
  const size_t threads = set_threads.load(std::memory_order_relaxed);
  return threads != 0 ? threads : DefaultThreads();
}

void SetNumThreads(size_t threads) noexcept {
  set_threads.store(std::min<size_t>(threads, kMostThreads),
                    std::memory_order_relaxed);
}

}  // namespace ropewalk
