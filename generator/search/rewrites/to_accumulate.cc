// To accumulate: write zeros first, then only ever add.
//
//   Spec  =>  block { fill; Spec(acc) }      cost = fill + child

#include "search/rewrite.h"

namespace morello::rewrites {

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (space.elastic_output() || spec.uncut != 0 || spec.threads > 1 || spec.accumulate ||
      !space.accumulates(spec))
    return;
  Candidate c;
  c.cost.base = space.fill(spec);
  Spec child = spec;
  child.accumulate = true;
  c.add(child, 1);
  emit(c);
}

static ImplPtr build(const Space&, const Spec&, const Decision&,
                     std::span<const ImplPtr> children) {
  return make_impl(Block{{make_impl(Call{.kind = Call::Kind::kFill}), children[0]}});
}

extern const Rewrite to_accumulate;
const Rewrite to_accumulate = {.name = "to_accumulate", .expand = expand, .build = build};

}  // namespace morello::rewrites
