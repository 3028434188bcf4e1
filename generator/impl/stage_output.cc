#include "impl/stage_output.h"

namespace morello {

static bool reads(const Graph& g, int stage, int memory) {
  const Computation& c = g.stages[stage].computation;
  for (int t = 0; t < c.tensors(); ++t)
    if (t != c.inputs() && g.memory_of(g.tensor_of(stage, t)) == memory) return true;
  return false;
}

void describe_output(const Graph& g, const Machine& machine, int stage, Part& p) {
  const int memory = g.memory_of(g.made_by(stage));
  const Param& result = g.tensors[memory];
  const bool large =
      leaves_caches(machine, count_elements(extents(result.shape)) * bytes(result.dtype));
  const bool reads_it = reads(g, stage, memory);
  p.in_place = reads_it && !large;
  p.leaves = g.is_result(memory) && !reads_it && large;
  p.read_again = false;
  for (int s = stage + 1; s < static_cast<int>(g.stages.size()); ++s)
    p.read_again |= p.leaves && reads(g, s, memory);
}

}  // namespace morello
