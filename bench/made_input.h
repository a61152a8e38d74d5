// Input that is made up: values whose rotation can be repeated in place without
// growing or dying away.

#ifndef ROPEWALK_BENCH_MADE_INPUT_H_
#define ROPEWALK_BENCH_MADE_INPUT_H_

#include <cstdint>
#include <vector>

#include "bench/block.h"
#include "io/buffer.h"
#include "ropewalk/ops.h"
#include "ropewalk/status.h"
#include "ropewalk/tensor.h"

namespace ropewalk::bench {

/// Memory of the tensors of one work. Where it runs out, addresses are null and
/// status() says so; ask once, at the end.
class Memory {
 public:
  explicit Memory(io::Pages pages = io::Pages::kSystem) : pages_(pages) {}

  const Status& status() const { return status_; }

  /// Numbers of 0.5 to 1 with any sign.
  void* Random(const TensorDesc& desc);
  /// Zeros, touched: for results.
  void* Zeros(const TensorDesc& desc);
  /// Tables with cos² + sin² = 1, equal in both columns of a pair.
  void* Cos(const TensorDesc& desc, Pairing pairing);
  void* Sin(const TensorDesc& desc, Pairing pairing);
  /// Rows of cosines, then sines.
  void* Cache(const TensorDesc& desc);
  /// 0, 1, 2, ... below `rows`, over and over; a second row begins with 1, a
  /// third with 2.
  void* Positions(const TensorDesc& desc, int64_t rows);

 private:
  // Values of the first `period` elements, then the same again.
  template <class ValueAt>
  void* Fill(const TensorDesc& desc, const ValueAt& value_at,
             size_t period = SIZE_MAX);

  io::Pages pages_;
  std::vector<Block> blocks_;
  Status status_;
};

/// Bytes of a contiguous tensor.
size_t TensorBytes(const TensorDesc& desc);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_MADE_INPUT_H_
