// Plan, workspace and run in one call.

#ifndef ROPEWALK_SRC_OPS_ONCE_H_
#define ROPEWALK_SRC_OPS_ONCE_H_

#include <cstddef>
#include <memory>
#include <new>
#include <string>

#include "ropewalk/plan.h"
#include "ropewalk/status.h"

namespace ropewalk {

struct FreeAligned {
  void operator()(std::byte* p) const {
    ::operator delete (p, std::align_val_t{64});
  }
};

template <class Buffers>
Status RunOnce(Result<Plan> plan, const Buffers& buffers, Executor* executor) {
  if (!plan.ok()) return plan.status();
  RunOptions options;
  options.executor = executor;
  std::unique_ptr<std::byte, FreeAligned> workspace;
  const size_t bytes = plan->workspace_bytes();
  if (bytes > 0) {
    workspace.reset(static_cast<std::byte*>(
        ::operator new (bytes, std::align_val_t{64}, std::nothrow)));
    if (workspace == nullptr) {
      return Status(Code::kOutOfMemory, "workspace: no memory for " +
                                            std::to_string(bytes) + " bytes");
    }
    options.workspace = {workspace.get(), bytes};
  }
  return plan->Run(buffers, options);
}

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_OPS_ONCE_H_
