// Kernels of one stage and of several. Which Graphs the stages can become is tried here
// (spec/algebra.h); each is a search of its own, with the same tables.

#include <algorithm>
#include <optional>
#include <utility>

#include "search/fusion_search.h"
#include "search/tables_in_memory.h"
#include "spec/algebra.h"

namespace morello {

// Everything: there is nothing to keep near.
static bool lies_in_l1(const Graph& g, const Machine& machine) {
  i64 total = 0;
  for (const Param& t : g.tensors) total += count_elements(extents(t.shape)) * bytes(t.dtype);
  return total <= machine.levels[kL1].bytes / 4 * 3;
}

// Whether an eighth of the time could go to copies of what is padded: a line in and a line out.
// (Where it does not, the edges of windows take as long: 3x3, 64 channels to 64, 56x56 with AVX2
// 2.72 and 2.73 ms, for four times the search.)
static bool pads_take_time(const Fusion& f, Cost cost) {
  Cost copies;
  for (const StageProgram& p : f.programs) {
    if (f.graph->stages[p.stage].border.empty()) continue;
    const Param& made = f.graph->tensors[f.graph->made_by(p.stage)];
    const LevelDesc& from = p.problem.machine->levels[p.problem.home(0)];
    const i64 lines = count_elements(extents(made.shape)) * bytes(made.dtype) / from.line;
    copies = copies + 2 * lines * Cost::milli(from.line_millicycles);
  }
  return 8 * copies >= cost;
}

// The program for one thread.
static std::variant<Optimum, StopReason> without_threads(const Graph& graph, const Machine& machine,
                                                         const Isa& isa, SearchOptions options,
                                                         Cost enough) {
  const int threads = std::exchange(options.threads, 1);
  auto found = FusionSearch(graph, machine, isa, options).run(enough);
  if (Optimum* o = std::get_if<Optimum>(&found)) {
    Fusion fusion = *o->fusion;
    fusion.threads = threads;
    o->fusion = std::make_shared<const Fusion>(std::move(fusion));
  }
  return found;
}

// A program without threads is one for `threads`, too, and finds more near. What threads do is then
// searched for below what it costs. (f32[19,15,3] x f32[3,3], three stages, 3 threads, AVX2: 1.5 s
// of CPU and 6269 cycles; 20 s and 7524 when the program had to be one for three.)
std::variant<Optimum, StopReason> optimize_graph(Graph graph, const Machine& machine,
                                                 const Isa& isa, const SearchOptions& options,
                                                 Cost enough) {
  if (options.threads == 1)
    return FusionSearch(std::move(graph), machine, isa, options).run(enough);
  auto serial = without_threads(graph, machine, isa, options, enough);
  const Optimum* best = std::get_if<Optimum>(&serial);
  if (!best && std::get<StopReason>(serial) == StopReason::kBudget) return serial;
  FusionSearch search(std::move(graph), machine, isa, options);
  if (!best) return search.run(enough);
  if (search.both_bounds(search.root()).shared >= best->cost) return serial;
  auto found = search.run(best->cost);
  if (Optimum* cheaper = std::get_if<Optimum>(&found))
    cheaper->stats += best->stats;
  else if (std::get<StopReason>(found) != StopReason::kBudget)
    return serial;
  return found;
}

// The program for a Graph costs less: other Graphs, and one thread where there are several, are
// searched for what does, too. (softmax of f32[67,3,55], 2 threads, no vectors: the one with
// carried stages had 690,000 groups, for a program that costs a quarter more.)
static Cost at_most(const Graph& g, const Machine& machine, const Isa& isa,
                    const SearchOptions& options) {
  const Cost divided = FusionSearch(g, machine, isa, options).at_most();
  if (options.threads == 1) return divided;
  SearchOptions alone = options;
  alone.threads = 1;
  FusionSearch serial(g, machine, isa, alone);
  const bool wins = serial.both_bounds(serial.root()).serial < divided;
  return wins ? std::min(divided, serial.at_most()) : divided;
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
  const bool several = graphs.size() > 1 || options.threads > 1;  // to be searched
  const Cost most = several ? at_most(given, machine, isa, shared) : Cost::infinite();
  std::optional<Optimum> best;
  SearchStats stats;
  const std::optional<Graph> without_pads = unpadded(given);
  const auto search = [&](Graph g, Cost enough) {
    auto found = optimize_graph(std::move(g), machine, isa, shared, enough);
    if (const StopReason* why = std::get_if<StopReason>(&found)) return *why != StopReason::kBudget;
    stats += std::get<Optimum>(found).stats;
    best = std::move(std::get<Optimum>(found));
    return true;
  };
  // Those that divide sums first: where they are cheaper, they are so by far. Of equals the spec's
  // own stages win.
  for (auto g = graphs.rbegin(); g != graphs.rend(); ++g)
    if (!search(std::move(*g), best ? best->cost + Cost::milli(1) : most))
      return StopReason::kBudget;
  // Bounds are none on a machine that finds farther away sooner.
  if (!best && !search(given, Cost::infinite())) return StopReason::kBudget;
  if (without_pads && best && best->fusion && pads_take_time(*best->fusion, best->cost) &&
      !search(*without_pads, best->cost))
    return StopReason::kBudget;
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
