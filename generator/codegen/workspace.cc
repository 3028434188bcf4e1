#include "codegen/workspace.h"

#include <algorithm>

#include "impl/shares.h"

namespace morello {

static bool is_parallel(const Impl& impl) {
  const Loop* loop = std::get_if<Loop>(&impl.node);
  return loop && loop->parallel;
}

static i64 copies_bytes(const Problem& p, const Spec& spec, const Loop& loop) {
  if (!p.computation->dims[loop.dim].reduction) return 0;
  const Shares shares = shares_of(p, spec, loop);
  return (shares.count - 1) * shares.copy_bytes;
}

static i64 largest_child(const Problem& p, const Spec& spec, const Impl& impl,
                         i64 (*bytes)(const Problem&, const Spec&, const Impl&)) {
  i64 most = 0;
  for (const Child& child : children(p, spec, impl))
    most = std::max(most, bytes(p, child.spec, *child.impl));
  return most;
}

i64 arena_bytes(const Problem& p, const Spec& spec, const Impl& impl) {
  if (is_parallel(impl)) return copies_bytes(p, spec, std::get<Loop>(impl.node));
  i64 own = 0;
  if (const Move* move = std::get_if<Move>(&impl.node); move && move->copy)
    own = round_up_to_line(p.packed_bytes(move->operand, spec.extent));
  return own + largest_child(p, spec, impl, arena_bytes);
}

static i64 task_arena_bytes(const Problem& p, const Spec& spec, const Impl& impl) {
  return is_parallel(impl) ? chunk_arena_bytes(p, spec, impl) : arena_bytes(p, spec, impl);
}

i64 chunk_arena_bytes(const Problem& p, const Spec& spec, const Impl& loop) {
  return largest_child(p, spec, loop, task_arena_bytes);
}

i64 chunks_workspace_bytes(const Problem& p, const Spec& spec, const Impl& impl) {
  if (!is_parallel(impl)) return largest_child(p, spec, impl, chunks_workspace_bytes);
  const i64 each = chunk_arena_bytes(p, spec, impl);
  return each <= kLocalBytes ? 0 : task_count(p, spec, impl) * each;
}

}  // namespace morello
