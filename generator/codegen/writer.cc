#include "codegen/writer.h"

namespace morello {

// Not <cctype>, which depends on the locale.
bool in_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool mentions(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !in_identifier(text[at - 1])) &&
        (end == text.size() || !in_identifier(text[end])))
      return true;
  }
  return false;
}

void Writer::code(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    text_.append(end == 0 ? 0 : 2 * depth_, ' ').append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void Writer::add(BodyPart part, i64 value) {
  const auto [known, added] = done_.values.try_emplace(part.variable, value);
  MORELLO_CHECK(added || known->second == value, "two values of {}", part.variable);
  done_.parts.push_back(std::move(part));
}

void Writer::open_loop(std::string_view i, i64 count) {
  if (depth_ > 1) return open("for (std::ptrdiff_t {0} = 0; {0} < {1}; ++{0})", i, count);
  text_ += fmt::format("{0:{2}}for (std::ptrdiff_t {1} = 0; {1} < ", "", i, 2 * depth_);
  add({std::exchange(text_, {}), fmt::format("{}_end", i)}, count);
  text_ = fmt::format("; ++{}) {{\n", i);
  ++depth_;
}

std::string Writer::number(i64 value) {
  if (!names_) return std::to_string(value);
  const auto [known, added] = numbers_.try_emplace(value, fmt::format("n{}", numbers_.size()));
  if (added) name(known->second, value);
  return known->second;
}

const std::string& Writer::text() const {
  MORELLO_CHECK(done_.parts.empty() && done_.named.empty(), "text that has variables");
  return text_;
}

Body Writer::body() const {
  Body out = done_;
  out.parts.push_back({text_});
  return out;
}

}  // namespace morello
