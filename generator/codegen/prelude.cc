#include "codegen/prelude.h"

#include <vector>

#include "codegen/writer.h"
#include "support/diag.h"

namespace morello {
namespace {

constexpr std::string_view kHead = "MORELLO_UNUSED MORELLO_TARGET static inline ";

std::vector<std::string_view> functions(std::string_view prelude) {
  std::vector<std::string_view> out;
  const size_t first = prelude.find_first_not_of('\n');
  MORELLO_CHECK(first == prelude.npos || prelude.substr(first).starts_with(kHead),
                "helpers begin with `{}`: {}", kHead, prelude);
  for (size_t at = prelude.find(kHead); at != prelude.npos;) {
    const size_t next = prelude.find(kHead, at + 1);
    std::string_view function = prelude.substr(at, next == prelude.npos ? next : next - at);
    while (function.ends_with("\n\n")) function.remove_suffix(1);
    out.push_back(function);
    at = next;
  }
  return out;
}

std::string_view name(std::string_view function) {
  const size_t end = function.find('(');
  MORELLO_CHECK(end != function.npos, "a helper without parameters: {}", function);
  size_t begin = end;
  while (begin > 0 && in_identifier(function[begin - 1])) --begin;
  return function.substr(begin, end - begin);
}

bool calls(std::string_view code, std::string_view name) {
  for (size_t at = code.find(name); at != code.npos; at = code.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at == 0 || !in_identifier(code[at - 1]);
    if (begins && end < code.size() && code[end] == '(') return true;
  }
  return false;
}

}  // namespace

std::string needed_helpers(std::string_view prelude, std::string_view code) {
  const std::vector<std::string_view> all = functions(prelude);
  std::string out;
  for (size_t i = all.size(); i-- > 0;)
    if (calls(code, name(all[i])) || calls(out, name(all[i]))) out.insert(0, all[i]);
  return out;
}

}  // namespace morello
