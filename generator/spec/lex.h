// Tokens of the spec language, and their places in the user's text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/diag.h"

namespace morello {

struct Token {
  enum class Kind { kName, kNumber, kPunctuation, kBad, kEnd } kind = Kind::kEnd;
  std::string_view text;
  size_t offset = 0;  // in the whole text
};

struct Source {
  std::string_view text;
  std::string file;
  // `message` at a place in the text, with its line and a caret.
  Diagnostic error(const Token& at, std::string message) const;
  int line(const Token& at) const;
};

// Never fails: what is no token is kBad, and the parser refuses it when it gets there. The last
// token is kEnd, just behind the last word.
std::vector<Token> tokenize(std::string_view text);

// For messages: "`x`", "the end of the text", "a character outside ASCII".
std::string describe(const Token& token);

}  // namespace morello
