#include "spec/lex.h"

#include <algorithm>

namespace morello {

// Not <cctype>: the language does not depend on the locale.
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
static bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

static size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && (is_space(text[at]) || text[at] == '#')) {
    if (text[at] == '#')
      at = std::min(text.find('\n', at), text.size());
    else
      ++at;
  }
  return at;
}

static Token next_token(std::string_view text, size_t at) {
  using Kind = Token::Kind;
  Kind kind = Kind::kPunctuation;
  size_t end = at + 1;
  const auto extend = [&](auto belongs) {
    while (end < text.size() && belongs(text[end])) ++end;
  };
  if (is_letter(text[at])) {
    kind = Kind::kName;
    extend([](char c) { return is_letter(c) || is_digit(c); });
  } else if (is_digit(text[at])) {
    kind = Kind::kNumber;  // 1.5, 2e-3, and 3x, which is refused as a whole
    const auto belongs = [](char c) { return is_letter(c) || is_digit(c) || c == '.'; };
    extend(belongs);
    const bool exponent = text[end - 1] == 'e' || text[end - 1] == 'E';
    if (exponent && end + 1 < text.size() && (text[end] == '-' || text[end] == '+') &&
        is_digit(text[end + 1])) {
      ++end;
      extend(belongs);
    }
  } else if (!is_ascii(text[at])) {
    kind = Kind::kBad;
    extend([](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; });
  } else if (std::string_view("()[]:,=+*-/%").find(text[at]) == std::string_view::npos) {
    kind = Kind::kBad;
  }
  return {kind, text.substr(at, end - at), at};
}

std::vector<Token> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  size_t end = 0;
  for (size_t at = skip_space(text, 0); at < text.size(); at = skip_space(text, end)) {
    tokens.push_back(next_token(text, at));
    end = at + tokens.back().text.size();
  }
  tokens.push_back({Token::Kind::kEnd, text.substr(end, 0), end});
  return tokens;
}

std::string describe(const Token& token) {
  if (token.kind == Token::Kind::kEnd) return "the end of the text";
  if (token.kind == Token::Kind::kBad && !is_ascii(token.text[0]))
    return "a character outside ASCII";
  if (token.kind == Token::Kind::kBad && is_control(token.text[0]))
    return fmt::format("the control character {:#04x}", static_cast<unsigned>(token.text[0]));
  return fmt::format("`{}`", token.text);
}

int Source::line(const Token& at) const {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + at.offset, '\n'));
}

// What a terminal would take for something else. One column per byte, whatever it makes of it.
static void make_visible(std::string& text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return (is_control(c) && c != '\t' && c != '\n') || !is_ascii(c); }, '?');
}

Diagnostic Source::error(const Token& at, std::string message) const {
  const size_t newline = at.offset == 0 ? std::string_view::npos : text.rfind('\n', at.offset - 1);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  std::string shown(text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin));
  if (!shown.empty() && shown.back() == '\r') shown.pop_back();
  make_visible(shown);
  make_visible(message);  // words of quoted texts may have anything
  Diagnostic d = morello::error(std::move(message));
  d.file = file;
  d.line = line(at);
  d.column = static_cast<int>(at.offset - begin) + 1;
  // What goes on in the next line is underlined to the end of this one.
  const size_t left = shown.size() - std::min(shown.size(), at.offset - begin);
  d.length = static_cast<int>(std::max<size_t>(1, std::min(at.text.size(), left)));
  d.source_line = std::move(shown);
  return d;
}

}  // namespace morello
