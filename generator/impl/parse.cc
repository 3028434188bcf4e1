// Text to Impl; the inverse of print.cc. One node per line, its children on the lines below it, two
// spaces further in.

#include <optional>

#include "impl/impl.h"
#include "impl/lines.h"
#include "impl/text.h"

namespace morello {
namespace {

using lines::fail;
using lines::Line;
using lines::Reader;
using lines::Word;

class Parser {
 public:
  Parser(std::span<const Line> lines, int indent, const Problem& p)
      : p_(p), c_(*p.computation), lines_(lines), indent_(indent) {
    for (const Dim& d : c_.dims) dims_.push_back(d.name);
    for (const Operand& o : c_.operands) operands_.push_back(o.name);
  }

  ImplPtr program() {
    if (lines_.empty()) fail(Line{}, 1, 1, "empty program");
    if (lines_[0].indent != indent_)
      fail(lines_[0], 1, lines_[0].indent, "indentation before the root");
    ImplPtr root = node(p_.root().extent);
    if (at_ < lines_.size())
      fail(lines_[at_], lines_[at_].words[0], "a program has one root; this line is beside it");
    return root;
  }

 private:
  // Whether the next line is a child of `parent`; indentation that fits nowhere is an error.
  bool has_child(const Line& parent) const {
    if (at_ == lines_.size() || lines_[at_].indent <= parent.indent) return false;
    lines::expect_indent(lines_[at_], parent.indent + 2);
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
  Impl clip(Reader& r, const Extents& extent);
  Impl block(Reader& r, const Extents& extent);
  Impl call(Reader& r);
  Spec spec(Reader& r);

  const Problem& p_;
  const Computation& c_;
  std::span<const Line> lines_;
  int indent_;
  std::vector<std::string> dims_;
  std::vector<std::string> operands_;
  size_t at_ = 0;
};

ImplPtr Parser::node(const Extents& extent) {
  const Line& line = lines_[at_++];
  Reader r(line, 0);
  enum { kLoop, kSplit, kParallel, kCopy, kView, kClip, kBlock, kCall, kFill, kHole };
  Impl impl;
  switch (r.choose("node", {"loop", "split", "parallel", "copy", "view", "clip", "block", "call",
                            "fill", "hole"})) {
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
    case kClip:
      impl = clip(r, extent);
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
  n.level = r.choose("level", lines::level_names());
  if (r.accept("ahead")) {
    n.ahead_dim = r.choose("dim", dims_);
    n.ahead_in_leaves = r.accept("in");
    if (n.ahead_in_leaves || !copy) r.expect(n.ahead_in_leaves ? "leaves" : "in leaves");
  }
  r.end();
  n.body = child(r.line(), extent);
  return {n};
}

// One part for every shape of a piece.
Impl Parser::clip(Reader& r, const Extents& extent) {
  const Line& head = r.line();
  Clip n{.dim = r.choose("dim", dims_), .parts = {}};
  r.end();
  Spec whole;
  whole.extent = extent;
  const std::vector<Child> shapes = children(p_, whole, {n});
  if (shapes.empty())
    fail(head, head.words[1],
         fmt::format("no window reaches beyond what it reads along {}", dims_[n.dim]));
  for (const Child& shape : shapes) {
    const std::string expected = part_line(p_, n.dim, shape.spec.extent);
    if (!has_child(head)) fail(head, head.words[0], fmt::format("lacks its `{}`", expected));
    const Line& line = lines_[at_++];
    if (line.text.substr(line.indent) != expected)
      fail(line, line.words[0], fmt::format("expected `{}`", expected));
    n.parts.push_back(child(line, shape.spec.extent));
  }
  if (has_child(head)) fail(lines_[at_], lines_[at_].words[0], "there are no more parts");
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
    if (r.accept("to")) n.ahead_to = r.choose("level", lines::level_names());
  }
  n.streaming = r.accept("streaming");
  return {n};
}

// Dims and operands come in the order of the Computation, so no name can be taken for another.
Spec Parser::spec(Reader& r) {
  Spec s;
  s.extent.fill(1);
  for (size_t d = 0; d < dims_.size(); ++d)
    s.extent[d] = lines::number(r.line(), r.expect_key(dims_[d]));
  for (size_t o = 0; o < operands_.size(); ++o) {
    const Word w = r.expect_place(operands_[o]);
    s.place[o].level = lines::choose(r.line(), w, "level", lines::level_names());
    s.place[o].packed = r.accept("packed");
  }
  s.accumulate = r.accept("acc");
  if (std::optional<Word> w = r.accept_key("threads")) s.threads = lines::threads(r.line(), *w);
  while (r.accept("uncut")) s.uncut |= static_cast<std::uint8_t>(1 << r.choose("dim", dims_));
  return s;
}

}  // namespace

ImplPtr lines::read_program(std::span<const Line> lines, int indent, const Problem& p) {
  return Parser(lines, indent, p).program();
}

Result<ImplPtr> parse_impl(std::string_view text, const Problem& p) {
  try {
    return lines::read_program(lines::split_lines(text), 0, p);
  } catch (const lines::Failure& f) {
    return f.diagnostic;
  }
}

}  // namespace morello
