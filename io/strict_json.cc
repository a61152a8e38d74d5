#include "io/strict_json.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "io/stored_tensor.h"

namespace ropewalk::io {
namespace {

using nlohmann::json;

// A first pass over the text that builds nothing. (The library's callback for
// its own pass takes quadratic time in the number of names.)
class Guard : public nlohmann::json_sax<json> {
 public:
  explicit Guard(size_t max_depth) : max_depth_(max_depth) {}

  bool start_object(size_t) override { return Open(); }
  bool start_array(size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    if (names_.back().insert(name).second) return true;
    throw FormatError("header: the name " + Quote(name) + " stands twice");
  }
  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    std::string text = error.what();  // quotes the file, as it is
    std::ranges::replace_if(
        text, [](unsigned char c) { return c >= 0x80; }, '?');
    throw FormatError("header: " + text);
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }

 private:
  bool Open() {
    if (names_.size() == max_depth_)
      throw FormatError("header: nested too deeply");
    names_.emplace_back();
    return true;
  }
  bool Close() {
    names_.pop_back();
    return true;
  }

  size_t max_depth_;
  std::vector<std::set<std::string>> names_;  // of each open object
};

}  // namespace

json ParseStrictJson(std::string_view text, size_t max_depth) {
  // The parser takes one for the end of the text and ignores what follows.
  if (text.find('\0') != std::string_view::npos) {
    throw FormatError("header: has a zero byte");
  }
  Guard guard(max_depth);
  json::sax_parse(text.begin(), text.end(), &guard);
  return json::parse(text.begin(), text.end());
}

}  // namespace ropewalk::io
