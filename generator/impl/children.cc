// What a node makes of its Spec: the one place that defines it. The search, verify, the interpreter
// and the code generator all ask here.

#include <algorithm>

#include "impl/clip.h"
#include "impl/impl.h"

namespace morello {

// Legal or not: verify asks before it refuses. A null child is listed where the Spec needs one, so
// that a node can be asked for its Specs before its children exist.
static std::vector<Child> children_of(const Problem& p, const Spec& spec, const Loop& loop) {
  MORELLO_CHECK(loop.tile >= 1, "loop with tile {}", loop.tile);
  const i64 extent = spec.extent[loop.dim];
  i64 steps = extent / loop.tile;
  Spec tile = spec;
  tile.extent[loop.dim] = loop.tile;
  if (loop.parallel) tile.threads = loop.threads;

  std::vector<Child> out;
  if (p.computation->dims[loop.dim].reduction && !loop.parallel) {
    if (!spec.accumulate && steps > 0) {
      out.push_back({tile, loop.first, 1});
      --steps;
    }
    tile.accumulate = true;
  }
  if (steps > 0) out.push_back({tile, loop.body, steps});
  if (extent % loop.tile > 0) {
    tile.extent[loop.dim] = extent % loop.tile;
    out.push_back({tile, loop.rest, 1});
  }
  return out;
}

static std::vector<Child> children_of(const Problem&, const Spec& spec, const Move& move) {
  Spec moved = spec;
  moved.place[move.operand].level = move.level;
  if (move.copy) moved.place[move.operand].packed = true;
  return {{moved, move.body, 1}};
}

static std::vector<Child> children_of(const Problem& p, const Spec& spec, const Clip& clip) {
  std::vector<Child> out;
  for (const Clipped& x : clipped(*p.computation)) {
    if (x.dim != clip.dim) continue;
    for (const Segment& segment : x.segments) {
      const auto shape = static_cast<size_t>(segment.shape);
      if (shape < out.size())
        ++out[shape].times;
      else
        out.push_back({spec_of(segment, x, spec),
                       shape < clip.parts.size() ? clip.parts[shape] : nullptr, 1});
    }
  }
  return out;
}

static std::vector<Child> children_of(const Problem&, const Spec& spec, const Block& block) {
  std::vector<Child> out;
  Spec part = spec;
  for (const ImplPtr& impl : block.parts) {
    out.push_back({part, impl, 1});
    part.accumulate = true;  // the part before has given the output a value
  }
  return out;
}

static std::vector<Child> children_of(const Problem&, const Spec&, const Call&) { return {}; }
static std::vector<Child> children_of(const Problem&, const Spec&, const Hole&) { return {}; }

std::vector<Child> children(const Problem& p, const Spec& spec, const Impl& impl) {
  return std::visit([&](const auto& node) { return children_of(p, spec, node); }, impl.node);
}

static bool equal(const ImplPtr& a, const ImplPtr& b) {
  return a == b || (a && b && equal(*a, *b));
}

static bool same(const Loop& a, const Loop& b) {
  return a.dim == b.dim && a.tile == b.tile && a.parallel == b.parallel && a.threads == b.threads &&
         equal(a.first, b.first) && equal(a.body, b.body) && equal(a.rest, b.rest);
}
static bool same(const Move& a, const Move& b) {
  return a.operand == b.operand && a.level == b.level && a.copy == b.copy &&
         a.ahead_dim == b.ahead_dim && a.ahead_in_leaves == b.ahead_in_leaves &&
         equal(a.body, b.body);
}
static bool same(const std::vector<ImplPtr>& a, const std::vector<ImplPtr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ImplPtr& x, const ImplPtr& y) { return equal(x, y); });
}
static bool same(const Clip& a, const Clip& b) { return a.dim == b.dim && same(a.parts, b.parts); }
static bool same(const Block& a, const Block& b) { return same(a.parts, b.parts); }
static bool same(const Call& a, const Call& b) {
  return a.kind == b.kind && a.ahead_operand == b.ahead_operand && a.ahead_bytes == b.ahead_bytes &&
         a.ahead_to == b.ahead_to && a.streaming == b.streaming;
}
static bool same(const Hole& a, const Hole& b) { return a.spec == b.spec; }

bool equal(const Impl& a, const Impl& b) {
  if (a.node.index() != b.node.index()) return false;
  return std::visit(
      [&](const auto& node) { return same(node, std::get<std::decay_t<decltype(node)>>(b.node)); },
      a.node);
}

}  // namespace morello
