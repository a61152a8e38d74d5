#include "support/random.h"

#include <cstdlib>

namespace ropewalk::test {

uint64_t Seed() {
  static const uint64_t seed = [] {
    const char* text = std::getenv("ROPEWALK_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 0)
                           : uint64_t{20240917};
  }();
  return seed;
}

Random::Random(uint64_t stream)
    : engine_(Seed() * 0x9e3779b97f4a7c15ULL + stream) {}

int64_t Random::Int(int64_t low, int64_t high) {
  const auto count = static_cast<uint64_t>(high - low) + 1;
  return low + static_cast<int64_t>(Bits() % count);
}

double Random::Unit() {
  return static_cast<double>(Bits() >> 11) * 0x1p-52 - 1.0;
}

double Random::Normal() {
  // Four uniform numbers: variance 4/3.
  return (Unit() + Unit() + Unit() + Unit()) * 0.8660254037844386;
}

}  // namespace ropewalk::test
