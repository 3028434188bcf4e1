#include "search/rewrite.h"

namespace morello {

namespace rewrites {
#define X(name) extern const Rewrite name;
#include "rewrites.inc"
#undef X
}  // namespace rewrites

std::span<const Rewrite* const> rewrite_table() {
#define X(name) &rewrites::name,
  static const Rewrite* const table[] = {
#include "rewrites.inc"
  };
#undef X
  return table;
}

void expand(const Space& space, const Spec& spec, Emit emit) {
  std::int16_t row = 0;
  for (const Rewrite* r : rewrite_table()) r->expand(space, spec, emit.of(row++));
}

ImplPtr build(const Space& space, const Spec& spec, const Decision& d,
              std::span<const ImplPtr> children) {
  return rewrite_table()[d.rewrite]->build(space, spec, d, children);
}

ImplPtr build_open(const Space& space, const Spec& spec, const Candidate& c) {
  const std::vector<ImplPtr> holes(static_cast<size_t>(c.cost.children), make_impl(Hole{spec}));
  return build(space, spec, c.decision, holes);
}

const Move* asking_move(const Impl& impl) {
  const Loop* l = std::get_if<Loop>(&impl.node);
  const ImplPtr body = !l ? nullptr : l->body ? l->body : l->first;
  const Move* m = body ? std::get_if<Move>(&body->node) : nullptr;
  return m && m->ahead_dim == l->dim ? m : nullptr;
}

std::vector<ImplPtr> searched_children(const Impl& impl) {
  std::vector<ImplPtr> out;
  if (const Loop* l = std::get_if<Loop>(&impl.node)) {
    const bool moves = asking_move(impl) != nullptr;
    for (const ImplPtr& part : {l->first, l->body, l->rest})
      if (part) out.push_back(moves ? std::get<Move>(part->node).body : part);
  } else if (const Move* m = std::get_if<Move>(&impl.node)) {
    out.push_back(m->body);
  } else if (const Clip* c = std::get_if<Clip>(&impl.node)) {
    out = c->parts;
  } else if (const Block* b = std::get_if<Block>(&impl.node)) {
    out.assign(b->parts.begin() + 1, b->parts.end());
  }
  return out;
}

}  // namespace morello
