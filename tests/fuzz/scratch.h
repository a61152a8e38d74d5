// Files for fuzzers.

#ifndef ROPEWALK_TESTS_FUZZ_SCRATCH_H_
#define ROPEWALK_TESTS_FUZZ_SCRATCH_H_

#include <string>
#include <string_view>

namespace ropewalk::test {

/// A folder that goes when the program ends.
const std::string& ScratchFolder();

void WriteFile(const std::string& path, std::string_view bytes);
std::string ReadFile(const std::string& path);

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_FUZZ_SCRATCH_H_
