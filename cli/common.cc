#include "cli/common.h"

#include <span>

#include "ropewalk/executor.h"
#include "ropewalk/targets.h"

namespace ropewalk::cli {
namespace {

constexpr size_t kMaxThreads = 1024;

// All that the library has a name for.
Names<Pairing> PairingNames() {
  Names<Pairing> names;
  for (uint8_t i = 0;; ++i) {
    const auto pairing = static_cast<Pairing>(i);
    if (PairingName(pairing) == std::string("unknown")) return names;
    names.emplace_back(PairingName(pairing), pairing);
  }
}

}  // namespace

void RunArguments::AddTo(CLI::App& app) {
  app.add_option("--threads", threads,
                 "How many; default: ROPEWALK_NUM_THREADS, else the CPUs\n"
                 "that the process may use")
      ->type_name("N")
      ->check(CLI::Range(size_t{1}, kMaxThreads));
  app.add_option("--target", target,
                 "SIMD target, such as AVX2 (see `ropewalk info`); the\n"
                 "result is the same with each")
      ->type_name("NAME");
  app.add_flag("--quiet", quiet, "No progress bar");
}

Status RunArguments::Apply() const {
  if (threads != 0) SetNumThreads(threads);
  if (target.empty()) return Status();
  const Status status = ForceTarget(target);
  if (status.ok()) return status;
  return Status(status.code(), "--target: " + status.message());
}

void FileArguments::AddTo(CLI::App& app, const std::string& reads,
                          const std::string& writes) {
  app.add_option("-i,--input", inputs,
                 "Where to read " + reads +
                     ":\na .safetensors file, a folder of .npy files (x.npy, "
                     "...),\na .npy file, or NAME=FILE.npy. May be given more "
                     "than\nonce; a tensor is taken from the last that has it")
      ->type_name("IN")
      ->required()
      ->allow_extra_args(false);
  app.add_option("-o,--output", output,
                 "Where to write " + writes +
                     ":\na .safetensors file, a folder (with / at its end) "
                     "for\n.npy files, or a .npy file for a single tensor")
      ->type_name("OUT")
      ->required();
  app.add_option("--prefix", prefix, "Read P.x, P.cos, ... for x, cos, ...")
      ->type_name("P");
}

void RotateArguments::AddTo(CLI::App& app) {
  AddChoice(app, "--pairing", pairing, PairingNames(),
            "Which two columns are rotated together")
      ->required();
  app.add_option("--slice", slice,
                 "Rotate only columns S to E - 1, copy the others")
      ->expected(2)
      ->delimiter(':')
      ->type_name("S:E");
}

RotateOptions RotateArguments::Options() const {
  RotateOptions options;
  options.pairing = pairing;
  if (slice.size() == 2) options.slice = Slice{slice[0], slice[1]};
  return options;
}

void CachedArguments::AddTo(CLI::App& app) {
  AddChoice<CachedStyle>(
      app, "--style", options.style,
      {{"neox", CachedStyle::kNeox}, {"gptj", CachedStyle::kGptj}},
      "How pairs lie in a head: (i, i + half), or (2k, 2k + 1)")
      ->required();
  app.add_option("--head-size", options.head_size, "Columns of a head")
      ->type_name("N")
      ->required();
  app.add_option("--sections", sections,
                 "Pairs that go by each row of positions, as 16,24,24")
      ->type_name("N,N,N")
      ->delimiter(',');
  AddChoice<AxisLayout>(app, "--axes", options.axes,
                        {{"segmented", AxisLayout::kSegmented},
                         {"interleaved", AxisLayout::kInterleaved}},
                        "How the sections lie in a head; default: segmented");
  app.add_flag("--backward", backward,
               "query and key are gradients of the rotated ones");
}

RotateCachedOptions CachedArguments::Options() const {
  RotateCachedOptions all = options;
  all.sections = sections;
  if (backward) all.direction = Direction::kBackward;
  return all;
}

TensorDesc ContiguousLike(const TensorDesc& desc) {
  if (desc.rank < 0 || desc.rank > kMaxRank) return desc;
  return TensorDesc::Contiguous(
      desc.dtype,
      std::span<const int64_t>(desc.shape, static_cast<size_t>(desc.rank)));
}

}  // namespace ropewalk::cli
