// View: make an operand resident at a nearer cache level, where it stays while the child runs.
//
//   Spec(x@far)  =>  view x to L { Spec(x@L) }      cost = transfer(x) + child, bytes of x at L
//
// No code: the cache does it. Pays only where x is used again; a leaf overlaps its own transfers
// better than this.

#include "search/rewrites/menus.h"

namespace morello::rewrites {

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1) return;
  for (int o = 0; o < space.operands(); ++o) {
    if (!space.reused(spec, o)) continue;
    const Region region = space.region(spec, o);
    const Level from = spec.place[o].level;
    const int ways = o + 1 == space.operands() && spec.accumulate ? 2 : 1;
    each_move(space, spec, o, from - 1, spec.place[o].packed, emit, [&](Level to, Candidate& c) {
      c.cost.base = ways * space.transfer(region, from);
      c.bytes = region.footprint(to);
    });
  }
}

static ImplPtr build(const Space&, const Spec&, const Decision& d,
                     std::span<const ImplPtr> children) {
  return make_impl(
      Move{.operand = d.subject, .level = d.detail, .copy = false, .body = children[0]});
}

extern const Rewrite view;
const Rewrite view = {.name = "view", .expand = expand, .build = build};

}  // namespace morello::rewrites
