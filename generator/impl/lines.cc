#include "impl/lines.h"

#include <charconv>
#include <limits>

namespace morello::lines {

void fail(const Line& line, int column, size_t length, std::string text) {
  Diagnostic d = error(std::move(text));
  d.file = "<impl>";
  d.line = line.number;
  d.column = column;
  d.length = static_cast<int>(std::max<size_t>(1, length));
  d.source_line = std::string(line.text);
  throw Failure{std::move(d)};
}
void fail(const Line& line, const Word& at, std::string text) {
  fail(line, at.column, at.text.size(), std::move(text));
}

void expect_indent(const Line& line, int spaces) {
  if (line.indent != spaces)
    fail(line, 1, line.indent,
         fmt::format("expected {} spaces of indentation, got {}", spaces, line.indent));
}

static std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : ", ") + n;
  return out;
}

int choose(const Line& line, const Word& w, const char* what,
           const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == w.text) return static_cast<int>(i);
  const std::string near = nearest(w.text, names);
  fail(line, w,
       fmt::format(
           "no {} `{}`; {}", what, w.text,
           near.empty() ? "allowed: " + listed(names) : fmt::format("did you mean `{}`?", near)));
}

i64 number(const Line& line, const Word& w, i64 least) {
  i64 value = 0;
  const char* end = w.text.data() + w.text.size();
  const auto [stop, ec] = std::from_chars(w.text.data(), end, value);
  if (ec != std::errc{} || stop != end || value < least)
    fail(line, w, fmt::format("`{}` is no whole number of at least {}", w.text, least));
  return value;
}

int threads(const Line& line, const Word& w) {
  const i64 value = number(line, w);
  if (value > std::numeric_limits<int>::max()) fail(line, w, "too many threads");
  return static_cast<int>(value);
}

static std::vector<Word> split_words(std::string_view text) {
  std::vector<Word> words;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    if (end > i) words.push_back({text.substr(i, end - i), static_cast<int>(i) + 1});
    i = end + 1;
  }
  return words;
}

std::vector<Line> split_lines(std::string_view text) {
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    Line line{.number = number, .text = text.substr(0, end), .indent = 0, .words = {}};
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.text.ends_with('\r')) line.text.remove_suffix(1);
    line.words = split_words(line.text);
    if (line.words.empty()) continue;
    line.indent = line.words[0].column - 1;
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (Level l = 0; l < kLevels; ++l) names.emplace_back(level_name(l));
  return names;
}

const Word& Reader::next(const char* what) {
  if (done())
    fail(line_, static_cast<int>(line_.text.size()) + 1, 1, fmt::format("expected {}", what));
  return line_.words[at_++];
}

bool Reader::accept(std::string_view word) {
  if (done() || line_.words[at_].text != word) return false;
  ++at_;
  return true;
}

void Reader::expect(std::string_view word) {
  const std::string what = fmt::format("`{}`", word);
  const Word& w = next(what.c_str());
  if (w.text != word) fail(line_, w, fmt::format("expected {}, got `{}`", what, w.text));
}

void Reader::end() const {
  if (!done()) fail(line_, line_.words[at_], fmt::format("unexpected `{}`", line_.words[at_].text));
}

// What is behind the beginning of a word.
static Word behind(Word w, size_t length) {
  w.text.remove_prefix(length);
  w.column += static_cast<int>(length);
  return w;
}

std::optional<Word> Reader::accept_key(std::string_view key) {
  if (done()) return std::nullopt;
  const Word& w = line_.words[at_];
  if (w.text.size() <= key.size() || !w.text.starts_with(key) || w.text[key.size()] != '=')
    return std::nullopt;
  ++at_;
  return behind(w, key.size() + 1);
}

Word Reader::expect_key(const std::string& key) {
  if (std::optional<Word> w = accept_key(key)) return *w;
  const std::string what = fmt::format("`{}=...`", key);
  const Word& w = next(what.c_str());
  fail(line_, w, fmt::format("expected {}, got `{}`", what, w.text));
}

Word Reader::expect_place(const std::string& operand) {
  const std::string what = fmt::format("`{}@...`", operand);
  const Word& w = next(what.c_str());
  if (!w.text.starts_with(operand + "@"))
    fail(line_, w, fmt::format("expected {}, got `{}`", what, w.text));
  return behind(w, operand.size() + 1);
}

}  // namespace morello::lines
