// Executors that keep to the contract in unusual ways, and some that break it.

#ifndef ROPEWALK_TESTS_SUPPORT_EXECUTORS_H_
#define ROPEWALK_TESTS_SUPPORT_EXECUTORS_H_

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ropewalk/executor.h"

namespace ropewalk::test {

/// Says that it has `workers` workers, but runs tasks on the calling thread,
/// the last first, and gives each a different worker number.
class ReverseExecutor : public Executor {
 public:
  explicit ReverseExecutor(size_t workers) : workers_(workers) {}
  size_t max_workers() const noexcept override { return workers_; }
  void ParallelFor(size_t count, Task task, void* context) override {
    ++calls_;
    tasks_ += count;
    for (size_t i = count; i-- > 0;) task(context, i, i % workers_, workers_);
  }
  size_t calls() const { return calls_; }
  size_t tasks() const { return tasks_; }

 private:
  size_t workers_;
  std::atomic<size_t> calls_ = 0;
  std::atomic<size_t> tasks_ = 0;
};

/// One new thread for each worker, tasks dealt out like cards.
class ThreadsExecutor : public Executor {
 public:
  explicit ThreadsExecutor(size_t workers) : workers_(workers) {}
  size_t max_workers() const noexcept override { return workers_; }
  void ParallelFor(size_t count, Task task, void* context) override {
    std::vector<std::thread> threads;
    for (size_t w = 0; w < workers_; ++w) {
      threads.emplace_back([=, this] {
        for (size_t i = w; i < count; i += workers_) {
          task(context, i, w, workers_);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  size_t workers_;
};

/// Throws after `after` tasks.
class ThrowingExecutor : public Executor {
 public:
  explicit ThrowingExecutor(size_t after) : after_(after) {}
  size_t max_workers() const noexcept override { return 4; }
  void ParallelFor(size_t count, Task task, void* context) override {
    for (size_t i = 0; i < count && i < after_; ++i) task(context, i, 0, 4);
    throw std::runtime_error("thrown by the test");
  }

 private:
  size_t after_;
};

/// Throws what is not a std::exception.
class ThrowingIntExecutor : public Executor {
 public:
  size_t max_workers() const noexcept override { return 2; }
  void ParallelFor(size_t, Task, void*) override { throw 42; }
};

/// Leaves out the last task.
class ForgetfulExecutor : public Executor {
 public:
  size_t max_workers() const noexcept override { return 4; }
  void ParallelFor(size_t count, Task task, void* context) override {
    for (size_t i = 0; i + 1 < count; ++i) task(context, i, 0, 4);
  }
};

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_EXECUTORS_H_
