// Parallel tile: divide one parallel dimension among the threads.
//
//   Spec(d: e, threads T)  =>  parallel d by t { Spec(d: t) } rest { Spec(d: e % t) }
//                   cost = ceil(steps / T) * body + start and end of the region
//
// Shares are equal up to the quantum: T of them, or twice as many where that balances a ragged end
// better. The remainder runs on some thread beside a full share and is never longer, so
// it costs nothing of its own.

#include "search/rewrite.h"

namespace morello::rewrites {

static i64 ceil_div(i64 a, i64 b) { return (a + b - 1) / b; }

static void propose(const Space& space, const Spec& spec, int d, i64 tile, Emit emit) {
  const i64 extent = spec.extent[d];
  Candidate c;
  c.decision = {.subject = static_cast<std::int16_t>(d), .value = tile};
  c.cost.base = Cost::milli(space.machine().parallel_millicycles);
  Spec child = spec;
  child.threads = 1;
  child.extent[d] = tile;
  c.add(child, ceil_div(ceil_div(extent, tile), spec.threads));
  if (extent % tile > 0) {
    child.extent[d] = extent % tile;
    c.add(child, 0);
  }
  emit(c);
}

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads <= 1) return;
  for (int d = 0; d < space.dims(); ++d) {
    if (space.computation().dims[d].reduction) continue;
    const i64 quantum = space.family().quantum[d];
    i64 last = 0;
    for (i64 shares : {spec.threads, 2 * spec.threads}) {
      const i64 tile = ceil_div(ceil_div(spec.extent[d], shares), quantum) * quantum;
      if (tile == last || tile >= spec.extent[d]) continue;
      last = tile;
      if (space.steps_whole_blocks(spec, d, tile)) propose(space, spec, d, tile, emit);
    }
  }
}

static ImplPtr build(const Space&, const Spec& spec, const Decision& d,
                     std::span<const ImplPtr> children) {
  Loop loop{.dim = d.subject, .tile = d.value, .parallel = true, .body = children[0]};
  if (spec.extent[loop.dim] % loop.tile > 0) loop.rest = children[1];
  return make_impl(loop);
}

extern const Rewrite parallel;
const Rewrite parallel = {.name = "parallel", .expand = expand, .build = build};

}  // namespace morello::rewrites
