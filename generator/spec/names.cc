#include "spec/names.h"

#include <algorithm>
#include <iterator>

namespace morello {

static constexpr std::string_view kKeywords[] = {
    "alignas",   "alignof",   "and",       "and_eq",        "asm",         "auto",
    "bitand",    "bitor",     "bool",      "break",         "case",        "catch",
    "char",      "char16_t",  "char32_t",  "char8_t",       "class",       "co_await",
    "co_return", "co_yield",  "compl",     "concept",       "const",       "const_cast",
    "consteval", "constexpr", "constinit", "continue",      "decltype",    "default",
    "delete",    "do",        "double",    "dynamic_cast",  "else",        "enum",
    "explicit",  "export",    "extern",    "false",         "float",       "for",
    "friend",    "goto",      "if",        "inline",        "int",         "long",
    "mutable",   "namespace", "new",       "noexcept",      "not",         "not_eq",
    "nullptr",   "operator",  "or",        "or_eq",         "private",     "protected",
    "public",    "register",  "requires",  "return",        "short",       "reinterpret_cast",
    "signed",    "sizeof",    "static",    "static_assert", "static_cast", "struct",
    "switch",    "template",  "this",      "thread_local",  "throw",       "true",
    "try",       "typedef",   "typeid",    "typename",      "union",       "unsigned",
    "using",     "virtual",   "void",      "volatile",      "wchar_t",     "while",
    "xor",       "xor_eq",
};

// Names the generated code itself uses beside the user's, and macros that compilers and the
// standard headers define with ordinary names (`linux` and `unix` in the GNU dialects).
static constexpr std::string_view kReserved[] = {"out",   "pool",  "workspace", "std",   "NULL",
                                                 "errno", "linux", "unix",      "assert"};

template <size_t n>
static bool contains(const std::string_view (&list)[n], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

static bool is_identifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

std::string name_problem(std::string_view name) {
  if (!is_identifier(name)) return "a name is a letter followed by letters, digits and underscores";
  if (contains(kKeywords, name)) return "it is a C++ keyword";
  if (contains(kReserved, name)) return "the generated code needs it";
  if (name == kInfinity) return "it is a number";
  if (name.starts_with("morello")) return "names that begin with `morello` are kept for Morello";
  if (name[0] == '_') return "C++ reserves names that begin with an underscore";
  if (name.find("__") != std::string_view::npos)
    return "C++ reserves names with two underscores in a row";
  return "";
}

}  // namespace morello
