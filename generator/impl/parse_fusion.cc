// Text to Fusion; the inverse of its print().

#include <algorithm>

#include "impl/fusion.h"
#include "impl/lines.h"
#include "impl/stage_output.h"
#include "impl/text.h"
#include "spec/algebra.h"

namespace morello {
namespace {

using lines::fail;
using lines::Line;
using lines::Reader;
using lines::Word;

// What the nodes around one say.
struct Here {
  GraphExtents extents;
  Buffers buffers;
  bool beside = false;
};

bool is_call(const Line& line) {
  return line.words[0].text.ends_with(':') ||
         (line.words.size() > 1 && line.words[1].text == "adding:");
}

class Parser {
 public:
  Parser(std::string_view text, const KernelSpec& spec, const Machine& machine, const Isa& isa,
         RowShare share)
      : machine_(machine), isa_(isa), share_(share), lines_(lines::split_lines(text)) {
    fusion_.graph = std::make_shared<const Graph>(head(graph_of(spec)));
    for (const GraphDim& d : g().dims) dims_.push_back(d.name);
    for (size_t s = 0; s < g().stages.size(); ++s)
      made_.push_back(g().tensors[g().made_by(static_cast<int>(s))].name);
  }

  Fusion program() {
    if (at_ == lines_.size()) fail(Line{}, 1, 1, "empty program");
    fusion_.root = nodes(0, {whole(g()), {}, false});
    return std::move(fusion_);
  }

 private:
  const Graph& g() const { return *fusion_.graph; }
  // Whether the next line has so many words, this one first.
  bool at(std::string_view word, size_t words) const {
    return at_ < lines_.size() && lines_[at_].words.size() == words &&
           lines_[at_].words[0].text == word && !is_call(lines_[at_]);
  }
  bool has_child(const Line& parent) const {
    if (at_ == lines_.size() || lines_[at_].indent <= parent.indent) return false;
    lines::expect_indent(lines_[at_], parent.indent + 2);
    return true;
  }

  Graph head(Graph given);
  FusedPtr nodes(int indent, const Here& here);
  FusedPtr children(const Line& parent, const Here& here);
  FusedPtr node(const Here& here);
  Tile tile(Reader& r, Here here, bool parallel);
  bool at_section(const Line& loop, std::string_view word) const;
  FusedPtr section(const Line& loop, const std::string& title, const Here& here);
  Sequence stored(Reader& r, Here here);
  int stored_tensor(Reader& r, const Here& here);
  bool shape(Reader& r, int tensor, const Here& here);
  StageCall call(Reader& r, const Here& here);
  int threads(Reader& r) const;
  static void asks(Reader& r, const Computation& c, Part& p);
  Part part(Reader& r, const Computation& c, const Here& here);
  Family family(Reader& r, const Computation& c, int stage, const Here& here);

  const Machine& machine_;
  const Isa& isa_;
  const RowShare share_;
  Fusion fusion_;
  std::vector<Line> lines_;
  size_t at_ = 0;
  std::vector<std::string> dims_;
  std::vector<std::string> made_;  // by stages
};

// What the kernel is a program of.
Graph Parser::head(Graph given) {
  if (at("threads", 2)) fusion_.threads = Reader(lines_[at_++], 1).threads();
  const auto rewritten = [&](std::optional<Graph> other, const char* why) {
    if (!other) fail(lines_[at_], lines_[at_].words[0], why);
    return std::move(*other);
  };
  if (at("sums", 2)) {
    given = rewritten(sums_apart(given), "no sum of this kernel can be apart");
    Reader(lines_[at_++], 1).expect("apart");
  } else if (at("online", 2)) {
    given = rewritten(online(given), "no sums of this kernel can be online");
    Reader(lines_[at_++], 1).expect(given.dims[given.online.dim].name);
  }
  if (const bool first = at("first", 4); first || at("pads", 3)) {
    const PadsOut which = first ? PadsOut::kFirst : PadsOut::kAll;
    given = rewritten(unpadded(given, which), "no pad of this kernel can be left out");
    Reader r(lines_[at_++], 1);
    if (first) r.expect("pads");
    r.expect("left");
    r.expect("out");
  }
  if (at("result", 2)) {
    given = rewritten(result_apart(given), "nothing of this kernel lies in its result");
    Reader(lines_[at_++], 1).expect("apart");
  }
  for (const auto& [made, of] : shared_memory(given)) {
    if (at_ == lines_.size()) break;
    Reader r(lines_[at_++], 0);
    r.expect(given.tensors[made].name);
    r.expect("in");
    r.expect(given.tensors[of].name);
    r.end();
  }
  return given;
}

// One after the other: all lines that are indented so far, and what is below them.
FusedPtr Parser::nodes(int indent, const Here& here) {
  Sequence s;
  while (at_ < lines_.size() && lines_[at_].indent >= indent) {
    lines::expect_indent(lines_[at_], indent);
    s.parts.push_back(node(here));
  }
  if (s.parts.size() == 1) return s.parts[0];
  return std::make_shared<const Fused>(Fused{std::move(s)});
}

FusedPtr Parser::children(const Line& parent, const Here& here) {
  if (!has_child(parent))
    fail(parent, parent.words[0],
         fmt::format("`{}` needs a child, indented below it", parent.words[0].text));
  return nodes(parent.indent + 2, here);
}

FusedPtr Parser::node(const Here& here) {
  Reader r(lines_[at_++], 0);
  if (is_call(r.line())) return std::make_shared<const Fused>(Fused{call(r, here)});
  std::vector<std::string> names{"loop", "parallel", "with"};
  for (const std::string& made : made_) names.push_back(made + ":");
  const int which = r.choose("node", names);
  if (which == 2) return std::make_shared<const Fused>(Fused{stored(r, here)});
  return std::make_shared<const Fused>(Fused{tile(r, here, which == 1)});
}

Tile Parser::tile(Reader& r, Here here, bool parallel) {
  const Line& line = r.line();
  Tile t{.parallel = parallel, .body = nullptr};
  t.dim = r.choose("dim", dims_);
  r.expect("by");
  const Word& size = r.next("a tile size");
  t.tile = lines::number(line, size);
  const i64 extent = here.extents[t.dim];
  if (t.tile >= extent)
    fail(line, size, fmt::format("the tile must be less than the extent {}", extent));
  r.end();
  here.beside |= parallel;
  here.extents[t.dim] = t.tile;
  if (at_section(line, "first")) {
    t.body = section(line, "first", here);
    t.next = section(line, "body", here);
  } else {
    t.body = children(line, here);
  }
  if (extent % t.tile == 0) return t;
  here.extents[t.dim] = extent % t.tile;
  t.rest = section(line, fmt::format("rest {}", extent % t.tile), here);
  return t;
}

bool Parser::at_section(const Line& loop, std::string_view word) const {
  return at_ < lines_.size() && lines_[at_].indent == loop.indent && !is_call(lines_[at_]) &&
         lines_[at_].words[0].text == word;
}

FusedPtr Parser::section(const Line& loop, const std::string& title, const Here& here) {
  const size_t word = std::min(title.find(' '), title.size());
  if (!at_section(loop, title.substr(0, word)))
    fail(loop, loop.words[0], fmt::format("`{}` lacks its `{}`", loop.words[0].text, title));
  Reader r(lines_[at_++], 1);
  if (word < title.size()) r.expect(title.substr(word + 1));
  r.end();
  return children(r.line(), here);
}

Sequence Parser::stored(Reader& r, Here here) {
  Sequence s;
  for (bool more = true; more;) {
    const int tensor = stored_tensor(r, here);
    s.stored.push_back(tensor);
    more = shape(r, tensor, here);
    here.buffers[tensor] = stored_shape(g(), tensor, here.extents);
  }
  r.end();
  const FusedPtr inside = children(r.line(), here);
  const Sequence* parts = std::get_if<Sequence>(&inside->node);
  if (parts && parts->stored.empty())
    s.parts = parts->parts;
  else
    s.parts = {inside};
  return s;
}

// One that lies between stages, in memory of its own.
int Parser::stored_tensor(Reader& r, const Here& here) {
  std::vector<int> tensors;
  std::vector<std::string> names;
  for (int stage = 0; stage < static_cast<int>(made_.size()); ++stage) {
    const int t = g().made_by(stage);
    if (here.buffers.contains(t) || g().buffer_of(t) != t || g().is_result(g().memory_of(t)))
      continue;
    tensors.push_back(t);
    names.push_back(made_[stage]);
  }
  return tensors[r.choose("tensor without a buffer", names)];
}

// Whether another tensor follows.
bool Parser::shape(Reader& r, int tensor, const Here& here) {
  const std::string expected = buffer_text(g(), tensor, here.extents);
  const Word first = r.next("a type and a shape");
  if (!r.accept("bordered")) r.accept("bordered,");
  std::string_view text = r.line().text.substr(first.column - 1);
  text = text.substr(0, std::min(text.find(", "), text.size()));
  if (text != expected)
    fail(r.line(), first, fmt::format("{} is {} here", g().tensors[tensor].name, expected));
  return !r.done();
}

StageCall Parser::call(Reader& r, const Here& here) {
  const Line& line = r.line();
  Word name = r.next("a stage");
  const bool adds = !name.text.ends_with(':');
  if (adds)
    r.expect("adding:");
  else
    name.text.remove_suffix(1);
  const int stage = lines::choose(line, name, "stage", made_);
  const i64 cycles = r.number("a number of cycles", 0);
  r.expect("cycles,");
  StageProgram p{.stage = stage,
                 .computation = std::make_shared<const Computation>(
                     stage_part(g(), stage, here.extents, here.buffers)),
                 .problem = {},
                 .impl = nullptr,
                 .cost_cycles = cycles};
  if (p.computation->dims.size() > kMaxDims)
    fail(line, name, fmt::format("this part has {} dims", p.computation->dims.size()));
  p.problem.computation = p.computation.get();
  p.problem.machine = &machine_;
  p.problem.threads = here.beside ? fusion_.threads : threads(r);
  p.problem.part = part(r, *p.computation, here);
  p.problem.part.whole = is_whole(g(), stage, here.extents);
  describe_output(g(), machine_, stage, p.problem.part);
  p.problem.part.adds = adds;
  p.problem.family = family(r, *p.computation, stage, here);
  if (!has_child(line)) fail(line, name, "no program is indented below it");
  const size_t begin = at_;
  while (at_ < lines_.size() && lines_[at_].indent > line.indent) ++at_;
  p.impl = lines::read_program(std::span(lines_).subspan(begin, at_ - begin), line.indent + 2,
                               p.problem);
  fusion_.programs.push_back(std::move(p));
  return {static_cast<int>(fusion_.programs.size()) - 1};
}

// Of a program that is not beside others.
int Parser::threads(Reader& r) const {
  const std::optional<Word> given = r.accept_key("threads");
  return given ? lines::threads(r.line(), *given) : 1;
}

// Of a program that asks for what others find near.
void Parser::asks(Reader& r, const Computation& c, Part& p) {
  const std::optional<Word> operand = r.accept_key("asks");
  if (!operand) return;
  std::vector<std::string> names;
  for (int o = 0; o < c.inputs(); ++o) names.push_back(c.operands[o].name);
  p.asked = lines::choose(r.line(), *operand, "operand", names);
  p.asked_bytes = lines::number(r.line(), r.expect_key("ahead"), 1);
  if (const std::optional<Word> to = r.accept_key("to"))
    p.asked_to = lines::choose(r.line(), *to, "level", lines::level_names());
}

// Where operands lie. The last one has a comma behind it.
Part Parser::part(Reader& r, const Computation& c, const Here& here) {
  Part p = Part::at(kL1);
  p.staged = true;
  p.beside = here.beside;
  asks(r, c, p);
  std::vector<std::string> names;
  for (const Operand& o : c.operands) names.push_back(o.name);
  if (!c.extras.empty()) names.push_back(kExtrasName);
  for (size_t i = 0; i < names.size(); ++i) {
    Word w = r.expect_place(names[i]);
    const bool last = i + 1 == names.size();
    if (w.text.ends_with(',') != last)
      fail(r.line(), w,
           last ? "expected a comma behind the last level"
                : fmt::format("expected `{}@...` behind it", names[i + 1]));
    if (last) w.text.remove_suffix(1);
    p.home[i < c.operands.size() ? i : kMaxOperands] =
        lines::choose(r.line(), w, "level", lines::level_names());
  }
  return p;
}

// All that is left of the line. A part that is packed ahead of time may use a family of the whole
// stage, or of one of more rows.
Family Parser::family(Reader& r, const Computation& c, int stage, const Here& here) {
  const Word first = r.next("a family");
  const Word& last = r.line().words.back();
  const size_t length = last.column - first.column + last.text.size();
  const std::string_view text = r.line().text.substr(first.column - 1, length);
  Result<Family> found = parse_family(text, c, isa_);
  const bool packed =
      std::any_of(c.operands.begin(), c.operands.end(), [](const Operand& o) { return o.packed; });
  if (!found && packed && has_dims_of_whole(g(), stage, here.extents, here.buffers)) {
    const Computation all = stage_part(g(), stage, whole(g()), {});
    found = parse_family(text, all, isa_);
    if (!found && share_ != RowShare())
      found = parse_family(text, with_all_rows(all, share_), isa_);
  }
  if (!found) fail(r.line(), first.column, length, found.error().text);
  return std::move(*found);
}

}  // namespace

Result<Fusion> parse_fusion(std::string_view text, const KernelSpec& spec, const Machine& machine,
                            const Isa& isa, RowShare share) {
  try {
    return Parser(text, spec, machine, isa, share).program();
  } catch (const lines::Failure& f) {
    return f.diagnostic;
  }
}

}  // namespace morello
