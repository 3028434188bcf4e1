// Parallel tile: divide a parallel dimension among the threads.
//
//   Spec(d: e, threads T)  =>  parallel d by t leaving T/p { Spec(d: t, threads T/p) } rest { ... }
//                   cost = ceil(steps / p) * (body + borders) + start and end of the region
//
// p shares, equal up to the quantum, for p = T, for 2T where that balances a ragged end better, and
// for the divisors of T in between: then the threads that are left divide another dimension, whose
// steps are tasks of the same region, so only the outer loop pays for starting it. Two dimensions
// at most. The remainder runs on some thread beside a full share and is never longer, so it costs
// nothing of its own.

#include "impl/shares.h"
#include "search/rewrite.h"

namespace morello::rewrites {

static void propose(const Space& space, const Spec& spec, int d, i64 tile, Share share, Emit emit) {
  const i64 extent = spec.extent[d];
  Candidate c;
  c.decision = {.subject = static_cast<std::int16_t>(d), .detail = share.leaving, .value = tile};
  if (!in_region(space.problem(), spec)) c.cost.base = space.region_start();
  Spec child = spec;
  child.threads = share.leaving;
  child.extent[d] = tile;
  const i64 steps = (extent + tile - 1) / tile;
  const i64 at_once = spec.threads / share.leaving;
  const i64 each = (steps + at_once - 1) / at_once;
  if (share.leaving == 1) c.cost.base = c.cost.base + each * space.borders(spec, child);
  c.add(child, each);
  if (extent % tile > 0) {
    child.extent[d] = extent % tile;
    c.add(child, 0);
  }
  emit(c);
}

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads <= 1) return;
  for (int d = 0; d < space.dims(); ++d) {
    const Dim& dim = space.computation().dims[d];
    if (dim.reduction || !space.may_be_shared(spec, d)) continue;
    // Outside a region only segments have divided anything.
    if (in_region(space.problem(), spec) && spec.extent[d] < dim.extent) continue;
    i64 last = 0;
    for (const Share& share : space.shares(spec)) {
      const i64 tile = space.share_tile(d, spec.extent[d], share.count);
      if (tile >= spec.extent[d] || (tile == last && share.leaving == 1)) continue;
      last = tile;
      if (space.steps_whole_blocks(spec, d, tile)) propose(space, spec, d, tile, share, emit);
    }
  }
}

static ImplPtr build(const Space&, const Spec& spec, const Decision& d,
                     std::span<const ImplPtr> children) {
  Loop loop{.dim = d.subject,
            .tile = d.value,
            .parallel = true,
            .threads = d.detail,
            .body = children[0]};
  if (spec.extent[loop.dim] % loop.tile > 0) loop.rest = children[1];
  return make_impl(loop);
}

extern const Rewrite parallel;
const Rewrite parallel = {.name = "parallel", .expand = expand, .build = build};

}  // namespace morello::rewrites
