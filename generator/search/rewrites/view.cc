// View: make an operand resident at a nearer cache level, where it stays while the child runs.
//
//   Spec(x@far)  =>  view x to L { Spec(x@L) }      cost = Space::view + child, bytes of x at L
//
// No code: the cache does it. Pays only where x is used again.

#include "search/rewrites/menus.h"

namespace morello::rewrites {

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1) return;
  for (int o = 0; o < space.operands(); ++o) {
    if (!space.reused(spec, o) || !space.may_view(spec, o)) continue;
    const Region region = space.region(spec, o);
    const Cost cost = space.view(spec, o);
    const Level nearest = spec.place[o].level - 1;
    each_move(space, spec, o, nearest, spec.place[o].packed, emit, [&](Level to, Candidate& c) {
      c.cost.base = cost;
      return region.footprint(to);
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
