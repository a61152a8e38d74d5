// A stranger's program: it rotates one row through the public headers and
// checks the numbers.

#include <cstdio>
#include <cstring>

#include "ropewalk/ropewalk.h"

namespace {

// Its own parallel-for, so that a class of the library is derived from.
class Backwards : public ropewalk::Executor {
 public:
  size_t max_workers() const noexcept override { return 1; }
  void ParallelFor(size_t count, Task task, void* context) override {
    for (size_t i = count; i-- > 0;) task(context, i, 0, 1);
  }
};

}  // namespace

int main() {
  const float x[] = {1, 2, 3, 4};
  const float cos[] = {0.5F, 0.5F, 0.5F, 0.5F};
  const float sin[] = {2, 2, 2, 2};
  float y[4] = {};
  const ropewalk::TensorDesc row =
      ropewalk::TensorDesc::Contiguous(ropewalk::Dtype::kF32, {1, 4});
  Backwards executor;
  const ropewalk::Status status = ropewalk::Rotate(
      {}, {row, x}, {row, cos}, {row, sin}, {row, y}, &executor);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  const float expected[] = {-5.5F, -7, 3.5F, 6};
  std::printf("ropewalk %s: %g %g %g %g\n", ropewalk::Version(), y[0], y[1],
              y[2], y[3]);
  const bool same_version =
      std::strcmp(ropewalk::Version(), ROPEWALK_VERSION_STRING) == 0;
  return std::memcmp(y, expected, sizeof y) == 0 && same_version ? 0 : 1;
}
