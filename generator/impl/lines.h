// For parsers of nested text: one node per line, its children on the lines below it, two spaces
// further in. A Failure is thrown within a parser and caught where it begins: nested text reads
// better when no step needs to ask whether the one before failed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impl/impl.h"

namespace morello::lines {

struct Word {
  std::string_view text;
  int column = 1;
};

struct Line {
  int number = 1;
  std::string_view text;
  int indent = 0;
  std::vector<Word> words;
};

struct Failure {
  Diagnostic diagnostic;
};

[[noreturn]] void fail(const Line& line, int column, size_t length, std::string text);
[[noreturn]] void fail(const Line& line, const Word& at, std::string text);

void expect_indent(const Line& line, int spaces);

// Lines that have words.
std::vector<Line> split_lines(std::string_view text);

// Index of the word in `names`, or an error that says what is allowed.
int choose(const Line& line, const Word& w, const char* what,
           const std::vector<std::string>& names);
i64 number(const Line& line, const Word& w, i64 least = 1);
int threads(const Line& line, const Word& w);
std::vector<std::string> level_names();

// Reads the words of one line from left to right.
class Reader {
 public:
  Reader(const Line& line, size_t first) : line_(line), at_(first) {}

  bool done() const { return at_ == line_.words.size(); }
  const Line& line() const { return line_; }
  const Word& next(const char* what);
  bool accept(std::string_view word);
  void expect(std::string_view word);
  void end() const;
  int choose(const char* what, const std::vector<std::string>& names) {
    return lines::choose(line_, next(what), what, names);
  }
  i64 number(const char* what, i64 least = 1) { return lines::number(line_, next(what), least); }
  int threads() { return lines::threads(line_, next("a number of threads")); }
  // The rest of "key=value".
  std::optional<Word> accept_key(std::string_view key);
  Word expect_key(const std::string& key);
  // The rest of "operand@level".
  Word expect_place(const std::string& operand);

 private:
  const Line& line_;
  size_t at_;
};

// The program of a Problem on these lines, the first of which is indented so far. Throws a Failure.
ImplPtr read_program(std::span<const Line> lines, int indent, const Problem& p);

}  // namespace morello::lines
