#include "impl/shares.h"

#include <algorithm>

namespace morello {

// Copies of fewer bytes than this are added by one thread: reading 64 KiB from an L3 cache takes
// less than starting a region (zen5: 2800 cycles against 4000).
static constexpr i64 kTaskBytes = 64 * 1024;
static constexpr i64 kLineBytes = 64;

static i64 ceil_div(i64 a, i64 b) { return (a + b - 1) / b; }

i64 task_count(const Problem& p, const Spec& spec, const Impl& impl) {
  const Loop* loop = std::get_if<Loop>(&impl.node);
  if (!loop || !loop->parallel) return 1;
  i64 tasks = 0;
  for (const Child& child : children(p, spec, impl))
    tasks += child.times * (child.impl ? task_count(p, child.spec, *child.impl) : 1);
  return tasks;
}

Shares shares_of(const Problem& p, const Spec& spec, const Loop& loop) {
  const int out = p.computation->inputs();
  const bool packed = spec.place[out].packed;
  const i64 size = bytes(p.place_dtype(out, packed));
  Shares s;
  s.count = ceil_div(spec.extent[loop.dim], loop.tile);
  s.elements = packed ? p.packed_bytes(out, spec.extent) / size : p.root_address(out).elements;
  s.copy_bytes = ceil_div(s.elements * size, kLineBytes) * kLineBytes;
  s.tasks = std::clamp<i64>(s.count * s.copy_bytes / kTaskBytes, 1, spec.threads);
  const i64 line = kLineBytes / size;
  s.task_elements = ceil_div(ceil_div(s.elements, s.tasks), line) * line;
  s.tasks = ceil_div(s.elements, s.task_elements);
  return s;
}

}  // namespace morello
