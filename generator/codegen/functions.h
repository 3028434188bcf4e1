// The helper functions of one variant of a kernel, each text once.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/writer.h"

namespace morello {

class Functions {
 public:
  // `apart`: of all functions, as in add(). Bodies that differ in variables only are one function
  // then, which takes them, and the others call it: kernels of many programs, for all sizes up to
  // a bound, have hundreds of such functions, and compilers take long for each.
  explicit Functions(bool apart = false) : apart_(apart) {}
  // Adds `static void <name>(<params>) noexcept {<body>}`; the name of an equal one if there is
  // one. `apart`: compilers must not put it into its callers.
  std::string add(std::string_view stem, std::string_view params, Body body, bool apart = false);
  std::string add(std::string_view stem, std::string_view params, std::string_view text,
                  bool apart = false);
  // A helper of a row, in front of all functions, once.
  void need(std::string_view helper) {
    if (needed_.insert(helper).second) helpers_ += helper.substr(helper.starts_with('\n') ? 1 : 0);
  }
  std::string text() const;
  bool apart() const { return apart_; }

 private:
  using Values = std::map<std::string, i64>;
  struct Shape {
    std::string stem, params;
    std::vector<BodyPart> parts;
    bool apart = false;
    std::set<std::string> named = {};  // numbers that the parts know by name
    Values fixed = {};                 // all values, where functions are not to take them

    auto operator<=>(const Shape&) const = default;
  };
  struct Named {
    std::string name;
    Values values;
  };
  struct Entry {
    Shape shape;
    std::vector<Named> functions = {};
  };
  static std::map<std::string, std::string_view> free_variables(const Entry& e);
  static std::string text(const Entry& e);

  bool apart_;
  std::map<Shape, size_t> indices_;  // of entries_
  std::vector<Entry> entries_;
  size_t count_ = 0;
  std::set<std::string_view> needed_;
  std::string helpers_;
};

}  // namespace morello
