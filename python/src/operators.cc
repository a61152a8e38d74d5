#include "operators.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ropewalk/executor.h"
#include "ropewalk/ops.h"
#include "view.h"

namespace ropewalk::python {
namespace {

// --- Options by name --------------------------------------------------------

[[noreturn]] void Raise(const std::string& message) {
  throw nb::value_error(message.c_str());
}

Pairing PairingOf(const char* op, const char* name) {
  for (Pairing pairing : {Pairing::kHalf, Pairing::kInterleave,
                          Pairing::kQuarter, Pairing::kInterleaveHalf}) {
    if (std::strcmp(name, PairingName(pairing)) == 0) return pairing;
  }
  Raise(std::string("[") + op +
        "] pairing: must be half, interleave, quarter or interleave-half, but "
        "is " +
        name);
}

CachedStyle StyleOf(const char* name) {
  if (std::strcmp(name, "neox") == 0) return CachedStyle::kNeox;
  if (std::strcmp(name, "gptj") == 0) return CachedStyle::kGptj;
  Raise(std::string("[rotate_cached] style: must be neox or gptj, but is ") +
        name);
}

AxisLayout AxesOf(const char* name) {
  if (std::strcmp(name, "segmented") == 0) return AxisLayout::kSegmented;
  if (std::strcmp(name, "interleaved") == 0) return AxisLayout::kInterleaved;
  Raise(std::string("[rotate_cached] axes: must be segmented or interleaved, "
                    "but is ") +
        name);
}

// --- Tensors ----------------------------------------------------------------

std::optional<TensorDesc> DescOf(const std::optional<View>& view) {
  if (!view.has_value()) return std::nullopt;
  return view->desc;
}

void* DataOf(const std::optional<View>& view) {
  return view.has_value() ? view->data : nullptr;
}

// --- Running ----------------------------------------------------------------

struct FreeAligned {
  void operator()(std::byte* p) const {
    ::operator delete (p, std::align_val_t{64});
  }
};

// Runs on `threads`, or the library's own; the plan alone if check_only.
template <class Buffers>
void RunPlan(const Result<Plan>& plan, const Buffers& buffers,
             Executor* threads, bool check_only) {
  if (!plan.ok()) RaiseIfRefused(plan.status());
  if (check_only) return;
  RunOptions options;
  options.executor = threads;
  std::unique_ptr<std::byte, FreeAligned> workspace;
  if (const size_t bytes = plan->workspace_bytes(); bytes > 0) {
    workspace.reset(
        static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64})));
    options.workspace = {workspace.get(), bytes};
  }
  Status status;
  {
    const nb::gil_scoped_release released;
    status = plan->Run(buffers, options);
  }
  RaiseIfRefused(status);
}

// The plan of the last call of this thread: a model calls with the same shapes
// in all its layers, and for one token a plan takes as long as its run.
const Result<Plan>& RotatePlan(const RotateOptions& options,
                               const RotateTensors& tensors) {
  struct Last {
    RotateOptions options;
    RotateTensors tensors;
    size_t threads = 0;
    Result<Plan> plan = Status(Code::kOption, "none yet");
  };
  thread_local Last last;
  const size_t threads = NumThreads();
  if (!last.plan.ok() || last.threads != threads ||
      !(last.options == options) || !(last.tensors == tensors)) {
    last = {options, tensors, threads, MakeRotatePlan(options, tensors)};
  }
  return last.plan;
}

void RotateView(nb::handle x, nb::handle cos, nb::handle sin, nb::handle y,
                nb::handle x2, nb::handle y2, const char* pairing,
                const Columns& slice, Executor* threads, bool check_only) {
  const View vx = ReadView("[rotate] x", x);
  const View vcos = ReadView("[rotate] cos", cos);
  const View vsin = ReadView("[rotate] sin", sin);
  const View vy = ReadView("[rotate] y", y);
  const std::optional<View> vx2 = ReadOptional("[rotate] x2", x2);
  const std::optional<View> vy2 = ReadOptional("[rotate] y2", y2);
  const RotateTensors tensors = {vx.desc, vcos.desc,   vsin.desc,
                                 vy.desc, DescOf(vx2), DescOf(vy2)};
  RunPlan(RotatePlan(RotateOptionsOf("rotate", pairing, slice), tensors),
          RotateBuffers{vx.data, vcos.data, vsin.data, vy.data, DataOf(vx2),
                        DataOf(vy2)},
          threads, check_only);
}

void RotateBackwardView(nb::handle dy, nb::handle cos, nb::handle sin,
                        nb::handle x, nb::handle dx, nb::handle dcos,
                        nb::handle dsin, nb::handle dy2, nb::handle x2,
                        nb::handle dx2, const char* pairing,
                        const Columns& slice, Executor* threads,
                        bool check_only) {
  const View vdy = ReadView("[rotate_backward] dy", dy);
  const View vcos = ReadView("[rotate_backward] cos", cos);
  const View vsin = ReadView("[rotate_backward] sin", sin);
  const auto vx = ReadOptional("[rotate_backward] x", x);
  const auto vdx = ReadOptional("[rotate_backward] dx", dx);
  const auto vdcos = ReadOptional("[rotate_backward] dcos", dcos);
  const auto vdsin = ReadOptional("[rotate_backward] dsin", dsin);
  const auto vdy2 = ReadOptional("[rotate_backward] dy2", dy2);
  const auto vx2 = ReadOptional("[rotate_backward] x2", x2);
  const auto vdx2 = ReadOptional("[rotate_backward] dx2", dx2);
  RunPlan(
      MakeRotateBackwardPlan(RotateOptionsOf("rotate_backward", pairing, slice),
                             {vdy.desc, vcos.desc, vsin.desc, DescOf(vx),
                              DescOf(vdx), DescOf(vdcos), DescOf(vdsin),
                              DescOf(vdy2), DescOf(vx2), DescOf(vdx2)}),
      RotateBackwardBuffers{vdy.data, vcos.data, vsin.data, DataOf(vx),
                            DataOf(vdx), DataOf(vdcos), DataOf(vdsin),
                            DataOf(vdy2), DataOf(vx2), DataOf(vdx2)},
      threads, check_only);
}

void RotateCachedView(nb::handle positions, nb::handle cache, nb::handle query,
                      nb::handle query_out, nb::handle key, nb::handle key_out,
                      int64_t head_size, const char* style,
                      const std::optional<std::vector<int64_t>>& sections,
                      const char* axes, bool backward, Executor* threads,
                      bool check_only) {
  const View vpositions = ReadView("[rotate_cached] positions", positions);
  const View vcache = ReadView("[rotate_cached] cache", cache);
  const View vquery = ReadView("[rotate_cached] query", query);
  const View vquery_out = ReadView("[rotate_cached] query_out", query_out);
  const auto vkey = ReadOptional("[rotate_cached] key", key);
  const auto vkey_out = ReadOptional("[rotate_cached] key_out", key_out);
  const RotateCachedOptions options =
      CachedOptionsOf(head_size, style, sections, axes, backward);
  RunPlan(MakeRotateCachedPlan(
              options, {vpositions.desc, vcache.desc, vquery.desc,
                        vquery_out.desc, DescOf(vkey), DescOf(vkey_out)}),
          RotateCachedBuffers{vpositions.data, vcache.data, vquery.data,
                              vquery_out.data, DataOf(vkey), DataOf(vkey_out)},
          threads, check_only);
}

}  // namespace

RotateOptions RotateOptionsOf(const char* op, const char* pairing,
                              const Columns& slice) {
  RotateOptions options;
  options.pairing = PairingOf(op, pairing);
  if (slice.has_value()) options.slice = Slice{slice->first, slice->second};
  return options;
}

RotateCachedOptions CachedOptionsOf(
    int64_t head_size, const char* style,
    const std::optional<std::vector<int64_t>>& sections, const char* axes,
    bool backward) {
  RotateCachedOptions options;
  options.head_size = head_size;
  options.style = StyleOf(style);
  if (sections.has_value()) options.sections = *sections;
  options.axes = AxesOf(axes);
  options.direction = backward ? Direction::kBackward : Direction::kForward;
  return options;
}

void RaiseIfRefused(const Status& status) {
  const char* message = status.message().c_str();
  switch (status.code()) {
    case Code::kOk:
      return;
    case Code::kDtype:
      throw nb::type_error(message);
    case Code::kPosition:
      throw nb::index_error(message);
    case Code::kOutOfMemory:
      throw std::bad_alloc();
    case Code::kExecutor:
      throw std::runtime_error(message);
    default:
      throw nb::value_error(message);
  }
}

void BindOperators(nb::module_& module) {
  module.def("rotate", &RotateView, nb::arg("x"), nb::arg("cos"),
             nb::arg("sin"), nb::arg("y"), nb::arg("x2") = nb::none(),
             nb::arg("y2") = nb::none(), nb::arg("pairing") = "half",
             nb::arg("slice") = nb::none(), nb::kw_only(),
             nb::arg("threads") = nb::none(), nb::arg("check_only") = false,
             "Writes y, and y2 of a second operand. check_only: refuses what "
             "shapes, dtypes and options tell, and computes nothing.");
  module.def("rotate_backward", &RotateBackwardView, nb::arg("dy"),
             nb::arg("cos"), nb::arg("sin"), nb::arg("x") = nb::none(),
             nb::arg("dx") = nb::none(), nb::arg("dcos") = nb::none(),
             nb::arg("dsin") = nb::none(), nb::arg("dy2") = nb::none(),
             nb::arg("x2") = nb::none(), nb::arg("dx2") = nb::none(),
             nb::arg("pairing") = "half", nb::arg("slice") = nb::none(),
             nb::kw_only(), nb::arg("threads") = nb::none(),
             nb::arg("check_only") = false,
             "Writes dx, or dcos and dsin, or all three.");
  module.def("rotate_cached", &RotateCachedView, nb::arg("positions"),
             nb::arg("cache"), nb::arg("query"), nb::arg("query_out"),
             nb::arg("key") = nb::none(), nb::arg("key_out") = nb::none(),
             nb::kw_only(), nb::arg("head_size"), nb::arg("style") = "neox",
             nb::arg("sections") = nb::none(), nb::arg("axes") = "segmented",
             nb::arg("backward") = false, nb::arg("threads") = nb::none(),
             nb::arg("check_only") = false,
             "Writes query_out, and key_out if there is a key.");
}

}  // namespace ropewalk::python
