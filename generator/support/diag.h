// User errors are values with a place; broken invariants stop the program.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace morello {

using i64 = std::int64_t;

// One error for the user. `line` and `column` count from 1; 0 means unknown.
// str() prints
//   file:line:column: error: text
//     source line
//     ^~~
//   note: ...
struct Diagnostic {
  std::string file;
  int line = 0;
  int column = 0;
  int length = 1;           // columns to underline
  std::string text;         // what is wrong; no full stop at the end
  std::string source_line;  // empty: no caret is printed
  std::vector<std::string> notes;

  std::string str() const;
};

inline Diagnostic error(std::string text) {
  Diagnostic d;
  d.text = std::move(text);
  return d;
}

// A value or the Diagnostic that says why there is none.
template <class T>
class Result {
 public:
  Result(T value) : v_(std::move(value)) {}           // NOLINT: implicit on purpose
  Result(Diagnostic error) : v_(std::move(error)) {}  // NOLINT: implicit on purpose
  bool ok() const { return v_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() { return std::get<0>(v_); }
  const T& operator*() const { return std::get<0>(v_); }
  T* operator->() { return &std::get<0>(v_); }
  const T* operator->() const { return &std::get<0>(v_); }
  const Diagnostic& error() const { return std::get<1>(v_); }

 private:
  std::variant<T, Diagnostic> v_;
};

// The word of `allowed` nearest to `given` (edit distance at most a third of its length), or "".
std::string nearest(std::string_view given, const std::vector<std::string>& allowed);

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message);

}  // namespace morello

// A broken invariant is our bug: say which and abort (exit code 1 comes from main's handler for
// exceptions only; an abort keeps the core).
#define MORELLO_CHECK(condition, ...)                                                         \
  do {                                                                                        \
    if (!(condition))                                                                         \
      ::morello::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
