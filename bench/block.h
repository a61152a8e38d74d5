// Memory that is used again: new memory costs page faults, and hundreds of
// works would spend more time on them than on being measured.

#ifndef ROPEWALK_BENCH_BLOCK_H_
#define ROPEWALK_BENCH_BLOCK_H_

#include <cstddef>

#include "io/buffer.h"
#include "ropewalk/status.h"

namespace ropewalk::bench {

/// A buffer that is kept for the next block of the same size and pages when it
/// goes. A block of a size that was not kept frees all that was. From one
/// thread.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  ~Block();

  /// Bytes at a 64-byte boundary; what they hold is left over from before.
  static Result<Block> Allocate(size_t bytes, io::Pages pages);

  std::byte* data() const noexcept { return buffer_.data(); }
  size_t size() const noexcept { return buffer_.size(); }

 private:
  io::Buffer buffer_;
  io::Pages pages_ = io::Pages::kSystem;
};

}  // namespace ropewalk::bench

#endif  // ROPEWALK_BENCH_BLOCK_H_
