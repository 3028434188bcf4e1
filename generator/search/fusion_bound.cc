// What no program for a group of several stages can cost less than (search/README.md, kernels of
// several stages): the least bounds of its stages' families, every tensor as near as groups inside
// could have it.
//
// A tensor comes nearer in three ways: the group makes it, and has a buffer for it where all that
// the group touches fits; a stage before has touched it; or it does not depend on a dim that is
// tiled. Each needs a group around at least two stages of which all that it touches fits, the
// tensor's part among it, and that part is smallest if all that can be tiled around those stages
// is.

#include <limits>

#include "search/fusion_search.h"

namespace morello {

// Whether steps along a dim are possible around all these stages, and perhaps others.
bool FusionSearch::may_tile(int dim, int begin, int end) {
  const size_t stages = g_.stages.size() + 1;
  if (may_tile_.empty()) may_tile_.resize(g_.dims.size() * stages * stages);
  char& known =
      may_tile_[(static_cast<size_t>(dim) * stages + static_cast<size_t>(begin)) * stages +
                static_cast<size_t>(end)];
  if (known == 0) {
    bool may = tile_problem(g_, dim, begin, end).empty();
    if (dim == g_.online.dim && begin < g_.online.end && end > g_.online.begin)
      may |= tile_problem(g_, dim, std::min(begin, g_.online.begin), std::max(end, g_.online.end))
                 .empty();
    known = may ? 2 : 1;
  }
  return known == 2;
}

// The shortest step, or rest, that a dim is tiled in.
static i64 least_step(i64 extent, bool sums) {
  if (!sums) return 1;
  i64 least = extent;
  for (const i64 size : steps_of_sum(extent)) {
    least = std::min(least, size);
    if (extent % size > 0) least = std::min(least, extent % size);
  }
  return least;
}

// How near a tensor is at best where groups of all these stages find it near because they touch no
// more than fits: what they can be tiled by is in the least steps.
Level FusionSearch::nearest_in_steps(const Group& g, int tensor, int begin, int end) {
  GraphExtents least = g.extents;
  for (int d = 0; d < static_cast<int>(g_.dims.size()); ++d)
    if (!g.tiled.contains(d) && may_tile(d, begin, end))
      least[d] = least_step(g.extents[d], sums_over(g_, d, begin, end));
  return nearest(bytes_of(g_.memory_of(tensor), least), 1, g.beside);
}

// Where the first stage of a group that touches a tensor finds it at best: where it lies, or, if
// the group has a buffer for it, in that.
Level FusionSearch::first_level(const Group& g, int tensor, int stage) {
  const bool lies =
      tensor < g_.params || g.buffers.contains(tensor) || g_.is_result(g_.memory_of(tensor));
  if (lies) return g.level[tensor];
  int last = stage;
  for (int s = stage + 1; s < g.end; ++s)
    if (g_.uses_buffer(s, tensor)) last = s;
  return nearest_in_steps(g, tensor, stage, last + 1);
}

// And any stage: nearer than at first if one before has touched it, or in steps along a dim on
// which it does not depend.
Level FusionSearch::least_level(const Group& g, int stage, int operand) {
  const int tensor = g_.buffer_of(g_.tensor_of(stage, operand)), memory = g_.memory_of(tensor);
  int first = stage, before = -1;
  for (int s = stage; s-- > g.begin;)
    for (int t = 0; t < g_.stages[s].computation.tensors(); ++t)
      if (g_.memory_of(g_.tensor_of(s, t)) == memory) {
        before = std::max(before, s);
        first = s;
      }
  Level out = first_level(g, tensor, first);
  if (before >= 0) out = std::min(out, nearest_in_steps(g, tensor, before, stage + 1));
  for (const int begin : {stage - 1, stage}) {
    if (begin < g.begin || begin + 2 > g.end) continue;
    for (int d = 0; d < static_cast<int>(g_.dims.size()); ++d)
      if (const int own = g_.dims[d].in_stage[stage];
          own >= 0 && !g.tiled.contains(d) && may_tile(d, begin, begin + 2) &&
          !touches(g_.stages[stage].computation.tensor(operand), own))
        out = std::min(out, nearest_in_steps(g, tensor, begin, begin + 2));
  }
  return out;
}

// One stage, all that it touches as near as groups inside could have it.
Group FusionSearch::near(const Group& g, int stage) {
  Group near = g;
  near.begin = stage;
  near.end = stage + 1;
  near.buffers.clear();
  for (const int t : touched(near).tensors) near.level[t] = kMemory;
  for (int o = 0; o < g_.stages[stage].computation.tensors(); ++o) {
    const int t = g_.buffer_of(g_.tensor_of(stage, o));
    near.level[t] = std::min(near.level[t], least_level(g, stage, o));
    if (t >= g_.params && !g_.is_result(t) && t != g_.in_result)
      near.buffers[t] = stored_shape(g_, t, g.extents);
  }
  near.tiled.clear();
  near.behind_lines = 0;
  near.coarse = near.no_nearer = false;  // of groups of several: not to be a key of its own
  return near;
}

// In steps so short that all that a stage stores past the caches is written behind.
Cost FusionSearch::all_written_behind(const Group& stage, Cost cost) const {
  const bool any = machine_.written_behind_bytes > 0;
  return written_behind(stage, cost, any ? std::numeric_limits<i64>::max() : 0);
}

// What a stage costs at least, whatever is tiled.
FusionSearch::Bound FusionSearch::stage_bound(const Group& g, int stage) {
  const Group near = this->near(g, stage);
  const auto [at, is_new] = bounds_.try_emplace(key(near));
  Bound& least = at->second;
  if (!is_new) return least;
  const auto c = computation(near, stage);
  if (c->dims.size() > kMaxDims) return least;
  // Other buffers may keep the dims.
  const std::vector<Family> families =
      keeps_dims(near, stage) ? families_of(*c, stage) : morello::families(*c, isa_);
  for (const Bounded& b : by_bound(*c, machine_, families, options_.threads, part(near, stage),
                                   &copies_[static_cast<size_t>(stage)])) {
    if (b.problem.threads == 1 || g.beside)
      least.serial = std::min(least.serial, b.bound);
    else
      least.shared = std::min(least.shared, b.bound - starts());
  }
  least.shared = std::min(least.shared, least.serial);
  for (Cost* of : {&least.serial, &least.shared}) *of = all_written_behind(near, *of);
  return least;
}

Cost FusionSearch::starts() const { return Cost::milli(machine_.parallel_millicycles); }

FusionSearch::Bound FusionSearch::stage_bounds(const Group& g) {
  Bound sum{Cost(), starts()};
  for (int s = g.begin; s < g.end; ++s) {
    if (idle(g, s)) continue;
    const Bound stage = stage_bound(g, s);
    sum.serial = sum.serial + stage.serial + call();
    sum.shared = sum.shared + stage.shared + call();
  }
  return sum;
}

// With one parameter that stages might ask for, who asks pays for it; with several, nobody.
FusionSearch::Bound FusionSearch::both_bounds(const Group& g) {
  Bound least = stage_bounds(g);
  if (g.asking) return least;
  std::vector<int> spared;
  for (const int t : touched(g).tensors)
    if (!askers(g, t).empty()) spared.push_back(t);
  if (spared.empty()) return least;
  const auto or_else = [&](const Group& other) {
    const Bound b = stage_bounds(other);
    least = {std::min(least.serial, b.serial), std::min(least.shared, b.shared)};
  };
  Group near = g;
  for (const int t : spared) near.level[t] = kL1;
  if (spared.size() > 1) {
    or_else(near);
    return least;
  }
  for (const int stage : askers(g, spared.front())) {
    near.asking = {.tensor = spared.front(), .stage = stage, .from = g.level[spared.front()]};
    or_else(near);
  }
  return least;
}

Cost FusionSearch::bound(const Group& g) {
  const Bound least = both_bounds(g);
  return g.threads > 1 ? std::min(least.serial, least.shared) : least.serial;
}

Cost FusionSearch::bound(Node& n) {
  if (!n.bound) n.bound = bound(n.group);
  return *n.bound;
}

// A stage that finds near, whatever is tiled, what others of the group touch, too; the rest is
// where the group has it: that can come nearer in tiles of the stage alone.
Group FusionSearch::near_others(const Group& g, int stage) {
  Group out = near(g, stage);
  for (const int t : touched(out).tensors) {
    int users = 0;
    for (int s = g.begin; s < g.end; ++s)
      for (int o = 0; o < g_.stages[s].computation.tensors(); ++o)
        if (g_.buffer_of(g_.tensor_of(s, o)) == t) {
          ++users;
          break;
        }
    if (users < 2) out.level[t] = g.level[t];
  }
  return out;
}

// Whether tiles around a group could save more than a sixteenth of what its stages cost one after
// the other: an estimate, from stages that find all near which others touch, and that threads begin
// together once. Where it all fits in L2 there is little to search.
//
// (Chains of 128 to 2048 cubed, mlps from 8x512x2048 to 512x768x3072, gated layers of 64x2304x9216,
// AVX2 and AVX-512, 1 and 2 threads: 0 to 5.3 %. 18 of them were searched both ways: tiles made
// three cheaper, by 0.02, 0.15 and 1.0 %, and chains of 512 and 1024 cubed took 7 to 22 s of CPU
// for 0.5 to 4. Where tiles are found: long attention 10 to 30 %, softmax 17 to 33 %, norms 34 %.)
bool FusionSearch::pays(const Group& g) {
  constexpr i64 kShare = 16;
  if (options_.small_gains || !g.tiled.empty() || g.beside || nearest(g) <= kL2) return true;
  const Sum each = one_by_one(g);
  Cost apart = each.base, near;
  i64 calls = 0;
  for (const auto& [alone, weight] : each.parts) {
    if (idle(g, alone.begin)) continue;
    const Optimum* own = program(alone, Cost::infinite());
    const Optimum* best = program(near_others(g, alone.begin), Cost::infinite());
    if (own == nullptr || best == nullptr) return true;
    apart = apart + weight * own->cost;
    near = near + weight * all_written_behind(alone, best->cost);
    ++calls;
  }
  const Cost begins = Cost::milli(g.threads > 1 ? machine_.parallel_millicycles : 0);
  return kShare * near < (kShare - 1) * apart + kShare * std::max<i64>(0, calls - 1) * begins;
}

// Whether its stages make more for one another than they share with others: in tiles less of it is
// there at a time.
bool FusionSearch::keeps_much(const Group& g) const {
  i64 made = 0, shared = 0;
  for (const int t : touched(g).tensors) {
    const bool between = t >= g_.made_by(g.begin) && t < g_.made_by(g.end) &&
                         !g.buffers.contains(t) && !g_.is_result(g_.memory_of(t));
    (between ? made : shared) += bytes_of(t, g.extents);
  }
  return made > shared;
}

}  // namespace morello
