// Reading HLO and StableHLO text: words, brackets and values, with their places. Both formats are
// read by recursive descent over this; a method returns false after the first error is in error().
#pragma once

#include <vector>

#include "spec/lex.h"

namespace morello::hlo {

using Numbers = std::vector<i64>;

class Scanner {
 public:
  explicit Scanner(const Source& source) : source_(source) {}
  // Only what is between the ends of `part`, for a closer look at it.
  Scanner(const Source& source, const Token& part)
      : source_(source), at_(part.offset), end_(part.offset + part.text.size()) {}

  bool at_end() { return skip(), at_ >= end(); }
  // Whether the text goes on so, behind blanks and comments.
  bool is(std::string_view text) { return skip(), rest().starts_with(text); }
  bool is_word(std::string_view text);
  bool is_number();
  bool take(std::string_view text);
  bool take_word(std::string_view text);
  bool expect(std::string_view text, std::string_view what) { return take(text) || expected(what); }

  // Letters, digits, `_ . $`, and `-` between them; empty text if none is here.
  Token word();
  // `%x`, `@x` and so on: the sign is one of `signs`. The token is what stands behind it.
  Token name(std::string_view signs);
  // From an opening bracket to the one that closes it, both included.
  bool group(Token& out);
  // A word, number, string or group, and what is joined to it: `dense<0> `, `[1] x [0]`,
  // `b01f_01io->b01f`. Empty text if none is here.
  bool value(Token& out);
  // Everything up to a `,` or the end of the line, outside brackets.
  bool rest_of_item(Token& out);
  void skip_line();
  // Whether `c` follows without a blank.
  bool touches(char c) const { return !rest().empty() && rest()[0] == c; }
  void back_to(const Token& t) { at_ = t.offset; }

  // The next piece of text, for messages.
  Token here();
  bool expected(std::string_view what);
  bool fail(const Token& at, std::string message);
  bool fail(Diagnostic d) { return error_ = std::move(d), false; }
  const Diagnostic& error() const { return error_; }
  const Source& source() const { return source_; }

 private:
  void skip();
  size_t end() const { return std::min(end_, source_.text.size()); }
  std::string_view rest() const { return source_.text.substr(at_, end() - at_); }
  Token token(size_t from) const {
    return {Token::Kind::kName, source_.text.substr(from, at_ - from), from};
  }
  bool string();
  bool unit();

  const Source& source_;
  size_t at_ = 0;
  size_t end_ = std::string_view::npos;
  Diagnostic error_;
};

// The integers of a value, `true` and `false` as 1 and 0; words and what follows a `:` outside
// brackets are left out: `array<i64: 1, 0>`, `dense<[[3, 3]]> : tensor<1x2xi64>`, `{1,0}`.
bool read_numbers(const Source& source, const Token& value, Numbers& out, Diagnostic& error);

// A number of an element type: decimal, `inf`, `true`, or the bits in hexadecimal (`0xFF800000`).
// NaN where the text is none.
double read_element(std::string_view text, int bits, bool is_bf16);

}  // namespace morello::hlo
