#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace ropewalk::cli {
namespace {

constexpr std::chrono::milliseconds kDelay{1000};
constexpr std::chrono::milliseconds kInterval{100};
constexpr size_t kBarWidth = 40;
constexpr char kClearLine[] = "\r\033[K";

}  // namespace

Progress::Progress(bool on) {
  if (on && isatty(STDERR_FILENO) != 0)
    thread_ = std::thread([this] { Show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Progress::Start(const std::string& phase, size_t total) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  total_ = total;
  done_ = 0;
}

void Progress::Show() {
  std::unique_lock lock(mutex_);
  const auto over = [this] { return over_; };
  if (wake_.wait_for(lock, kDelay, over)) return;
  do {
    Draw();
  } while (!wake_.wait_for(lock, kInterval, over));
  fmt::print(stderr, kClearLine);
}

void Progress::Draw() {
  const size_t done = std::min(done_.load(std::memory_order_relaxed), total_);
  const double part =
      total_ == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total_);
  const std::string bar(static_cast<size_t>(part * kBarWidth), '#');
  fmt::print(stderr, "{}{} [{:-<{}}] {:3.0f} %", kClearLine, phase_, bar,
             kBarWidth, part * 100);
  std::fflush(stderr);
}

namespace {

struct Counted {
  Executor::Task task;
  void* context;
  Progress* progress;
};

void RunCounted(void* context, size_t task, size_t worker,
                size_t workers) noexcept {
  const Counted& counted = *static_cast<const Counted*>(context);
  counted.task(counted.context, task, worker, workers);
  counted.progress->Add(1);
}

}  // namespace

size_t CountingExecutor::max_workers() const noexcept {
  return DefaultExecutor().max_workers();
}

void CountingExecutor::ParallelFor(size_t count, Task task, void* context) {
  progress_.Start(phase_, count);
  Counted counted{task, context, &progress_};
  DefaultExecutor().ParallelFor(count, &RunCounted, &counted);
}

}  // namespace ropewalk::cli
