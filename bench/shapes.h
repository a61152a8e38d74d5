// The tensors of a work, and the least bytes that it must move.

#ifndef ROPEWALK_BENCH_SHAPES_H_
#define ROPEWALK_BENCH_SHAPES_H_

#include <cstddef>

#include "bench/works.h"
#include "ropewalk/ops.h"
#include "ropewalk/tensor.h"

namespace ropewalk::bench {

/// x, y and their gradients.
TensorDesc DataDesc(const Work& work);
/// cos, sin and their gradients.
TensorDesc TableDesc(const Work& work);
RotateOptions Options(const Work& work);

/// Those of kCached; each output is like its input.
struct CachedDescs {
  TensorDesc positions, cache, query, key;
};
CachedDescs CachedTensors(const Work& work);

/// Rows read and written, tables and their gradients: each once. Of a slice in
/// place the cache lines that it touches. 0 where nothing is moved.
size_t LeastBytes(const Work& work);

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_SHAPES_H_
