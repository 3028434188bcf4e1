// Tile: compute the output in strips along one parallel dimension.
//
//   Spec(d: e)  =>  loop d by t { Spec(d: t) } rest { Spec(d: e % t) }
//                   cost = floor(e / t) * body + rest + ceil(e / t) * step
//
// The remainder is an ordinary Spec with a program of its own. Batch dimensions are no special
// case: every operand touches them, so their menu is short.

#include "search/rewrites/menus.h"

namespace morello::rewrites {

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1) return;
  each_tile(space, spec, false, [&](int d, i64 tile, Cost steps) {
    const i64 extent = spec.extent[d];
    Candidate c;
    c.decision = {.subject = static_cast<std::int16_t>(d), .value = tile};
    c.cost.base = steps;
    Spec child = spec;
    child.extent[d] = tile;
    c.add(child, extent / tile);
    child.extent[d] = extent % tile;
    if (extent % tile > 0) c.add(child, 1);
    emit(c);
  });
}

static ImplPtr build(const Space& space, const Spec& spec, const Decision& d,
                     std::span<const ImplPtr> children) {
  return make_impl(loop_of(space, spec, d.subject, d.value, children));
}

extern const Rewrite tile;
const Rewrite tile = {.name = "tile", .expand = expand, .build = build};

}  // namespace morello::rewrites
