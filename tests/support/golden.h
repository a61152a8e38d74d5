// Files of expected results; see tests/golden/README.md.

#ifndef ROPEWALK_TESTS_SUPPORT_GOLDEN_H_
#define ROPEWALK_TESTS_SUPPORT_GOLDEN_H_

#include <string>
#include <vector>

#include "io/safetensors.h"
#include "ropewalk/ropewalk.h"

namespace ropewalk::test {

/// One entry of the list in a file's metadata; what does not apply is left at
/// its default.
struct GoldenCase {
  std::string name;
  std::string kind;  ///< "rotate", "partial" or "cached"
  std::string data;  ///< how x was made
  RotateOptions rotate;
  std::vector<int64_t> sections;
  RotateCachedOptions cached;  ///< its sections are those above
};

class GoldenFile {
 public:
  /// Ends the program with a message if the file cannot be read.
  explicit GoldenFile(const std::string& path);

  /// The tensor of that name, which must be there.
  ConstTensor Get(const std::string& name) const;
  bool Has(const std::string& name) const;
  /// Its list of cases. `kind` is for files that do not say.
  std::vector<GoldenCase> Cases(const std::string& kind) const;

 private:
  io::SafetensorsFile file_;
};

/// tests/golden/NAME and the folder of real activations.
std::string GoldenPath(const std::string& name);
std::string DataPath(const std::string& name);

}  // namespace ropewalk::test

#endif  // ROPEWALK_TESTS_SUPPORT_GOLDEN_H_
