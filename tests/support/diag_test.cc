#include "support/diag.h"

#include <doctest/doctest.h>

namespace morello {
namespace {

Diagnostic placed(std::string source_line, int column, int length) {
  Diagnostic d = error("wrong");
  d.file = "f.spec";
  d.line = 3;
  d.column = column;
  d.length = length;
  d.source_line = std::move(source_line);
  return d;
}

TEST_CASE("a diagnostic prints its place, the line and a caret") {
  struct Row {
    Diagnostic d;
    std::string text;
  };
  Diagnostic noted = placed("ab cd", 1, 1);
  noted.notes = {"first", "second"};
  Diagnostic only_file = error("no such file");
  only_file.file = "f.spec";
  const Row rows[] = {
      {error("wrong"), "error: wrong\n"},
      {only_file, "f.spec: error: no such file\n"},
      {placed("ab cd", 4, 2), "f.spec:3:4: error: wrong\n  ab cd\n     ^~\n"},
      {placed("ab", 3, 1), "f.spec:3:3: error: wrong\n  ab\n    ^\n"},
      {placed("\tab", 2, 1), "f.spec:3:2: error: wrong\n  \tab\n  \t^\n"},
      {placed("ab", 1, 0), "f.spec:3:1: error: wrong\n  ab\n  ^\n"},
      {placed("", 1, 1), "f.spec:3:1: error: wrong\n"},
      {noted, "f.spec:3:1: error: wrong\n  ab cd\n  ^\nnote: first\nnote: second\n"},
  };
  for (const Row& row : rows) CHECK(row.d.str() == row.text);
}

TEST_CASE("of a long line what is around the caret") {
  const std::string a(200, 'a'), z(200, 'z'), euros = "\u20ac\u20ac\u20ac\u20ac";
  struct Row {
    std::string line;
    int column, length;
    std::string text, below;
  };
  const Row rows[] = {
      {a + "bcd" + z, 201, 3, a + "bcd" + z.substr(0, 97) + "...", std::string(200, ' ') + "^~~"},
      {a + a + "bcd" + z, 401, 3, "..." + a + "bcd" + z.substr(0, 97) + "...",
       std::string(203, ' ') + "^~~"},
      {a + a + z, 600, 1, "..." + a.substr(0, 1) + z, std::string(203, ' ') + "^"},
      {a + a + z, 601, 1, "..." + z, std::string(203, ' ') + "^"},
      {a + z, 1, 900, a + z.substr(0, 100) + "...", "^" + std::string(299, '~')},
      // Not in the middle of a character.
      {euros + a.substr(1) + z, 208, 1,
       "..." + euros.substr(9) + a.substr(1) + z.substr(0, 98) + "...",
       std::string(201, ' ') + "^"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    CAPTURE(row.column);
    CHECK(placed(row.line, row.column, row.length).str() ==
          fmt::format("f.spec:3:{}: error: wrong\n  {}\n  {}\n", row.column, row.text, row.below));
  }
}

TEST_CASE("nearest proposes a word within a third of the given one's length") {
  struct Row {
    std::string given, best;
  };
  const std::vector<std::string> words = {"f32", "bf16", "matmul", "reduce_sum"};
  const Row rows[] = {
      {"f32", "f32"},
      {"f3", "f32"},
      {"fp32", "f32"},
      {"f64", ""},
      {"mamul", "matmul"},
      {"matmull", "matmul"},
      {"reducesum", "reduce_sum"},
      {"softmax", ""},
      {"", ""},
      {"MATMUL", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.given);
    CHECK(nearest(row.given, words) == row.best);
  }
  CHECK(nearest("ab", {"ac", "ad"}) == "ac");  // the first of equals
  CHECK(nearest("x", {}).empty());
}

TEST_CASE("a Result is a value or an error") {
  const Result<int> value = 3;
  const Result<int> none = error("no");
  CHECK(value.ok());
  CHECK(*value == 3);
  CHECK_FALSE(none.ok());
  CHECK(none.error().text == "no");
}

}  // namespace
}  // namespace morello
