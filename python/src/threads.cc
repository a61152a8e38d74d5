#include "threads.h"

#include <nanobind/stl/unique_ptr.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace ropewalk::python {
namespace {

namespace nb = nanobind;

// Torch's parallel-for, by the addresses of two functions of its C interface:
// torch_parallel_for and torch_get_num_threads (torch/csrc/stable/c/shim.h).
// So the tasks run on the threads that torch's own operators use.
class TorchThreads final : public Executor {
 public:
  using Body = void (*)(int64_t begin, int64_t end, void* context);
  using ParallelForFn = int32_t (*)(int64_t begin, int64_t end, int64_t grain,
                                    Body body, void* context);
  using NumThreadsFn = int32_t (*)(uint32_t* threads);

  TorchThreads(ParallelForFn parallel_for, NumThreadsFn num_threads)
      : parallel_for_(parallel_for), num_threads_(num_threads) {}

  size_t max_workers() const noexcept override {
    uint32_t threads = 1;
    if (num_threads_(&threads) != 0) return 1;
    return std::max<uint32_t>(threads, 1);
  }

  // Each worker takes tasks until none is left, so that a slow thread takes
  // fewer. Torch may run several workers on one thread, one after the other.
  void ParallelFor(size_t count, Task task, void* context) override {
    struct Shared {
      std::atomic<size_t> next{0};
      size_t count, workers;
      Task task;
      void* context;
    } shared;
    shared.count = count;
    shared.workers = std::min(max_workers(), count);
    shared.task = task;
    shared.context = context;
    const Body body = [](int64_t begin, int64_t end, void* argument) {
      auto& s = *static_cast<Shared*>(argument);
      for (int64_t worker = begin; worker < end; ++worker) {
        size_t i = 0;
        while ((i = s.next.fetch_add(1, std::memory_order_relaxed)) < s.count) {
          s.task(s.context, i, static_cast<size_t>(worker), s.workers);
        }
      }
    };
    if (parallel_for_(0, static_cast<int64_t>(shared.workers), 1, body,
                      &shared) != 0) {
      throw std::runtime_error("torch_parallel_for");
    }
  }

 private:
  const ParallelForFn parallel_for_;
  const NumThreadsFn num_threads_;
};

std::unique_ptr<Executor> MakeTorchThreads(uintptr_t parallel_for,
                                           uintptr_t num_threads) {
  return std::make_unique<TorchThreads>(
      reinterpret_cast<TorchThreads::ParallelForFn>(parallel_for),
      reinterpret_cast<TorchThreads::NumThreadsFn>(num_threads));
}

}  // namespace

void BindThreads(nb::module_& module) {
  nb::class_<Executor>(module, "Threads", "Threads that run an operator.")
      .def_static("pool", &MakePool, nb::arg("threads"),
                  "Threads of our own, the caller among them.")
      .def_static("torch", &MakeTorchThreads, nb::arg("parallel_for"),
                  nb::arg("num_threads"),
                  "Torch's, by the addresses of torch_parallel_for and "
                  "torch_get_num_threads.")
      .def_prop_ro("count", &Executor::max_workers);
  module.def("num_threads", &NumThreads,
             "Threads of operators on arrays: what set_num_threads said, else "
             "ROPEWALK_NUM_THREADS, else the CPUs of this process.");
  module.def("set_num_threads", &SetNumThreads, nb::arg("threads"),
             "Sets that number; 0 goes back to the environment's.");
}

}  // namespace ropewalk::python
