// Pack: copy an operand into a buffer at a nearer level, in the order and type the leaf wants.
//
//   Spec(x)    =>  copy x to L { Spec(x@L packed) }         cost = copy + child, bytes of x at L
//   Spec(out)  =>  the child computes into the buffer, which is written back afterwards
//
// The buffer may lie at the level the operand lies at: the order alone can be worth it.

#include "impl/shares.h"
#include "search/rewrites/menus.h"

namespace morello::rewrites {

// The one copy made before threads divide the work: the shares of a reduction need an output that
// holds sums.
static bool sums_in_copy(const Space& space, const Spec& spec) {
  if (in_region(space.problem(), spec) || space.accumulates(spec)) return false;
  for (int d = 0; d < space.dims(); ++d)
    if (space.divides_reduction(d, spec.threads)) return true;
  return false;
}

static bool wanted(const Space& space, const Spec& spec, int o) {
  if (spec.place[o].packed) return false;
  if (spec.threads == 1) return spec.uncut == 0 && space.packs(o);
  return o + 1 == space.operands() && !space.family().packed[o].digits.empty() &&
         sums_in_copy(space, spec);
}

static void expand(const Space& space, const Spec& spec, Emit emit) {
  for (int o = 0; o < space.operands(); ++o) {
    if (!wanted(space, spec, o)) continue;
    const i64 bytes = space.problem().packed_bytes(o, spec.extent);
    each_move(space, spec, o, spec.place[o].level, true, emit, [&](Level to, Candidate& c) {
      c.cost.base = space.copy(spec, o, to);
      return bytes;
    });
  }
}

static ImplPtr build(const Space&, const Spec&, const Decision& d,
                     std::span<const ImplPtr> children) {
  return make_impl(
      Move{.operand = d.subject, .level = d.detail, .copy = true, .body = children[0]});
}

extern const Rewrite pack;
const Rewrite pack = {.name = "pack", .expand = expand, .build = build};

}  // namespace morello::rewrites
