// View ahead: a loop whose steps each read a new part of an input where it lies, while leaves ask
// for the part that the next step reads.
//
//   Spec(x@far, n: e)  =>  loop n by t  body { view x to L ahead n in leaves { Spec(x@L, n: t) } }
//                                       rest { view x to L { ... } }
//                   cost = loop + first view + steps * asked view + children, bytes of both parts
//
// where rows of x are along n; if x is packed, along any dim, also of a sum:
//
//   Spec(x@far packed, k: e)  =>  split k by t  first { view x to L ahead k in leaves { ... } } ...
//
// Prefetchers of the CPU do not follow rows of which a leaf reads a line or two, and a core that
// waits for each of them has nothing else to do: what is few times used is not worth copying, but
// worth asking for. Panels they do follow, but while they are used again nobody reads on. Proposed
// where the machine says what such a line costs (`asked_view_line_cycles`,
// `asked_panel_line_cycles`) and two leaves or more share in asking (codegen/ask.cc), for parts of
// twice `prefetch_bytes` at most. (Emerald Rapids, 2.9 GHz, f32 4x421x2445 by AVX2, b in L3, leaves
// of 4 x 16, 32 steps of the sum, parts along rows of 4 and 8 KiB, to L1, 162 and 164 us, of 8, 16,
// 32 and 64, to L2, 180, 193, 197 and 201; the next 32 rows of 256 bytes to 4 KiB 219 to 270; as it
// lies 478, copied and asked for 193. OpenBLAS, BLIS and oneDNN 276, 182 and 197.)

#include "search/rewrites/menus.h"

namespace morello::rewrites {

static void propose(const Space& space, const Spec& spec, int d, int o, i64 tile, Cost loop,
                    Emit emit) {
  const std::vector<Child> parts = children(space.problem(), spec, {Loop{.dim = d, .tile = tile}});
  const Spec& step = parts.front().spec;
  const i64 steps = spec.extent[d] / tile;
  const Region part = space.region(step, o);
  if (steps < 2 || !space.views_ask_for(step, o)) return;
  const Cost plain = space.view(step, o), asked = space.asked_view(step, o);
  for (const Level to : {kL2, kL1}) {
    if (space.machine().levels[to].bytes == 0) continue;
    Candidate c;
    c.decision = {
        .subject = static_cast<std::int16_t>(d), .detail = o * kLevels + to, .value = tile};
    c.takes.at(to) = 2 * part.footprint(to);
    c.cost.base = loop + plain + (steps - 1) * asked;
    for (const Child& p : parts) {
      if (p.spec.extent[d] != tile) c.cost.base = c.cost.base + space.view(p.spec, o);
      Spec child = p.spec;
      child.place[o].level = to;
      c.add(child, p.times);
    }
    emit(c);
  }
}

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1 || spec.uncut != 0) return;
  for (int o = 0; o < space.computation().inputs(); ++o) {
    if (!space.views_ask(spec, o)) continue;
    const bool packed = spec.place[o].packed;
    const int along = packed ? -1 : space.dim_along_rows(spec, o);
    for (const bool reduction : {false, true}) {
      if (reduction && !(packed && space.accumulates(spec))) continue;
      each_tile(space, spec, reduction, [&](int d, i64 tile, Cost loop) {
        if (packed ? space.touched(o, d) : d == along) propose(space, spec, d, o, tile, loop, emit);
      });
    }
  }
}

static ImplPtr build(const Space& space, const Spec& spec, const Decision& d,
                     std::span<const ImplPtr> children) {
  const Move view = {.operand = d.detail / kLevels,
                     .level = d.detail % kLevels,
                     .copy = false,
                     .ahead_in_leaves = true};
  return asking_loop(space, spec, d.subject, d.value, view, children);
}

extern const Rewrite view_ahead;
const Rewrite view_ahead = {.name = "view_ahead", .expand = expand, .build = build};

}  // namespace morello::rewrites
