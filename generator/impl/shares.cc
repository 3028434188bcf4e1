#include "impl/shares.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "spec/sizes.h"

namespace morello {

static constexpr i64 kLineBytes = 64;

Level shared_level(const Machine& machine, int threads) {
  Level l = kL2;
  while (l < kMemory && machine.levels[l].shared_by < threads) ++l;
  return l;
}

// Bytes that a task of the addition reads at the least: reading them takes as long as starting a
// region, so that with fewer the region would cost more than a second thread saves. A power of two,
// because no machine file is more exact: 32 KiB on zen5, 16 KiB on Granite Rapids.
static i64 task_bytes(const Machine& machine, int threads) {
  const LevelDesc& from = machine.levels[shared_level(machine, threads)];
  const i64 lines = machine.parallel_millicycles / from.line_millicycles;
  return std::max(kLineBytes,
                  static_cast<i64>(std::bit_floor(static_cast<std::uint64_t>(lines * from.line))));
}

// Whoever asks without a machine, as tests of nests do, has one task.
static i64 tasks_to_add(const Problem& p, i64 bytes, int threads) {
  if (!p.machine) return 1;
  return std::clamp<i64>(bytes / task_bytes(*p.machine, threads), 1, threads);
}

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
  s.tasks = tasks_to_add(p, s.count * s.copy_bytes, spec.threads);
  const i64 line = kLineBytes / size;
  s.task_elements = ceil_div(ceil_div(s.elements, s.tasks), line) * line;
  s.tasks = ceil_div(s.elements, s.task_elements);
  return s;
}

}  // namespace morello
