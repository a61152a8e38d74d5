// What the demo's two parts share: reading, timing, and the verdict.

#ifndef ROPEWALK_DEMO_CHECK_H_
#define ROPEWALK_DEMO_CHECK_H_

#include <span>
#include <string>
#include <vector>

#include "bench/made_input.h"
#include "bench/measure.h"
#include "io/buffer.h"
#include "io/safetensors.h"
#include "ropewalk/plan.h"
#include "ropewalk/status.h"
#include "ropewalk/tensor.h"

namespace ropewalk::demo {

/// One output of an operator. Outputs of one call share its time.
struct Row {
  std::string operation;
  std::string output;
  TensorDesc desc;
  double max_abs_error = 0;  ///< against the result in double
  bool as_expected = false;  ///< the bits; of dcos and dsin the error bound
  bench::Measurement measurement;
};

/// A file of data. The first error is kept; ask for it once.
class Reader {
 public:
  explicit Reader(const std::string& path);

  const Status& status() const { return status_; }
  ConstTensor Get(const std::string& name, Dtype dtype, int rank);

 private:
  std::string path_;
  Result<io::SafetensorsFile> file_;
  Status status_;
};

template <class T>
std::span<const T> Values(const ConstTensor& tensor) {
  return {static_cast<const T*>(tensor.data),
          bench::TensorBytes(tensor.desc) / sizeof(T)};
}

/// The verdict on `result`, fp32, that must have the bits of `expected`.
Row CheckBits(const std::string& output, const ConstTensor& result,
              const ConstTensor& expected, std::span<const double> exact);

/// The verdict on sums: each may be off by 4 * 2^-24 of the sum of its terms'
/// magnitudes, and then by one rounding to fp32.
Row CheckSums(const std::string& output, const ConstTensor& result,
              const ConstTensor& exact, std::span<const double> term_sums);

/// The time of plan.Run(buffers), which moves all of `tensors` once.
template <class Buffers>
Result<bench::Measurement> MeasurePlan(const Result<Plan>& plan,
                                       const Buffers& buffers,
                                       std::span<const TensorDesc> tensors,
                                       bench::YardstickKind yardstick) {
  if (!plan.ok()) return plan.status();
  const auto workspace = io::Buffer::Allocate(plan.value().workspace_bytes());
  if (!workspace.ok()) return workspace.status();
  RunOptions options;
  options.workspace = workspace.value().bytes();
  size_t bytes = 0;
  for (const TensorDesc& desc : tensors) bytes += bench::TensorBytes(desc);
  return bench::Measure([&] { return plan.value().Run(buffers, options); },
                        bytes, {.yardstick = yardstick}, {});
}

/// Forward, then backward with dcos and dsin, of the tensors in `input`; `what`
/// names them. Writes y, dx, dcos and dsin to `output`.
Result<std::vector<Row>> RotateRows(const std::string& what,
                                    const std::string& input,
                                    const std::string& output);

/// Rotation by position of query and key. Writes both to `output`.
Result<std::vector<Row>> CachedRows(const std::string& input,
                                    const std::string& output);

}  // namespace ropewalk::demo

#endif  // ROPEWALK_DEMO_CHECK_H_
