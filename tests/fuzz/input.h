// What a fuzzer's bytes mean.

#ifndef ROPEWALK_TESTS_FUZZ_INPUT_H_
#define ROPEWALK_TESTS_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ropewalk::test {

/// Numbers drawn from the bytes that a fuzzer gives, and when they have run
/// out, from a generator that these bytes seed: so any input, the empty one
/// too, makes a whole test.
class Input {
 public:
  Input(const uint8_t* data, size_t size);

  uint64_t Bits();
  /// In [low, high].
  int64_t Int(int64_t low, int64_t high);
  /// True once in `n` times.
  bool OneIn(int64_t n) { return Int(1, n) == 1; }
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(
        Int(0, static_cast<int64_t>(from.size()) - 1))];
  }
  /// A number that breaks something, or an ordinary one.
  int64_t Wild();

 private:
  uint64_t Take(int bytes);

  const uint8_t* data_;
  size_t left_;
  uint64_t state_;
};

/// Ends the program with a message, as fuzzers want it.
[[noreturn]] void Broken(const std::string& what);

}  // namespace ropewalk::test

/// A property that must hold for every input.
#define RW_MUST(condition, text)                               \
  do {                                                         \
    if (!(condition)) {                                        \
      ::ropewalk::test::Broken(std::string(__FILE__) + ":" +   \
                               std::to_string(__LINE__) +      \
                               ": " #condition "\n" + (text)); \
    }                                                          \
  } while (false)

#endif  // ROPEWALK_TESTS_FUZZ_INPUT_H_
