#include "codegen/workspace.h"

#include <algorithm>

namespace morello {

static bool is_parallel(const Impl& impl) {
  const Loop* loop = std::get_if<Loop>(&impl.node);
  return loop && loop->parallel;
}

static i64 largest_child(const Problem& p, const Spec& spec, const Impl& impl,
                         i64 (*bytes)(const Problem&, const Spec&, const Impl&)) {
  i64 most = 0;
  for (const Child& child : children(p, spec, impl))
    most = std::max(most, bytes(p, child.spec, *child.impl));
  return most;
}

i64 arena_bytes(const Problem& p, const Spec& spec, const Impl& impl) {
  if (is_parallel(impl)) return 0;
  i64 own = 0;
  if (const Move* move = std::get_if<Move>(&impl.node); move && move->copy)
    own = round_up_to_line(p.packed_bytes(move->operand, spec.extent));
  return own + largest_child(p, spec, impl, arena_bytes);
}

i64 chunk_arena_bytes(const Problem& p, const Spec& spec, const Impl& loop) {
  return largest_child(p, spec, loop, arena_bytes);
}

i64 chunks_workspace_bytes(const Problem& p, const Spec& spec, const Impl& impl) {
  if (!is_parallel(impl)) return largest_child(p, spec, impl, chunks_workspace_bytes);
  const i64 each = chunk_arena_bytes(p, spec, impl);
  if (each <= kLocalBytes) return 0;
  i64 chunks = 0;
  for (const Child& child : children(p, spec, impl)) chunks += child.times;
  return chunks * each;
}

}  // namespace morello
