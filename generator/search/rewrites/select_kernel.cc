// Select kernel: compute all that is left with the family's leaf.
//
//   Spec  =>  call                     cost = leaf
//   Spec  =>  call ahead x D           the same, x's stream prefetched D bytes ahead
//
// Fires when every parallel extent is within the quantum and the operands lie where the leaf can
// read them. Prefetch is proposed for the longest sequential stream from L3 or memory: one stream
// with prefetch 16 KiB ahead went from 38 to 55 GB/s on Zen 5.

#include "search/rewrite.h"

namespace morello::rewrites {

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1 || !space.leaf_covers(spec)) return;
  Candidate c;
  c.cost.base = space.leaf(spec, -1);
  emit(c);
  const int ahead = space.prefetchable(spec);
  if (ahead < 0) return;
  c.decision.subject = static_cast<std::int16_t>(ahead);
  c.decision.value = space.machine().prefetch_bytes;
  c.cost.base = space.leaf(spec, ahead);
  emit(c);
}

static ImplPtr build(const Space&, const Spec&, const Decision& d, std::span<const ImplPtr>) {
  Call call;
  call.ahead_operand = d.value > 0 ? d.subject : -1;
  call.ahead_bytes = d.value;
  return make_impl(call);
}

extern const Rewrite select_kernel;
const Rewrite select_kernel = {.name = "select_kernel", .expand = expand, .build = build};

}  // namespace morello::rewrites
