#include "import/scan.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace morello::hlo {

// Not <cctype>: the formats do not depend on the locale.
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.' ||
         c == '$';
}
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void Scanner::skip() {
  for (;;) {
    const std::string_view left = rest();
    if (left.empty()) return;
    if (is_space(left[0])) {
      ++at_;
    } else if (left.starts_with("//")) {
      skip_line();
    } else if (left.starts_with("/*")) {
      const size_t close = left.find("*/", 2);
      at_ = close == std::string_view::npos ? end() : at_ + close + 2;
    } else {
      return;
    }
  }
}

void Scanner::skip_line() { at_ += std::min(rest().find('\n'), rest().size()); }

bool Scanner::take(std::string_view text) {
  if (!is(text)) return false;
  at_ += text.size();
  return true;
}

bool Scanner::is_word(std::string_view text) {
  const size_t before = at_;
  const bool same = word().text == text;
  at_ = before;
  return same;
}

bool Scanner::take_word(std::string_view text) {
  const size_t before = at_;
  if (word().text == text) return true;
  at_ = before;
  return false;
}

bool Scanner::is_number() {
  skip();
  const std::string_view left = rest();
  return !left.empty() &&
         (is_digit(left[0]) || (left[0] == '-' && left.size() > 1 && is_digit(left[1])));
}

Token Scanner::word() {
  skip();
  const size_t from = at_;
  const auto goes_on = [&] {
    const std::string_view left = rest();
    if (left.empty()) return false;
    return is_word_char(left[0]) ||
           (left[0] == '-' && at_ > from && left.size() > 1 && is_word_char(left[1]));
  };
  while (goes_on()) ++at_;
  return token(from);
}

Token Scanner::name(std::string_view signs) {
  skip();
  if (rest().empty() || signs.find(rest()[0]) == std::string_view::npos) return token(at_);
  ++at_;
  if (!rest().empty() && rest()[0] == '"') {  // @"a name"
    const size_t from = at_ + 1;
    if (!string()) return token(at_);
    return {Token::Kind::kName, source_.text.substr(from, at_ - 1 - from), from};
  }
  const size_t from = at_;
  while (!rest().empty() && (is_word_char(rest()[0]) || rest()[0] == '-') &&
         !rest().starts_with("->"))
    ++at_;
  return token(from);
}

bool Scanner::string() {
  const size_t from = at_++;
  while (!rest().empty() && rest()[0] != '"') at_ += rest()[0] == '\\' ? 2 : 1;
  if (rest().empty()) {
    at_ = from + 1;
    return fail(token(from), "nothing ends the text that begins here");
  }
  ++at_;
  return true;
}

bool Scanner::group(Token& out) {
  static constexpr std::string_view kOpen = "([{<", kClose = ")]}>";
  skip();
  const size_t from = at_;
  std::string open;
  do {
    if (rest().empty()) {
      at_ = from + 1;
      return fail(token(from), "nothing closes this bracket");
    }
    const char c = rest()[0];
    if (c == '"') {
      if (!string()) return false;
      continue;
    }
    if (rest().starts_with("->")) {
      at_ += 2;
      continue;
    }
    ++at_;
    if (kOpen.find(c) != std::string_view::npos) {
      open += kClose[kOpen.find(c)];
    } else if (kClose.find(c) != std::string_view::npos) {
      if (c != open.back()) return fail(token(at_ - 1), fmt::format("expected `{}`", open.back()));
      open.pop_back();
    }
  } while (!open.empty());
  out = token(from);
  return true;
}

bool Scanner::unit() {
  Token ignored;
  skip();
  if (rest().empty()) return true;
  if (rest()[0] == '"') return string();
  if (std::string_view("([{<").find(rest()[0]) != std::string_view::npos) return group(ignored);
  if (rest()[0] == '@' || rest()[0] == '#' || rest()[0] == '-' || rest()[0] == '%') ++at_;
  word();
  return rest().empty() || rest()[0] != '<' || group(ignored);
}

bool Scanner::value(Token& out) {
  skip();
  const size_t from = at_;
  if (!unit()) return false;
  for (size_t end_of_value = at_; at_ > from; end_of_value = at_) {
    if (!take("->") && !(is("x [") || is("x[") ? take("x") : false)) {
      at_ = end_of_value;
      break;
    }
    if (!unit()) return false;
  }
  out = token(from);
  return true;
}

bool Scanner::rest_of_item(Token& out) {
  skip();
  const size_t from = at_;
  Token ignored;
  while (!rest().empty() && rest()[0] != ',' && rest()[0] != '\n') {
    if (rest()[0] == '"') {
      if (!string()) return false;
    } else if (std::string_view("([{").find(rest()[0]) != std::string_view::npos) {
      if (!group(ignored)) return false;
    } else {
      ++at_;
    }
  }
  while (at_ > from && is_space(source_.text[at_ - 1])) --at_;
  out = token(from);
  return true;
}

Token Scanner::here() {
  const size_t before = at_;
  Token t = word();
  if (t.text.empty()) t = {Token::Kind::kPunctuation, rest().substr(0, 1), at_};
  if (t.text.empty()) t.kind = Token::Kind::kEnd;
  if (!t.text.empty() && (static_cast<unsigned char>(t.text[0]) < 0x20 || t.text[0] > 0x7e ||
                          static_cast<unsigned char>(t.text[0]) >= 0x7f))
    t.kind = Token::Kind::kBad;
  at_ = before;
  return t;
}

bool Scanner::expected(std::string_view what) {
  const Token at = here();
  return fail(at, fmt::format("expected {}; got {}", what, describe(at)));
}

bool Scanner::fail(const Token& at, std::string message) {
  error_ = source_.error(at, std::move(message));
  return false;
}

bool read_numbers(const Source& source, const Token& value, Numbers& out, Diagnostic& error) {
  Scanner in(source, value);
  int depth = 0;
  while (!in.at_end()) {
    const bool number = in.is_number();
    const bool negative = number && in.take("-");
    const Token word = in.word();
    if (word.text.empty()) {
      const Token mark = in.here();
      if (mark.text == ":" && depth == 0) break;
      if (mark.text == "[" || mark.text == "{" || mark.text == "<") ++depth;
      if (mark.text == "]" || mark.text == "}" || mark.text == ">") --depth;
      in.take(mark.text);
    } else if (number) {
      i64 n = 0;
      const auto [end, status] =
          std::from_chars(word.text.data(), word.text.data() + word.text.size(), n);
      if (status != std::errc() || end != word.text.data() + word.text.size()) {
        error = source.error(word, fmt::format("`{}` is not a whole number", word.text));
        return false;
      }
      out.push_back(negative ? -n : n);
    } else if (word.text == "true" || word.text == "false") {
      out.push_back(word.text == "true");
    }
  }
  return true;
}

// The value of an IEEE number with this many bits of exponent and mantissa.
static double from_bits(std::uint64_t bits, int exponent, int mantissa) {
  const std::uint64_t fraction = bits & ((1ULL << mantissa) - 1);
  const int power = static_cast<int>((bits >> mantissa) & ((1ULL << exponent) - 1));
  const int bias = (1 << (exponent - 1)) - 1;
  const double sign = (bits >> (mantissa + exponent)) & 1 ? -1 : 1;
  if (power == 2 * bias + 1)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  const double whole = power == 0 ? 0 : 1;
  return sign * std::ldexp(whole + std::ldexp(static_cast<double>(fraction), -mantissa),
                           std::max(power, 1) - bias);
}

double read_element(std::string_view text, int bits, bool is_bf16) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (text == "true") return 1;
  if (text == "false") return 0;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint64_t raw = 0;
    const auto [end, status] = std::from_chars(text.data() + 2, text.data() + text.size(), raw, 16);
    if (status != std::errc() || end != text.data() + text.size()) return kNone;
    return bits == 32 ? from_bits(raw, 8, 23)
           : is_bf16  ? from_bits(raw, 8, 7)
                      : from_bits(raw, 5, 10);
  }
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size() ? value : kNone;
}

}  // namespace morello::hlo
