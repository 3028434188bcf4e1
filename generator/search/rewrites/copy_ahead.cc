// Copy ahead: a loop whose steps each copy their part of an input first, and ask while they do for
// what the next step copies.
//
//   Spec(x, n: e)  =>  loop n by t  body { copy x to L ahead n { Spec(x@L packed, n: t) } }
//                                   rest { copy x to L { ... } }
//   Spec(x, k: e)  =>  split k by t  first { ... }  body { ... }  rest { ... }, as in
//                      split_reduction.cc
//                   cost = loop + steps * asked copy + what the first one waits + children
//
// A copy has nothing to do while its lines come, and between two copies of a loop nobody waits for
// any: so one asks for the lines of the next. Prefetchers of the CPU do not, where a copy leaves a
// row after a few lines. Where two leaves or more stand between the copies, whose load pipes have
// time for it, these may ask, in shares (`ahead n in leaves`, codegen/ask.cc). Proposed where the
// machine says what such a line costs: `asked_by_leaves_line_cycles` where leaves ask,
// `asked_copy_line_cycles` where they do not. Which of the two is faster the CPU decides. (G:
// codegen/ask.cc. Zen 4, f32 by AVX2, the same nests with copies that ask and with leaves that do,
// us: 8x2048x4096 2188 and 3085, 16x4096x4096 6575 and 7820, 16x2048x2048 1570 and 1690; there
// evenly between the steps of each leaf 1614, all before the first leaf 2313, two copies ahead
// 1523, but 16x4096x4096 7083.)
//
// What is asked for takes room in L2, in as few sets as its rows begin in. (Zen 4, L2 of 1 MiB, f32
// by AVX2: 16x2048x2048 from L3, rows 8 KiB apart, in parts of 128 x 32, of which half of it could
// hold twice as much, 3060 us and 1602, 128 x 64 1680, 128 x 128 2090, 256 x 64 2125; 16x4096x4096
// from memory, 128 x 32, 12.5 and 7.7 ms.)

#include "search/rewrites/menus.h"

namespace morello::rewrites {

static Decision decision_of(int dim, int operand, Level to, i64 tile) {
  return {
      .subject = static_cast<std::int16_t>(dim), .detail = operand * kLevels + to, .value = tile};
}

// Steps wait for what nobody asked for once: the first does, and in what remains the plain copy
// stands, as nothing is behind it.
static void propose(const Space& space, const Spec& spec, int d, int o, i64 tile, Cost loop,
                    Emit emit) {
  const std::vector<Child> parts = children(space.problem(), spec, {Loop{.dim = d, .tile = tile}});
  const Spec& step = parts.front().spec;
  const i64 steps = spec.extent[d] / tile;
  if (steps < 2) return;
  for (const Level to : {kL2, kL1}) {
    if (space.machine().levels[to].bytes == 0) continue;
    const Cost plain = space.copy(step, o, to);
    const Cost asked = space.asked_copy(step, o, to) + space.asked_rows(spec, o, d, tile);
    if (asked >= plain) continue;
    Candidate c;
    c.decision = decision_of(d, o, to, tile);
    c.takes.at(kL2) = space.region(step, o).footprint(kL2);
    c.takes.at(to) += space.problem().packed_bytes(o, step.extent);
    c.cost.base = loop + plain + (steps - 1) * asked;
    for (const Child& part : parts) {
      if (part.spec.extent[d] != tile) c.cost.base = c.cost.base + space.copy(part.spec, o, to);
      Spec child = part.spec;
      child.place[o] = {to, true};
      c.add(child, part.times);
    }
    emit(c);
  }
}

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1 || spec.uncut != 0) return;
  for (int o = 0; o < space.computation().inputs(); ++o) {
    if (!space.packs(o) || !space.copies_ask(spec, o)) continue;
    for (const bool reduction : {false, true}) {
      if (reduction && !space.accumulates(spec)) continue;
      each_tile(space, spec, reduction, [&](int d, i64 tile, Cost loop) {
        if (space.touched(o, d)) propose(space, spec, d, o, tile, loop, emit);
      });
    }
  }
}

static ImplPtr build(const Space& space, const Spec& spec, const Decision& d,
                     std::span<const ImplPtr> children) {
  Spec step = spec;
  step.extent[d.subject] = d.value;
  const int operand = d.detail / kLevels;
  const Move copy = {.operand = operand,
                     .level = d.detail % kLevels,
                     .copy = true,
                     .ahead_in_leaves = space.leaves_ask(step, operand)};
  return asking_loop(space, spec, d.subject, d.value, copy, children);
}

extern const Rewrite copy_ahead;
const Rewrite copy_ahead = {.name = "copy_ahead", .expand = expand, .build = build};

}  // namespace morello::rewrites
