// What a call reports: a code, and a sentence that names the operator, the
// argument, what it needs and what was found.

#ifndef ROPEWALK_STATUS_H_
#define ROPEWALK_STATUS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace ropewalk {

/// Why a call was refused.
enum class Code : uint8_t {
  kOk = 0,
  kNullPointer,  ///< A required pointer is null.
  kDtype,        ///< A dtype is not supported, or not with the others.
  kShape,        ///< Rank, size, stride or broadcast.
  kOption,       ///< Pairing, slice, head size, sections, target name, ...
  kPosition,     ///< A position lies outside the cache.
  kOverlap,      ///< An output overlaps itself, an input or another output.
  kOutOfMemory,  ///< Memory, or a workspace, that is too small.
  kExecutor,     ///< The caller's executor threw or left out tasks.
};

/// Success, or a code with a message. Cheap to return when it is success.
class [[nodiscard]] Status {
 public:
  /// Success.
  Status() noexcept = default;
  Status(Code code, std::string message) noexcept
      : code_(code), message_(std::move(message)) {}

  bool ok() const noexcept { return code_ == Code::kOk; }
  Code code() const noexcept { return code_; }
  /// Empty on success, else one line such as
  /// "[rotate] cos: last axis must be 128 or 64, but is 32".
  const std::string& message() const noexcept { return message_; }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

/// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Status status) : state_(std::move(status)) {}  // NOLINT: likewise

  bool ok() const noexcept { return std::holds_alternative<T>(state_); }
  /// Success if there is a value.
  Status status() const { return ok() ? Status() : std::get<Status>(state_); }
  /// The value; only if ok().
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace ropewalk

#endif  // ROPEWALK_STATUS_H_
