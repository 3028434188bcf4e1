// Split reduction: sum over one reduction dimension in parts.
//
//   Spec(k: e)      =>  split k by t  first { Spec(k: t) }  body { Spec(k: t, acc) }  rest { ... }
//   Spec(k: e, acc) =>  split k by t  body { Spec(k: t, acc) }  rest { Spec(k: e % t, acc) }
//
// The first part does not accumulate, which saves a pass that writes zeros. Needs an output that
// can hold partial sums where it lies: f32 or i32, or a packed copy.

#include "search/rewrites/menus.h"

namespace morello::rewrites {

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1 || !space.accumulates(spec)) return;
  const bool leaf = space.leaf_covers(spec);
  each_tile(space, spec, true, [&](int d, i64 tile, Cost loop) {
    if (leaf && tile == space.piece_of_sum(d)) return;
    i64 steps = spec.extent[d] / tile;
    Candidate c;
    c.decision = {.subject = static_cast<std::int16_t>(d), .value = tile};
    c.cost.base = loop;
    Spec child = spec;
    child.extent[d] = tile;
    if (!spec.accumulate) {
      c.add(child, 1);
      --steps;
    }
    child.accumulate = true;
    if (steps > 0) c.add(child, steps);
    child.extent[d] = spec.extent[d] % tile;
    if (child.extent[d] > 0) c.add(child, 1);
    emit(c);
  });
}

static ImplPtr build(const Space& space, const Spec& spec, const Decision& d,
                     std::span<const ImplPtr> children) {
  return make_impl(loop_of(space, spec, d.subject, d.value, children));
}

extern const Rewrite split_reduction;
const Rewrite split_reduction = {.name = "split_reduction", .expand = expand, .build = build};

}  // namespace morello::rewrites
