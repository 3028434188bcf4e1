// Text to Impl; the inverse of print.cc. One node per line, its children on the lines below it, two
// spaces further in.

#include <charconv>
#include <limits>
#include <optional>

#include "impl/impl.h"

namespace morello {
namespace {

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

// Thrown inside this file only and caught in parse_impl: a parser of nested text reads better when
// every step need not ask whether the one before failed.
struct Failure {
  Diagnostic diagnostic;
};

[[noreturn]] void fail(const Line& line, int column, size_t length, std::string text) {
  Diagnostic d = error(std::move(text));
  d.file = "<impl>";
  d.line = line.number;
  d.column = column;
  d.length = static_cast<int>(std::max<size_t>(1, length));
  d.source_line = std::string(line.text);
  throw Failure{std::move(d)};
}
[[noreturn]] void fail(const Line& line, const Word& at, std::string text) {
  fail(line, at.column, at.text.size(), std::move(text));
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : ", ") + n;
  return out;
}

// Index of the word in `names`, or an error that says what is allowed.
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

i64 number(const Line& line, const Word& w, i64 least = 1) {
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

std::vector<Word> split_words(std::string_view text) {
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

// Reads the words of one line from left to right.
class Reader {
 public:
  Reader(const Line& line, size_t first) : line_(line), at_(first) {}

  bool done() const { return at_ == line_.words.size(); }
  const Word& next(const char* what) {
    if (done())
      fail(line_, static_cast<int>(line_.text.size()) + 1, 1, fmt::format("expected {}", what));
    return line_.words[at_++];
  }
  bool accept(std::string_view word) {
    if (done() || line_.words[at_].text != word) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view word) {
    const std::string what = fmt::format("`{}`", word);
    const Word& w = next(what.c_str());
    if (w.text != word) fail(line_, w, fmt::format("expected {}, got `{}`", what, w.text));
  }
  int choose(const char* what, const std::vector<std::string>& names) {
    return morello::choose(line_, next(what), what, names);
  }
  i64 number(const char* what, i64 least = 1) { return morello::number(line_, next(what), least); }
  int threads() { return morello::threads(line_, next("a number of threads")); }
  // The rest of "key=value".
  std::optional<Word> accept_key(std::string_view key) {
    if (done()) return std::nullopt;
    Word w = line_.words[at_];
    if (w.text.size() <= key.size() || !w.text.starts_with(key) || w.text[key.size()] != '=')
      return std::nullopt;
    ++at_;
    w.text.remove_prefix(key.size() + 1);
    w.column += static_cast<int>(key.size()) + 1;
    return w;
  }
  Word expect_key(const std::string& key) {
    if (std::optional<Word> w = accept_key(key)) return *w;
    const std::string what = fmt::format("`{}=...`", key);
    const Word& w = next(what.c_str());
    fail(line_, w, fmt::format("expected {}, got `{}`", what, w.text));
  }
  void end() const {
    if (!done())
      fail(line_, line_.words[at_], fmt::format("unexpected `{}`", line_.words[at_].text));
  }
  const Line& line() const { return line_; }

 private:
  const Line& line_;
  size_t at_;
};

std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (Level l = 0; l < kLevels; ++l) names.emplace_back(level_name(l));
  return names;
}

class Parser {
 public:
  Parser(std::string_view text, const Problem& p) : p_(p), c_(*p.computation) {
    lines_ = split_lines(text);
    for (const Dim& d : c_.dims) dims_.push_back(d.name);
    for (const Operand& o : c_.operands) operands_.push_back(o.name);
  }

  ImplPtr program() {
    if (lines_.empty()) fail(Line{}, 1, 1, "empty program");
    if (lines_[0].indent != 0) fail(lines_[0], 1, lines_[0].indent, "indentation before the root");
    ImplPtr root = node(p_.root().extent);
    if (at_ < lines_.size())
      fail(lines_[at_], lines_[at_].words[0], "a program has one root; this line is beside it");
    return root;
  }

 private:
  // Whether the next line is a child of `parent`; indentation that fits nowhere is an error.
  bool has_child(const Line& parent) const {
    if (at_ == lines_.size() || lines_[at_].indent <= parent.indent) return false;
    const Line& line = lines_[at_];
    if (line.indent != parent.indent + 2)
      fail(
          line, 1, line.indent,
          fmt::format("expected {} spaces of indentation, got {}", parent.indent + 2, line.indent));
    return true;
  }
  // The only child of `parent`.
  ImplPtr child(const Line& parent, const Extents& extent) {
    if (!has_child(parent))
      fail(parent, parent.words[0],
           fmt::format("`{}` needs a child, indented below it", parent.words[0].text));
    ImplPtr only = node(extent);
    if (has_child(parent))
      fail(lines_[at_], lines_[at_].words[0],
           fmt::format("`{}` has one child; this is a second", parent.words[0].text));
    return only;
  }
  bool at_section() const {
    const std::string_view w = lines_[at_].words[0].text;
    return w == "first" || w == "body" || w == "rest";
  }

  ImplPtr node(const Extents& extent);
  Impl loop(Reader& r, const Extents& extent, std::string_view word);
  void sections(const Line& parent, Loop& loop, Extents extent);
  Impl move(Reader& r, const Extents& extent, bool copy);
  Impl block(Reader& r, const Extents& extent);
  Impl call(Reader& r);
  Spec spec(Reader& r);

  const Problem& p_;
  const Computation& c_;
  std::vector<Line> lines_;
  std::vector<std::string> dims_;
  std::vector<std::string> operands_;
  size_t at_ = 0;
};

ImplPtr Parser::node(const Extents& extent) {
  const Line& line = lines_[at_++];
  Reader r(line, 0);
  enum { kLoop, kSplit, kParallel, kCopy, kView, kBlock, kCall, kFill, kHole };
  Impl impl;
  switch (r.choose(
      "node", {"loop", "split", "parallel", "copy", "view", "block", "call", "fill", "hole"})) {
    case kLoop:
    case kSplit:
    case kParallel:
      impl = loop(r, extent, line.words[0].text);
      break;
    case kCopy:
      impl = move(r, extent, true);
      break;
    case kView:
      impl = move(r, extent, false);
      break;
    case kBlock:
      impl = block(r, extent);
      break;
    case kCall:
      impl = call(r);
      break;
    case kFill:
      impl.node = Call{.kind = Call::Kind::kFill};
      break;
    case kHole:
      impl.node = Hole{spec(r)};
      break;
  }
  r.end();
  const bool leaf =
      std::holds_alternative<Call>(impl.node) || std::holds_alternative<Hole>(impl.node);
  if (leaf && has_child(line))
    fail(lines_[at_], lines_[at_].words[0],
         fmt::format("`{}` has no children", line.words[0].text));
  return std::make_shared<const Impl>(std::move(impl));
}

Impl Parser::loop(Reader& r, const Extents& extent, std::string_view word) {
  Loop n;
  n.parallel = word == "parallel";
  const bool split = n.parallel ? r.accept("split") : word == "split";
  n.dim = r.choose("dim", dims_);
  const bool reduction = c_.dims[n.dim].reduction;
  if (reduction != split)
    fail(r.line(), r.line().words[0],
         fmt::format("{} is a {} dim: write `{} {} by ...`", dims_[n.dim],
                     reduction ? "reduction" : "parallel",
                     reduction    ? n.parallel ? "parallel split" : "split"
                     : n.parallel ? "parallel"
                                  : "loop",
                     dims_[n.dim]));
  r.expect("by");
  n.tile = r.number("a tile size");
  if (n.parallel && r.accept("leaving")) n.threads = r.threads();
  r.end();
  Extents tile = extent;
  tile[n.dim] = n.tile;
  if (has_child(r.line()) && at_section()) {
    sections(r.line(), n, extent);
  } else {
    n.body = child(r.line(), tile);
  }
  return {n};
}

void Parser::sections(const Line& parent, Loop& loop, Extents extent) {
  const i64 remainder = extent[loop.dim] % loop.tile;
  const std::vector<std::string> names{"first", "body", "rest"};
  ImplPtr* const slots[] = {&loop.first, &loop.body, &loop.rest};
  int last = -1;
  while (has_child(parent)) {
    const Line& line = lines_[at_++];
    Reader r(line, 0);
    const int s = r.choose("part of a loop", names);
    if (s <= last) fail(line, line.words[0], fmt::format("`{}` after `{}`", names[s], names[last]));
    last = s;
    extent[loop.dim] = s == 2 ? remainder : loop.tile;
    if (s == 2 && (r.done() || r.number("an extent", 0) != remainder))
      fail(line, line.words.back(), fmt::format("the remainder here is {}", remainder));
    r.end();
    *slots[s] = child(line, extent);
  }
}

Impl Parser::move(Reader& r, const Extents& extent, bool copy) {
  Move n;
  n.copy = copy;
  n.operand = r.choose("operand", operands_);
  r.expect("to");
  n.level = r.choose("level", level_names());
  r.end();
  n.body = child(r.line(), extent);
  return {n};
}

Impl Parser::block(Reader& r, const Extents& extent) {
  r.end();
  Block n;
  while (has_child(r.line())) n.parts.push_back(node(extent));
  return {n};
}

Impl Parser::call(Reader& r) {
  Call n;
  if (r.accept("ahead")) {
    n.ahead_operand = r.choose("operand", operands_);
    n.ahead_bytes = r.number("a number of bytes", 0);
  }
  return {n};
}

// Dims and operands come in the order of the Computation, so no name can be taken for another.
Spec Parser::spec(Reader& r) {
  Spec s;
  s.extent.fill(1);
  for (size_t d = 0; d < dims_.size(); ++d) s.extent[d] = number(r.line(), r.expect_key(dims_[d]));
  for (size_t o = 0; o < operands_.size(); ++o) {
    const std::string what = fmt::format("`{}@...`", operands_[o]);
    Word w = r.next(what.c_str());
    if (!w.text.starts_with(operands_[o] + "@"))
      fail(r.line(), w, fmt::format("expected {}, got `{}`", what, w.text));
    w.text.remove_prefix(operands_[o].size() + 1);
    w.column += static_cast<int>(operands_[o].size()) + 1;
    s.place[o].level = choose(r.line(), w, "level", level_names());
    s.place[o].packed = r.accept("packed");
  }
  s.accumulate = r.accept("acc");
  if (std::optional<Word> w = r.accept_key("threads")) s.threads = threads(r.line(), *w);
  return s;
}

}  // namespace

Result<ImplPtr> parse_impl(std::string_view text, const Problem& p) {
  try {
    return Parser(text, p).program();
  } catch (const Failure& f) {
    return f.diagnostic;
  }
}

}  // namespace morello
