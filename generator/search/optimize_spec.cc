// Kernels of one stage and of several. Which Graphs the stages can become is tried here
// (spec/algebra.h); each is a search of its own, with the same tables.

#include <optional>

#include "search/optimize.h"
#include "search/tables_in_memory.h"
#include "spec/algebra.h"

namespace morello {

// Everything: there is nothing to keep near.
static bool lies_in_l1(const Graph& g, const Machine& machine) {
  i64 total = 0;
  for (const Param& t : g.tensors) total += count_elements(extents(t.shape)) * bytes(t.dtype);
  return total <= machine.levels[kL1].bytes / 4 * 3;
}

std::variant<Optimum, StopReason> optimize_fusion(const KernelSpec& spec, const Machine& machine,
                                                  const Isa& isa, const SearchOptions& options) {
  TablesInMemory kept;
  SearchOptions shared = options;
  if (!shared.tables && shared.max_specs == 0) shared.tables = &kept;
  const Graph given = graph_of(spec);
  std::vector<Graph> graphs = {given};
  if (!lies_in_l1(given, machine))
    for (const auto& rewrite : {sums_apart, online})
      if (std::optional<Graph> other = rewrite(given)) graphs.push_back(std::move(*other));
  std::optional<Optimum> best;
  SearchStats stats;
  // Those that divide sums first: where they are cheaper, they are so by far. Of equals the spec's
  // own stages win.
  for (auto g = graphs.rbegin(); g != graphs.rend(); ++g) {
    const Cost enough = best ? best->cost + Cost::milli(1) : Cost::infinite();
    auto found = optimize_graph(std::move(*g), machine, isa, shared, enough);
    if (const StopReason* why = std::get_if<StopReason>(&found)) {
      if (*why == StopReason::kBudget) return *why;
      continue;
    }
    stats += std::get<Optimum>(found).stats;
    best = std::move(std::get<Optimum>(found));
  }
  if (!best) return StopReason::kNoImplementation;
  best->stats = stats;
  return std::move(*best);
}

std::variant<Optimum, StopReason> optimize(const KernelSpec& spec, const Machine& machine,
                                           const Isa& isa, const SearchOptions& options) {
  return spec.stages.size() == 1 ? optimize(spec.computation(), machine, isa, options)
                                 : optimize_fusion(spec, machine, isa, options);
}

}  // namespace morello
