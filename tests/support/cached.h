// A rotation by position with its tensors.

#ifndef ROPEWALK_TESTS_SUPPORT_CACHED_H_
#define ROPEWALK_TESTS_SUPPORT_CACHED_H_

#include <optional>

#include "support/layouts.h"
#include "support/run.h"

namespace ropewalk::test {

struct CachedShapes {
  RotateCachedOptions options;
  std::vector<int64_t> sections = {};
  int64_t tokens = 5, query_heads = 3, key_heads = 1;  ///< 0 heads: no key
  int64_t rows = 17, rotary_dim = 0;
  Dtype data = Dtype::kF32, cache = Dtype::kF32, positions = Dtype::kI64;
  bool split = false;                  ///< (tokens, heads, head_size)
  std::optional<Dtype> key_data = {};  ///< none: that of data
};

/// `any`: tensors get random strides.
class CachedCase {
 public:
  CachedCase(const CachedShapes& s, Random& random, bool any = false,
             Data data = Data::kNormal);

  TestTensor& positions() { return positions_; }
  TestTensor& query() { return query_; }
  TestTensor& query_out() { return query_out_; }
  /// Pointers into this object.
  CachedRun Run(const Tensor& query_out, const Tensor* key_out,
                const ConstTensor* key) const;

  /// Runs out of place and in place on the current target; every byte must be
  /// as the reference makes it.
  void Check();

 private:
  void CheckOutOfPlace();
  void CheckInPlace();
  void Reference(const TestTensor& in, const TestTensor& out) const;
  RotateCachedOptions Options() const;
  bool with_key() const { return shapes_.key_heads > 0; }

  CachedShapes shapes_;
  TestTensor positions_, cache_, query_, key_, query_out_, key_out_;
};

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_CACHED_H_
