// Parallel split: divide a reduction dimension among the threads.
//
//   Spec(k: e, threads T)  =>  parallel split k by t leaving T/p { Spec(k: t, threads T/p) } rest
//   ...
//                   cost = body + start and end of the region + adding p - 1 copies of the output
//
// Every share sums into an output of its own, none accumulates; impl/shares.h says how they become
// one. Proposed where all copies together are small beside the inputs (Space::divides_reduction),
// and where the output can hold a sum as it lies. Shares run at once, so they cost one of them; the
// threads that are left divide a parallel dimension. It wins where the output is too small to be
// divided well. Measured with two threads on two cores of a Granite Rapids (medians of 41 rounds),
// as a share of what took the least time before: a product of two vectors of 262144 0.36, the sum
// of 4194304 0.46, [1,65536] x [65536,8] 0.51 (all serial before), [64,65536] x [65536,64] 0.69.
// That was the one run of seven in which both cores were free; with another program on the second
// core two threads were up to 2.8 times slower than one.

#include "impl/shares.h"
#include "search/rewrite.h"

namespace morello::rewrites {

static Loop shares_loop(int dim, i64 tile, int leaving) {
  return {.dim = dim, .tile = tile, .parallel = true, .threads = leaving};
}

static void propose(const Space& space, const Spec& spec, int d, i64 tile, int leaving, Emit emit) {
  Candidate c;
  c.decision = {.subject = static_cast<std::int16_t>(d), .detail = leaving, .value = tile};
  c.cost.base = space.region_start() + space.add_shares(spec, shares_loop(d, tile, leaving));
  Spec child = spec;
  child.threads = leaving;
  child.extent[d] = tile;
  c.add(child, 1);
  child.extent[d] = spec.extent[d] % tile;
  if (child.extent[d] > 0) c.add(child, 0);
  emit(c);
}

static void expand(const Space& space, const Spec& spec, Emit emit) {
  // Where the output has a value already (an adding piece of a size known at run time only), no
  // share begins with it.
  if (spec.threads <= 1 || spec.accumulate) return;
  if (in_region(space.problem(), spec) || !space.accumulates(spec)) return;
  if (spec.uncut != space.problem().root().uncut) return;  // what is left may be a short window
  for (int d = 0; d < space.dims(); ++d) {
    if (!space.computation().dims[d].reduction || !space.may_be_shared(spec, d)) continue;
    for (const Share& share : space.shares(spec)) {
      if (share.count > spec.threads || !space.divides_reduction(d, share.count)) continue;
      const i64 tile = space.share_tile(d, spec.extent[d], share.count);
      if (space.steps_whole_blocks(spec, d, tile))
        propose(space, spec, d, tile, share.leaving, emit);
    }
  }
}

static ImplPtr build(const Space&, const Spec& spec, const Decision& d,
                     std::span<const ImplPtr> children) {
  Loop loop = shares_loop(d.subject, d.value, d.detail);
  loop.body = children[0];
  if (spec.extent[loop.dim] % loop.tile > 0) loop.rest = children[1];
  return make_impl(loop);
}

extern const Rewrite parallel_split;
const Rewrite parallel_split = {.name = "parallel_split", .expand = expand, .build = build};

}  // namespace morello::rewrites
