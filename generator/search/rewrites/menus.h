// What rewrites of the same kind share: which tiles a dim may be cut into, which levels an operand
// may be moved to.
#pragma once

#include "search/rewrite.h"

namespace morello::rewrites {

// try_tile(dim, tile, cost of all steps of the loop) for the tiles of every parallel (or every
// reduction) dim of a Spec that cut no block of an operand's layout, smallest first, the even one
// last.
template <class F>
void each_tile(const Space& space, const Spec& spec, bool reduction, F try_tile) {
  const Steps steps(space, spec);
  for (int d = 0; d < space.dims(); ++d) {
    if (space.computation().dims[d].reduction != reduction || !space.divides(spec, d)) continue;
    const auto step_by = [&](i64 tile) {
      if (!space.steps_whole_blocks(spec, d, tile)) return;
      const i64 count = (spec.extent[d] + tile - 1) / tile;
      try_tile(d, tile, count * (Cost::milli(kLoopMilli) + steps.at(d, tile)));
    };
    for (i64 tile : space.tiles(d)) {
      if (tile >= spec.extent[d]) break;
      step_by(tile);
    }
    if (const i64 even = space.even_tile(spec, d); even > 0) step_by(even);
  }
}

// The serial loop over dim, with the programs of its parts in order.
inline Loop loop_of(const Space& space, const Spec& spec, int dim, i64 tile,
                    std::span<const ImplPtr> parts) {
  Loop loop{.dim = dim, .tile = tile};
  i64 steps = spec.extent[dim] / tile;
  size_t next = 0;
  if (space.computation().dims[dim].reduction && !spec.accumulate) {
    loop.first = parts[next++];
    --steps;
  }
  if (steps > 0) loop.body = parts[next++];
  if (spec.extent[dim] % tile > 0) loop.rest = parts[next];
  return loop;
}

// The serial loop whose steps begin with a move, which asks for what the next step moves; in what
// remains it asks for nothing, as nothing is behind it.
inline ImplPtr asking_loop(const Space& space, const Spec& spec, int dim, i64 tile, Move move,
                           std::span<const ImplPtr> children) {
  const bool in_leaves = move.ahead_in_leaves;
  const size_t rest = spec.extent[dim] % tile > 0 ? 1 : 0;
  std::vector<ImplPtr> parts;
  for (const ImplPtr& child : children) {
    const bool last = parts.size() + rest == children.size();
    move.ahead_dim = last ? -1 : dim;
    move.ahead_in_leaves = in_leaves && !last;
    move.body = child;
    parts.push_back(make_impl(move));
  }
  return make_impl(loop_of(space, spec, dim, tile, parts));
}

// One move of operand o to every cache level from `farthest` on down. price(level, candidate) fills
// in the cost and returns the bytes taken there.
template <class F>
void each_move(const Space& space, const Spec& spec, int o, Level farthest, bool packed,
               const Emit& emit, F price) {
  for (Level to = std::min(farthest, Level{kL3}); to >= kL1; --to) {
    if (space.machine().levels[to].bytes == 0) continue;
    Candidate c;
    c.decision = {.subject = static_cast<std::int16_t>(o), .detail = to};
    c.takes.at(to) = price(to, c);
    Spec child = spec;
    child.place[o] = {to, packed};
    c.add(child, 1);
    emit(c);
  }
}

}  // namespace morello::rewrites
