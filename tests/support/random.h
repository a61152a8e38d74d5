// Random data for tests. One seed for a test program, printed at its start;
// ROPEWALK_TEST_SEED overrides it.

#ifndef ROPEWALK_TESTS_SUPPORT_RANDOM_H_
#define ROPEWALK_TESTS_SUPPORT_RANDOM_H_

#include <cstdint>
#include <random>
#include <vector>

namespace ropewalk::test {

/// The seed of this program.
uint64_t Seed();

/// A small generator whose sequence is the same everywhere.
class Random {
 public:
  /// Of this program's seed, and of `stream`, so that tests do not depend on
  /// the order in which they run.
  explicit Random(uint64_t stream);

  uint64_t Bits() { return engine_(); }
  /// In [low, high].
  int64_t Int(int64_t low, int64_t high);
  /// True once in `n` times.
  bool OneIn(int64_t n) { return Int(1, n) == 1; }
  /// In [-1, 1).
  double Unit();
  /// Roughly normal, standard deviation 1.
  double Normal();

  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[Int(0, static_cast<int64_t>(from.size()) - 1)];
  }
  template <class T>
  void Shuffle(std::vector<T>* v) {
    for (size_t i = v->size(); i > 1; --i) {
      std::swap((*v)[i - 1], (*v)[Int(0, static_cast<int64_t>(i) - 1)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_RANDOM_H_
