#include "random_program.h"

#include "impl/shares.h"

namespace morello::test {
namespace {

ImplPtr node(auto n) { return std::make_shared<const Impl>(Impl{std::move(n)}); }

// The node with holes for children if it is legal, else null.
ImplPtr legal(const Problem& p, const Spec& spec, const Impl& impl) {
  Impl filled = impl;
  const std::vector<Child> parts = children(p, spec, impl);
  std::vector<ImplPtr> holes;
  for (const Child& c : parts) holes.push_back(node(Hole{c.spec}));
  if (Loop* loop = std::get_if<Loop>(&filled.node)) {
    const bool first =
        p.computation->dims[loop->dim].reduction && !spec.accumulate && !loop->parallel;
    const bool rest = spec.extent[loop->dim] % loop->tile != 0;
    size_t i = 0;
    if (first && i < holes.size()) loop->first = holes[i++];
    if (i + (rest ? 1 : 0) < holes.size()) loop->body = holes[i++];
    if (rest && i < holes.size()) loop->rest = holes[i++];
  } else if (Move* move = std::get_if<Move>(&filled.node)) {
    move->body = holes[0];
  } else if (Block* block = std::get_if<Block>(&filled.node)) {
    block->parts = {node(Call{Call::Kind::kFill}), holes[1]};
  }
  return verify(p, spec, filled).empty() ? node(filled.node) : nullptr;
}

ImplPtr random_loop(const Problem& p, const Spec& spec, Random& random) {
  const int dims = static_cast<int>(p.computation->dims.size());
  const int d = static_cast<int>(random.below(dims));
  const i64 extent = spec.extent[d];
  if (extent < 2) return nullptr;
  Loop loop{.dim = d};
  const i64 quantum = p.family.quantum[d];
  loop.tile = random.one_in(3) ? random.between(1, extent - 1) : quantum * random.between(1, 4);
  loop.parallel = spec.threads > 1 && (in_region(p, spec) || random.one_in(2));
  if (loop.parallel) loop.threads = static_cast<int>(random.between(1, spec.threads - 1));
  if (loop.tile >= extent) return nullptr;
  return legal(p, spec, {loop});
}

ImplPtr random_move(const Problem& p, const Spec& spec, Random& random) {
  Move move{.operand = static_cast<int>(random.below(p.computation->inputs() + 1)),
            .level = static_cast<Level>(random.between(kL1, kL3)),
            .copy = !random.one_in(4)};
  if (move.copy && random.one_in(2)) {
    move.ahead_dim = static_cast<int>(random.below(static_cast<i64>(p.computation->dims.size())));
    move.ahead_in_leaves = random.one_in(2);
    if (ImplPtr asking = legal(p, spec, {move})) return asking;
    move.ahead_dim = -1;
    move.ahead_in_leaves = false;
  }
  return legal(p, spec, {move});
}

ImplPtr random_call(const Problem& p, const Spec& spec, Random& random) {
  Call call;
  if (random.one_in(3)) {
    call.ahead_operand = static_cast<int>(random.below(p.computation->inputs() + 1));
    if (call.ahead_operand < p.computation->inputs())
      call.ahead_bytes = 64 * random.between(1, 300), call.ahead_to = random.one_in(2) ? kL1 : kL2;
  }
  call.streaming = random.one_in(2) && p.streaming_problem().empty();
  return legal(p, spec, {call});
}

// A step that leads to a leaf for certain: packs what the leaf cannot load, else shrinks a dim.
ImplPtr towards_leaf(const Problem& p, const Spec& spec) {
  for (int d = 0; d < static_cast<int>(p.computation->dims.size()); ++d) {
    if (p.computation->dims[d].reduction || spec.extent[d] <= p.family.quantum[d]) continue;
    const Loop loop{.dim = d, .tile = p.family.quantum[d], .parallel = spec.threads > 1};
    if (ImplPtr found = legal(p, spec, {loop})) return found;
  }
  for (int o = 0; o <= p.computation->inputs(); ++o)
    if (ImplPtr copy = legal(p, spec, {Move{.operand = o, .level = kL1, .copy = true}}))
      return copy;
  return nullptr;
}

ImplPtr draw(const Problem& p, const Spec& spec, Random& random, int depth) {
  for (int tries = 0; tries < 40; ++tries) {
    ImplPtr impl;
    const i64 kind = random.below(8);
    if (depth >= 6 || kind < 2) impl = random_call(p, spec, random);
    if (!impl && depth >= 6) impl = towards_leaf(p, spec);
    if (!impl && kind < 5) impl = random_loop(p, spec, random);
    if (!impl && kind < 7 && depth < 6) impl = random_move(p, spec, random);
    if (!impl && kind == 7)
      impl = legal(p, spec, {Block{{node(Call{Call::Kind::kFill}), node(Hole{spec})}}});
    if (impl) return impl;
  }
  return nullptr;
}

}  // namespace

ImplPtr random_program(const Problem& p, const Spec& spec, Random& random, int depth) {
  const ImplPtr drawn = draw(p, spec, random, depth);
  if (!drawn) return nullptr;
  Impl impl = *drawn;
  const std::vector<Child> parts = children(p, spec, impl);
  std::vector<ImplPtr> done;
  for (const Child& c : parts) {
    const bool hole = std::holds_alternative<Hole>(c.impl->node);
    done.push_back(hole ? random_program(p, c.spec, random, depth + 1) : c.impl);
    if (!done.back()) return nullptr;
  }
  size_t i = 0;
  if (Loop* loop = std::get_if<Loop>(&impl.node)) {
    for (ImplPtr* part : {&loop->first, &loop->body, &loop->rest})
      if (*part) *part = done[i++];
  } else if (Move* move = std::get_if<Move>(&impl.node)) {
    move->body = done[0];
  } else if (Block* block = std::get_if<Block>(&impl.node)) {
    block->parts = done;
  }
  return node(impl.node);
}

}  // namespace morello::test
