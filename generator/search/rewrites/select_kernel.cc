// Select kernel: compute all that is left with the family's leaf.
//
//   Spec  =>  call                     cost = leaf
//   Spec  =>  call ahead x D           the same, x's stream prefetched D bytes ahead, D the
//   machine's
//                                      distance, half or a quarter of it
//
// Fires when every parallel extent is within the quantum and the operands lie where the leaf can
// read them. Prefetch is proposed for the longest sequential stream from L3 or memory: one stream
// with prefetch 16 KiB ahead went from 38 to 55 GB/s on Zen 5. A shorter distance misses less of a
// short stream; one that is no less than the stream hides nothing of it and is not proposed. Where
// the machine says that prefetch saves nothing, it only costs: 16 MiB from the L3 of a Granite
// Rapids take 584 us without, 590, 587, 609, 628 and 657 us 1, 2, 4, 8 and 16 KiB ahead.

#include "search/rewrite.h"

namespace morello::rewrites {

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1 || !space.leaf_covers(spec)) return;
  Candidate c;
  c.cost.base = space.leaf(spec, -1, 0);
  emit(c);
  const int ahead = space.prefetchable(spec);
  if (ahead < 0) return;
  c.decision.subject = static_cast<std::int16_t>(ahead);
  const i64 line = space.machine().levels[kL1].line;
  const i64 stream = space.stream_bytes(spec, ahead, space.region(spec, ahead));
  i64 last = 0;
  for (i64 parts : {1, 2, 4}) {
    const i64 distance = space.machine().prefetch_bytes / parts / line * line;
    if (distance == 0 || distance == last || distance >= stream) continue;
    last = c.decision.value = distance;
    c.cost.base = space.leaf(spec, ahead, distance);
    emit(c);
  }
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
