#include "fuzz/input.h"

#include <cstdio>
#include <cstdlib>
#include <limits>

namespace ropewalk::test {

Input::Input(const uint8_t* data, size_t size)
    : data_(data), left_(size), state_(0xcbf29ce484222325) {
  for (size_t i = 0; i < size; ++i) {
    state_ = (state_ ^ data[i]) * 0x100000001b3;
  }
}

uint64_t Input::Take(int bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < bytes && left_ > 0; ++i, --left_) {
    bits = bits << 8 | *data_++;
  }
  return bits;
}

uint64_t Input::Bits() {
  if (left_ > 0) return Take(8);
  // splitmix64
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int64_t Input::Int(int64_t low, int64_t high) {
  const uint64_t count =
      static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  const int bytes = count == 0 || count > 0x10000 ? 8 : count > 0x100 ? 2 : 1;
  const uint64_t bits = left_ > 0 ? Take(bytes) : Bits();
  return static_cast<int64_t>(static_cast<uint64_t>(low) +
                              (count == 0 ? bits : bits % count));
}

int64_t Input::Wild() {
  static const std::vector<int64_t> values = {
      0,
      1,
      2,
      3,
      4,
      7,
      8,
      64,
      1000,
      65536,
      -1,
      -2,
      -8,
      int64_t{1} << 30,
      (int64_t{1} << 31) - 1,
      int64_t{1} << 31,
      (int64_t{1} << 32) + 1,
      int64_t{1} << 60,
      int64_t{1} << 62,
      -(int64_t{1} << 62),
      std::numeric_limits<int64_t>::max(),
      std::numeric_limits<int64_t>::min()};
  switch (Int(0, 3)) {
    case 0:
      return static_cast<int64_t>(Bits());
    case 1:
      return Int(-4, 20);
    default:
      return Pick(values);
  }
}

void Broken(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace ropewalk::test
