#include "impl/clip.h"
#include "impl/text.h"

namespace morello {
namespace {

std::string line_of(const Problem& p, const Loop& n) {
  const Dim& d = p.computation->dims[n.dim];
  const char* word = d.reduction  ? n.parallel ? "parallel split" : "split"
                     : n.parallel ? "parallel"
                                  : "loop";
  return fmt::format("{} {} by {}{}", word, d.name, n.tile,
                     n.threads > 1 ? fmt::format(" leaving {}", n.threads) : "");
}
std::string line_of(const Problem& p, const Move& n) {
  const std::string ahead = n.ahead_dim < 0
                                ? ""
                                : fmt::format(" ahead {}{}", p.computation->dims[n.ahead_dim].name,
                                              n.ahead_in_leaves ? " in leaves" : "");
  return fmt::format("{} {} to {}{}", n.copy ? "copy" : "view",
                     p.computation->operands[n.operand].name, level_name(n.level), ahead);
}
std::string line_of(const Problem& p, const Clip& n) {
  return fmt::format("clip {}", p.computation->dims[n.dim].name);
}
std::string line_of(const Problem&, const Block&) { return "block"; }
std::string line_of(const Problem& p, const Call& n) {
  if (n.kind == Call::Kind::kFill) return "fill";
  std::string out = "call";
  if (n.ahead_operand >= 0)
    out +=
        fmt::format(" ahead {} {}", p.computation->operands[n.ahead_operand].name, n.ahead_bytes);
  if (n.ahead_to != kL1) out += fmt::format(" to {}", level_name(n.ahead_to));
  return out + (n.streaming ? " streaming" : "");
}
std::string line_of(const Problem& p, const Hole& n) {
  return "hole " + str(n.spec, *p.computation);
}

}  // namespace

std::string part_line(const Problem& p, int dim, const Extents& extent) {
  for (const Clipped& x : clipped(*p.computation))
    if (x.dim == dim)
      return fmt::format("part {} {} {}", extent[dim], p.computation->dims[x.window].name,
                         extent[x.window]);
  return "part";
}

namespace {

// Appends nodes at a depth; `extent` is that of the node being printed, for the length of `rest`.
struct Printer {
  const Problem& p;
  std::string out;

  void line(int depth, const std::string& text) {
    out.append(2 * depth, ' ').append(text).append("\n");
  }
  void node(int depth, const ImplPtr& impl, const Extents& extent) {
    if (!impl) return;
    line(depth, headline(p, *impl));
    std::visit([&](const auto& n) { inside(depth + 1, n, extent); }, impl->node);
  }
  void section(int depth, const std::string& title, const ImplPtr& impl, const Extents& extent) {
    if (!impl) return;
    line(depth, title);
    node(depth + 1, impl, extent);
  }

  void inside(int depth, const Loop& n, Extents extent) {
    const i64 remainder = extent[n.dim] % n.tile;
    extent[n.dim] = n.tile;
    if (!n.first && !n.rest) return node(depth, n.body, extent);
    section(depth, "first", n.first, extent);
    section(depth, "body", n.body, extent);
    extent[n.dim] = remainder;
    section(depth, fmt::format("rest {}", remainder), n.rest, extent);
  }
  void inside(int depth, const Move& n, const Extents& extent) { node(depth, n.body, extent); }
  void inside(int depth, const Clip& n, const Extents& extent) {
    Spec whole;
    whole.extent = extent;
    for (const Child& part : children(p, whole, {n}))
      section(depth, part_line(p, n.dim, part.spec.extent), part.impl, part.spec.extent);
  }
  void inside(int depth, const Block& n, const Extents& extent) {
    for (const ImplPtr& part : n.parts) node(depth, part, extent);
  }
  void inside(int, const Call&, const Extents&) {}
  void inside(int, const Hole&, const Extents&) {}
};

}  // namespace

std::string headline(const Problem& p, const Impl& impl) {
  return std::visit([&](const auto& n) { return line_of(p, n); }, impl.node);
}

std::string print(const Problem& p, const Impl& impl) {
  Printer printer{p, {}};
  // A node that nobody owns yet: print() only looks.
  const ImplPtr borrowed(std::shared_ptr<const void>(), &impl);
  printer.node(0, borrowed, p.root().extent);
  return printer.out;
}

}  // namespace morello
