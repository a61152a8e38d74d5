// Makes a plan and runs it, with a watched workspace of just the size that the
// plan asks for.

#ifndef ROPEWALK_TESTS_SUPPORT_RUN_H_
#define ROPEWALK_TESTS_SUPPORT_RUN_H_

#include "ropewalk/ropewalk.h"

namespace ropewalk::test {

/// A forward rotation. x2 and y2 together or not at all.
struct RotateRun {
  RotateOptions options;
  ConstTensor x, cos, sin;
  Tensor y;
  const ConstTensor* x2 = nullptr;
  const Tensor* y2 = nullptr;
  Executor* executor = nullptr;
};

/// A backward rotation; null is left out.
struct BackwardRun {
  RotateOptions options;
  ConstTensor dy, cos, sin;
  const ConstTensor* x = nullptr;
  const Tensor* dx = nullptr;
  const Tensor* dcos = nullptr;
  const Tensor* dsin = nullptr;
  const ConstTensor* dy2 = nullptr;
  const ConstTensor* x2 = nullptr;
  const Tensor* dx2 = nullptr;
  Executor* executor = nullptr;
};

/// A rotation by position; key and key_out together or not at all.
struct CachedRun {
  RotateCachedOptions options;
  ConstTensor positions, cache, query;
  Tensor query_out;
  const ConstTensor* key = nullptr;
  const Tensor* key_out = nullptr;
  Executor* executor = nullptr;
};

RotateTensors Descs(const RotateRun& run);
RotateBackwardTensors Descs(const BackwardRun& run);
RotateCachedTensors Descs(const CachedRun& run);
RotateBuffers Buffers(const RotateRun& run);
RotateBackwardBuffers Buffers(const BackwardRun& run);
RotateCachedBuffers Buffers(const CachedRun& run);

Result<Plan> MakePlan(const RotateRun& run);
Result<Plan> MakePlan(const BackwardRun& run);
Result<Plan> MakePlan(const CachedRun& run);

Status Execute(const RotateRun& run);
Status Execute(const BackwardRun& run);
Status Execute(const CachedRun& run);

}  // namespace ropewalk::test

/// Fails the test with the message unless the status is success.
#define RW_ASSERT_OK(expression)                        \
  do {                                                  \
    const ::ropewalk::Status rw_status = (expression);  \
    ASSERT_TRUE(rw_status.ok()) << rw_status.message(); \
  } while (false)

#endif  // ROPEWALK_TESTS_SUPPORT_RUN_H_
