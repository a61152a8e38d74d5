#include "support/golden.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace ropewalk::test {
namespace {

[[noreturn]] void Die(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

io::SafetensorsFile OpenOrDie(const std::string& path) {
  Result<io::SafetensorsFile> file = io::SafetensorsFile::Open(path);
  if (!file.ok()) Die(file.status().message());
  return std::move(file).value();
}

GoldenCase ParseCase(const nlohmann::json& json, const std::string& kind) {
  GoldenCase c;
  c.name = json.at("case");
  c.kind = json.value("kind", kind);
  c.data = json.value("data", "normal");
  if (c.kind == "cached") {
    c.cached.head_size = json.at("head_size");
    c.cached.style =
        json.at("neox").get<bool>() ? CachedStyle::kNeox : CachedStyle::kGptj;
    c.cached.axes = json.at("axes") == "interleaved" ? AxisLayout::kInterleaved
                                                     : AxisLayout::kSegmented;
    if (json.value("backward", false)) {
      c.cached.direction = Direction::kBackward;
    }
    if (!json.at("sections").is_null()) {
      c.sections = json.at("sections").get<std::vector<int64_t>>();
    }
    return c;
  }
  c.rotate.pairing = static_cast<Pairing>(json.at("mode").get<int>());
  if (json.contains("slice")) {
    c.rotate.slice = Slice{json["slice"][0], json["slice"][1]};
  }
  return c;
}

}  // namespace

GoldenFile::GoldenFile(const std::string& path) : file_(OpenOrDie(path)) {}

ConstTensor GoldenFile::Get(const std::string& name) const {
  const io::StoredTensor* tensor = file_.Find(name);
  if (tensor == nullptr) Die("no tensor " + name);
  const Result<TensorDesc> desc = io::Describe(*tensor);
  if (!desc.ok()) Die(desc.status().message());
  return {*desc, tensor->data};
}

bool GoldenFile::Has(const std::string& name) const {
  return file_.Find(name) != nullptr;
}

std::vector<GoldenCase> GoldenFile::Cases(const std::string& kind) const {
  const auto list = nlohmann::json::parse(file_.metadata().at("cases"));
  std::vector<GoldenCase> cases;
  for (const auto& entry : list) cases.push_back(ParseCase(entry, kind));
  return cases;
}

std::string GoldenPath(const std::string& name) {
  return std::string(ROPEWALK_GOLDEN_DIR) + "/" + name;
}

std::string DataPath(const std::string& name) {
  return std::string(ROPEWALK_DATA_DIR) + "/" + name;
}

}  // namespace ropewalk::test
