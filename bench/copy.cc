#include "bench/copy.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/copy.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // NOLINT: before all of hwy
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ropewalk::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<uint8_t>;

// Calls store(i) for each whole vector; returns the bytes that are left over.
template <class Store>
size_t ForVectors(size_t bytes, const Store& store) {
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + 4 * lanes <= bytes; i += 4 * lanes) {
    store(i);
    store(i + lanes);
    store(i + 2 * lanes);
    store(i + 3 * lanes);
  }
  for (; i + lanes <= bytes; i += lanes) store(i);
  return bytes - i;
}

void StreamCopy(uint8_t* HWY_RESTRICT to, const uint8_t* HWY_RESTRICT a,
                const uint8_t*, size_t bytes) {
  const size_t left = ForVectors(bytes, [&](size_t i) HWY_ATTR {
    hn::Stream(hn::LoadU(D(), a + i), D(), to + i);
  });
  std::memcpy(to + bytes - left, a + bytes - left, left);
  hwy::FlushStream();
}

void XorTail(uint8_t* to, const uint8_t* a, const uint8_t* b, size_t bytes,
             size_t left) {
  for (size_t i = bytes - left; i < bytes; ++i) to[i] = a[i] ^ b[i];
}

void StreamTriad(uint8_t* HWY_RESTRICT to, const uint8_t* HWY_RESTRICT a,
                 const uint8_t* HWY_RESTRICT b, size_t bytes) {
  const size_t left = ForVectors(bytes, [&](size_t i) HWY_ATTR {
    hn::Stream(hn::Xor(hn::LoadU(D(), a + i), hn::LoadU(D(), b + i)), D(),
               to + i);
  });
  XorTail(to, a, b, bytes, left);
  hwy::FlushStream();
}

void CachedTriad(uint8_t* HWY_RESTRICT to, const uint8_t* HWY_RESTRICT a,
                 const uint8_t* HWY_RESTRICT b, size_t bytes) {
  const size_t left = ForVectors(bytes, [&](size_t i) HWY_ATTR {
    hn::StoreU(hn::Xor(hn::LoadU(D(), a + i), hn::LoadU(D(), b + i)), D(),
               to + i);
  });
  XorTail(to, a, b, bytes, left);
}

}  // namespace ropewalk::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropewalk::bench {
namespace {

HWY_EXPORT(StreamCopy);
HWY_EXPORT(StreamTriad);
HWY_EXPORT(CachedTriad);

using MoveFn = void (*)(uint8_t* to, const uint8_t* a, const uint8_t* b,
                        size_t bytes);

void CachedCopy(uint8_t* to, const uint8_t* a, const uint8_t*, size_t bytes) {
  std::memcpy(to, a, bytes);
}

struct Move {
  MoveFn move;
  uint8_t* to;
  const uint8_t* a;
  const uint8_t* b;
  size_t bytes;
  size_t parts;
};

void RunPart(void* context, size_t part, size_t, size_t) noexcept {
  constexpr size_t kLine = 64;
  const Move& m = *static_cast<const Move*>(context);
  const size_t lines = (m.bytes + kLine - 1) / kLine;
  const size_t begin = lines * part / m.parts * kLine;
  const size_t end = std::min(lines * (part + 1) / m.parts * kLine, m.bytes);
  const uint8_t* b = m.b == nullptr ? nullptr : m.b + begin;
  if (begin < end) m.move(m.to + begin, m.a + begin, b, end - begin);
}

void Run(Move move, Executor& executor) {
  move.parts = executor.max_workers();
  executor.ParallelFor(move.parts, &RunPart, &move);
}

uint8_t* Bytes(void* data) { return static_cast<uint8_t*>(data); }
const uint8_t* Bytes(const void* data) {
  return static_cast<const uint8_t*>(data);
}

}  // namespace

void Copy(void* to, const void* from, size_t bytes, Stores stores,
          Executor& executor) {
  const MoveFn move =
      stores == Stores::kCached ? &CachedCopy : HWY_DYNAMIC_POINTER(StreamCopy);
  Run({move, Bytes(to), Bytes(from), nullptr, bytes, 1}, executor);
}

void Triad(void* to, const void* a, const void* b, size_t bytes, Stores stores,
           Executor& executor) {
  const MoveFn move = stores == Stores::kCached
                          ? HWY_DYNAMIC_POINTER(CachedTriad)
                          : HWY_DYNAMIC_POINTER(StreamTriad);
  Run({move, Bytes(to), Bytes(a), Bytes(b), bytes, 1}, executor);
}

}  // namespace ropewalk::bench
#endif  // HWY_ONCE
