// Writer: text with indentation. Names: fresh identifiers of one function. expand(): leaf templates
// (target/isa.h).
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/diag.h"

namespace morello {

// Text with variables, in which otherwise equal texts differ: how often a loop runs, which of two
// things is done, and numbers that the text knows by name only.
struct BodyPart {
  std::string text;                        // in front of the variable
  std::string variable = {};               // empty: none
  std::array<std::string, 2> either = {};  // text for the values 0 and 1; empty: the value itself

  auto operator<=>(const BodyPart&) const = default;
  bool counts() const { return either[0].empty() && either[1].empty(); }
};
struct Body {
  std::vector<BodyPart> parts;
  std::map<std::string, i64> values = {};  // of variables
  std::map<std::string, i64> named = {};   // of those in `text`
};

bool in_identifier(char c);
// Whether a text has this identifier.
bool mentions(std::string_view text, std::string_view name);

class Writer {
 public:
  // `names`: numbers that may be variables are.
  explicit Writer(int depth = 0, bool names = false) : depth_(depth), names_(names) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    code(fmt::format(format, std::forward<Args>(args)...));
  }
  // Statements, one per line of `text`.
  void code(std::string_view text);
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    const std::string head = fmt::format(format, std::forward<Args>(args)...);
    code(head.empty() ? "{" : head + " {");
    ++depth_;
  }
  // A loop over all indices below `count`, which is a variable if nothing is around the loop.
  void open_loop(std::string_view i, i64 count);
  // A number that may be a variable, for a statement; the same one for equal numbers.
  std::string number(i64 value);
  // `name` stands for a number in what is written.
  void name(const std::string& name, i64 value) { done_.named.emplace(name, value); }
  // What two functions write, of which `value` asks for the first or the second.
  void either(std::string_view variable, bool value, auto&& first, auto&& second) {
    BodyPart part{std::exchange(text_, {}), std::string(variable)};
    ++depth_;
    first();
    part.either[0] = std::exchange(text_, {});
    second();
    part.either[1] = std::exchange(text_, {});
    --depth_;
    add(std::move(part), value);
  }
  void close(std::string_view tail = "}") {
    --depth_;
    code(tail);
  }
  void otherwise() {
    close("} else {");
    ++depth_;
  }
  const std::string& text() const;  // without variables
  Body body() const;

 private:
  void add(BodyPart part, i64 value);

  Body done_;  // up to the last variable
  std::string text_;
  int depth_ = 0;
  bool names_ = false;
  std::map<i64, std::string> numbers_;
};

class Names {
 public:
  // Numbers never repeat in a function, so `x` and a user's `x_1` cannot meet.
  std::string fresh(std::string_view stem) { return fmt::format("{}_{}", stem, next_++); }

 private:
  int next_ = 0;
};

// Replaces every {key} of a leaf template.
inline std::string expand(std::string_view code,
                          const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  while (!code.empty()) {
    const size_t open = std::min(code.find('{'), code.size());
    out += code.substr(0, open);
    code.remove_prefix(open);
    if (code.empty()) break;
    bool known = false;
    for (const auto& [key, value] : values) {
      if (code.size() < key.size() + 2 || code.substr(1, key.size()) != key ||
          code[key.size() + 1] != '}')
        continue;
      out += value;
      code.remove_prefix(key.size() + 2);
      known = true;
      break;
    }
    if (!known) {
      out += code[0];
      code.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace morello
