// Clip: cut a dim along which windows reach beyond what they read into segments that sum over
// shorter windows (impl/clip.h).
//
//   Spec(h: 112, r: 3, uncut h)  =>  clip h  part 1 r 2    { Spec(h: 1, r: 2) }
//                                            part 110 r 3  { Spec(h: 110, r: 3) }
//                   cost = 2 * first + second + segments * step
//
// Dims are cut in order (Space::clips). Segments of one shape have one program. All that they leave
// out are products with zero. Threads divide each segment in a region of its own.

#include "impl/shares.h"
#include "search/rewrites/menus.h"

namespace morello::rewrites {

static_assert(kMostSegmentShapes <= AffineCost::kMaxChildren);

static void propose(const Space& space, const Spec& spec, const Clipped& x, Emit emit) {
  Candidate c;
  c.decision = {.subject = static_cast<std::int16_t>(x.dim)};
  c.cost.base = static_cast<i64>(x.segments.size()) * Cost::milli(kLoopMilli);
  for (const Child& part : children(space.problem(), spec, {Clip{.dim = x.dim, .parts = {}}}))
    c.add(part.spec, part.times);
  emit(c);
}

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1 && in_region(space.problem(), spec)) return;
  for (const Clipped& x : space.clips()) {
    if (!(spec.uncut >> x.dim & 1)) continue;
    if (space.cuts_whole_blocks(spec, x)) propose(space, spec, x, emit);
    return;
  }
}

static ImplPtr build(const Space&, const Spec&, const Decision& d,
                     std::span<const ImplPtr> children) {
  return make_impl(Clip{.dim = d.subject, .parts = {children.begin(), children.end()}});
}

extern const Rewrite clip;
const Rewrite clip = {.name = "clip", .expand = expand, .build = build};

}  // namespace morello::rewrites
