// Writer: text with indentation. Names: fresh identifiers of one function. Functions: the helper
// functions of one variant, each text once. expand(): leaf templates (target/isa.h).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace morello {

class Writer {
 public:
  explicit Writer(int depth = 0) : depth_(depth) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    code(fmt::format(format, std::forward<Args>(args)...));
  }
  // Statements, one per line of `text`.
  void code(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      text_.append(end == 0 ? 0 : 2 * depth_, ' ').append(text.substr(0, end)).append("\n");
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    const std::string head = fmt::format(format, std::forward<Args>(args)...);
    code(head.empty() ? "{" : head + " {");
    ++depth_;
  }
  void close(std::string_view tail = "}") {
    --depth_;
    code(tail);
  }
  void otherwise() {
    close("} else {");
    ++depth_;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

class Names {
 public:
  // Numbers never repeat in a function, so `x` and a user's `x_1` cannot meet.
  std::string fresh(std::string_view stem) { return fmt::format("{}_{}", stem, next_++); }

 private:
  int next_ = 0;
};

class Functions {
 public:
  // `apart`: of all functions, as in add().
  explicit Functions(bool apart = false) : apart_(apart) {}
  // Adds `static void <name>(<params>) noexcept {<body>}`; the name of an equal one if there is
  // one. `apart`: compilers must not put it into its callers.
  std::string add(std::string_view stem, std::string_view params, std::string_view body,
                  bool apart = false) {
    std::string key = fmt::format("{}|{}|{}", stem, params, body);
    if (const auto found = names_.find(key); found != names_.end()) return found->second;
    std::string name = fmt::format("{}_{}", stem, names_.size());
    text_ += fmt::format("MORELLO_UNUSED MORELLO_TARGET {} void {}({}) noexcept {{\n{}}}\n",
                         apart || apart_ ? "__attribute__((noinline)) static" : "static inline",
                         name, params, body);
    return names_.emplace(std::move(key), std::move(name)).first->second;
  }
  // A helper of a row, in front of all functions, once.
  void need(std::string_view helper) {
    if (needed_.insert(helper).second) helpers_ += helper.substr(helper.starts_with('\n') ? 1 : 0);
  }
  std::string text() const { return helpers_ + text_; }

 private:
  bool apart_;
  std::map<std::string, std::string> names_;
  std::set<std::string_view> needed_;
  std::string helpers_;
  std::string text_;
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
