// Memory for the buffers of copy Moves: a stack discipline over the Impl, so that nested copies
// pile up and copies that are never live together share.
#pragma once

#include "impl/impl.h"

namespace morello {

// Buffers of one function up to this size are a local array, larger ones the caller's workspace.
inline constexpr i64 kLocalBytes = 32 * 1024;

inline constexpr i64 round_up_to_line(i64 bytes) { return (bytes + 63) / 64 * 64; }

// Most bytes live at once in the code of this node that runs on one thread: the inside of a
// parallel loop has an arena per task and does not count, but for the copies of the output that
// shares of a reduction sum into.
i64 arena_bytes(const Problem& p, const Spec& spec, const Impl& impl);

// The arena of one task of a parallel loop.
i64 chunk_arena_bytes(const Problem& p, const Spec& spec, const Impl& loop);

// Workspace the parallel loops below this node need, all tasks together.
i64 chunks_workspace_bytes(const Problem& p, const Spec& spec, const Impl& impl);

}  // namespace morello
