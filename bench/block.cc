#include "bench/block.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ropewalk::bench {
namespace {

struct Kept {
  io::Buffer buffer;
  io::Pages pages;
};

std::vector<Kept>& AllKept() {
  static std::vector<Kept> kept;
  return kept;
}

}  // namespace

Block::Block(Block&& other) noexcept
    : buffer_(std::exchange(other.buffer_, {})), pages_(other.pages_) {}

Block& Block::operator=(Block&& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(pages_, other.pages_);
  return *this;
}

Block::~Block() {
  if (size() != 0) AllKept().push_back({std::move(buffer_), pages_});
}

Result<Block> Block::Allocate(size_t bytes, io::Pages pages) {
  Block block;
  block.pages_ = pages;
  std::vector<Kept>& kept = AllKept();
  const auto fits = [&](const Kept& one) {
    return one.buffer.size() == bytes && one.pages == pages;
  };
  const auto found = std::ranges::find_if(kept, fits);
  if (found != kept.end()) {
    block.buffer_ = std::move(found->buffer);
    kept.erase(found);
    return block;
  }
  kept.clear();
  Result<io::Buffer> buffer = io::Buffer::Allocate(bytes, pages);
  if (!buffer.ok()) return buffer.status();
  block.buffer_ = std::move(*buffer);
  return block;
}

}  // namespace ropewalk::bench
