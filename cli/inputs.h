// Where a command finds its tensors.

#ifndef ROPEWALK_CLI_INPUTS_H_
#define ROPEWALK_CLI_INPUTS_H_

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "io/npy.h"
#include "io/raw.h"
#include "io/safetensors.h"
#include "ropewalk/status.h"
#include "ropewalk/tensor.h"

namespace ropewalk::cli {

/// Files of tensors, looked up by name. The first error is kept; ask for it
/// once, after the look-ups.
class Inputs {
 public:
  /// `command` starts the messages. A source is a .safetensors file, a folder
  /// of .npy files, a .npy file (its tensor has the name of the file) or
  /// NAME=FILE.npy. A later source goes before an earlier one. Tensors have
  /// names that start with `prefix` and a dot, if it is not empty.
  /// `raws` describe files of bare elements, NAME.bin of a folder, as
  /// io::ParseRawTensor reads them.
  Inputs(std::string command, const std::vector<std::string>& sources,
         const std::string& prefix, const std::vector<std::string>& raws = {});

  const Status& status() const { return status_; }

  /// The tensor; without it, an error.
  ConstTensor Need(const std::string& name);
  /// The tensor, if it is there.
  std::optional<ConstTensor> Find(const std::string& name);

  /// Lets go of what has been read; it is read again when needed.
  void DropFromMemory() const;

 private:
  using Paths = std::map<std::string, std::string>;  // by name
  struct Source {
    std::string text;
    std::variant<io::SafetensorsFile, Paths> content;
  };

  void Add(const std::string& source);
  void AddFolder(const std::string& source);
  const io::StoredTensor* Open(const std::string& path,
                               const std::string& full_name);
  const io::StoredTensor* Look(const std::string& full_name);
  std::string Listing() const;
  void Keep(const Status& status);

  std::string command_;
  std::string prefix_;
  std::vector<Source> sources_;
  std::vector<io::StoredTensor> raws_;
  std::map<std::string, io::NpyFile> npy_files_;  // opened ones, by path
  std::map<std::string, io::RawFile> raw_files_;  // likewise
  Status status_;
};

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_INPUTS_H_
