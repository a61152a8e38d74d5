// A bar on standard error for work that takes long.

#ifndef ROPEWALK_CLI_PROGRESS_H_
#define ROPEWALK_CLI_PROGRESS_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

#include "ropewalk/executor.h"

namespace ropewalk::cli {

/// Shows how far the current phase is, from one second after it was made until
/// it goes, if it is on and standard error is a terminal.
class Progress {
 public:
  explicit Progress(bool on);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Starts a phase of `total` steps.
  void Start(const std::string& phase, size_t total);
  /// Counts steps; from any thread.
  void Add(size_t steps) { done_.fetch_add(steps, std::memory_order_relaxed); }

 private:
  void Show();
  void Draw();

  std::atomic<size_t> done_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string phase_;
  size_t total_ = 0;
  bool over_ = false;
  std::thread thread_;
};

/// The default executor, its tasks counted as a phase.
class CountingExecutor : public Executor {
 public:
  CountingExecutor(std::string phase, Progress& progress)
      : phase_(std::move(phase)), progress_(progress) {}

  size_t max_workers() const noexcept override;
  void ParallelFor(size_t count, Task task, void* context) override;

 private:
  std::string phase_;
  Progress& progress_;
};

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_PROGRESS_H_
