// Steps of a tile in which a stage asks for what the next steps read.
//
//   loop i by 1                      softmax, x in memory
//     t0: x@L1                       the maximum of a row: finds what was asked for
//     t1: x@mem ... ahead x 16384    exponentials: asks, 16 KiB behind what it reads
//
// Who reads a parameter first has little to do for it, mostly, and waits for its lines; who reads
// it again has them near and computes. So lines come while nothing is done, and nothing comes while
// something is. If the latter asks for them, arithmetic hides them; and what stages store past the
// caches is written meanwhile. (Zen 5, AVX-512, from memory, cycles a line, asked for by who reads
// first and by who reads last: softmax of rows of 4, 8, 16 and 32 KiB 13.8 and 10.4, 17.3 and 11.9,
// 17.2 and 13.0, 17.5 and 13.2; of 2 MiB in steps of 8 KiB 22.2 and 17.9; rows scaled by the root
// of their mean square 11.0 and 8.9, 12.0 and 8.6, 12.5 and 8.9, 13.0 and 9.9.)
//
// A step is one run of memory, of half the machine's distance at most or of one row, and the next
// begins where it ends. (Of longer ones little stays near: softmax of 2048x8192 in steps of three
// rows, 96 KiB, 1.01 of the time without all this, of one 0.90.) The distance is the machine's, or
// a step and half of that: of rows of 16 KiB, 16, 24 and 32 KiB ahead take 9.3, 8.9 and 9.9. (Of as
// much as a step is long the last lines are asked for when they are needed.) Nobody asks for what
// lies in front of that when the tile begins.

#include <algorithm>

#include "search/fusion_search.h"
#include "spec/sizes.h"

namespace morello {

// What is asked for to L2 may take this share of it: the stages of a step need it, too.
constexpr i64 kShareOfL2 = 16;

// Stages that read each element of a parameter once, but for the first of them.
void FusionSearch::list_askers() {
  askers_.resize(g_.tensors.size());
  if (machine_.prefetch_bytes == 0 || isa_.prefetch.empty()) return;
  for (int t = 0; t < g_.params; ++t)
    for (int s = 0; s < static_cast<int>(g_.stages.size()); ++s) {
      const Computation& c = g_.stages[s].computation;
      const int o = g_.operand_of(s, t);
      if (o < 0 || o >= c.inputs()) continue;
      bool once = true;
      for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
        once &= c.dims[d].extent == 1 || touches(c.operands[o], d);
      if (once) askers_[t].push_back(s);
    }
}

// Whether a parameter is so far away that it pays.
bool FusionSearch::may_ask_for(const Group& g, int tensor) const {
  const LevelDesc& from = machine_.levels[g.level[tensor]];
  return g.level[tensor] >= kL3 && from.prefetched_millicycles < from.line_millicycles;
}

// Of these, the stages of a group that others come before.
std::vector<int> FusionSearch::askers(const Group& g, int tensor) const {
  std::vector<int> out;
  if (askers_[tensor].empty() || !may_ask_for(g, tensor)) return out;
  int first = g.begin;
  while (first < g.end && (idle(g, first) || !g_.uses_buffer(first, tensor))) ++first;
  for (const int s : askers_[tensor])
    if (s > first && s < g.end && !idle(g, s)) out.push_back(s);
  return out;
}

// Of what a step along a dim reads of a parameter, if it is one run of memory and the next step's
// begins behind it; else 0.
i64 FusionSearch::bytes_of_run(int tensor, const GraphExtents& step, int dim) const {
  const std::vector<Use>& uses = uses_[tensor];
  for (const Use& use : uses)
    if (use.axes != uses.front().axes) return 0;
  i64 run = 1, next = 0;
  for (const auto& [axis, stride] : uses.front().strides) {
    const AxisMap& map = uses.front().axes[axis];
    if (map.empty()) continue;
    if (map.size() != 1 || map.front().coefficient != 1) return 0;
    const i64 extent = step[map.front().dim];
    if (map.front().dim == dim) next = extent * stride;
    if (extent == 1) continue;
    if (stride != run) return 0;
    run *= extent;
  }
  return next == run ? run * bytes(g_.tensors[tensor].dtype) : 0;
}

std::vector<Asking> FusionSearch::ways_to_ask(const Group& g, const Option& o) const {
  std::vector<Asking> out;
  if (o.parallel || g.threads > 1 || g.asking) return out;
  const i64 line = machine_.levels[kL1].line, usual = machine_.prefetch_bytes;
  for (const int t : touched(g).tensors) {
    const std::vector<int> stages = askers(g, t);
    if (stages.empty()) continue;
    const Group step = in_steps(g, o.dim, o.tile);
    const i64 run = bytes_of_run(t, step.extents, o.dim);
    const bool long_steps = o.tile > 1 && run > usual / 2;
    if (run == 0 || long_steps || nearest(step) > kL2) continue;
    const i64 distance = std::max(usual, (run + usual / 2) / line * line);
    const bool far = machine_.levels[g.level[t]].prefetch_to == kL2;
    const Level to = far || distance + run > machine_.levels[kL1].bytes ? kL2 : kL1;
    const bool fits = kShareOfL2 * distance <= machine_.levels[kL2].bytes;
    if (to == kL2 && (!fits || isa_.prefetch_to_l2.empty())) continue;
    for (const int s : stages)
      out.push_back({.tensor = t, .stage = s, .from = g.level[t], .bytes = distance, .to = to});
  }
  return out;
}

// Nobody has asked for the first lines; the last are asked for in vain.
Cost FusionSearch::begins_to_ask(const Asking& a) const {
  const LevelDesc& from = machine_.levels[a.from];
  return ceil_div(a.bytes, from.line) * Cost::milli(from.line_millicycles) +
         Cost::milli(from.latency_millicycles);
}

}  // namespace morello
