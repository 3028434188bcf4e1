// Kernels of one stage and of several. Which Graphs the stages can become is tried here
// (spec/algebra.h); each is a search of its own, with the same tables.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "impl/clip.h"
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

// Graphs besides the spec's own that have the same stages, or the same but for sums and
// exponentials. Where a large result can be stored past the caches nothing need lie in it before.
// (G, softmax of f32[4096,4096], AVX-512: 8.9 and 6.9 ms, by two threads 4.4 and 3.4.)
static std::vector<Graph> others_of(const Graph& given, const Machine& machine) {
  std::vector<Graph> out;
  if (lies_in_l1(given, machine)) return out;
  for (const auto& rewrite : {online, sums_apart})
    if (std::optional<Graph> other = rewrite(given)) out.push_back(std::move(*other));
  const Param& result = given.tensors.back();
  if (!leaves_caches(machine, count_elements(extents(result.shape)) * bytes(result.dtype)))
    return out;
  const size_t stored_twice = out.size();
  for (size_t i = 0; i < stored_twice; ++i)
    if (std::optional<Graph> other = result_apart(out[i])) out.push_back(std::move(*other));
  if (std::optional<Graph> other = result_apart(given)) out.push_back(std::move(*other));
  return out;
}

// Whether a sixty-fourth of the time could go to copies of what is padded: a line in and a line
// out. Windows that are cut multiply fewer zeros, too. (The search takes up to four times as long.
// G, 3x3, 56x56, 64 channels to 64, copied and cut: AVX2 1873 and 1832 us, by two threads 1010 and
// 922; AVX-512 1027 and 1012, 551 and 513. It was an eighth: on Zen 5 AVX2 took 2.72 and 2.73 ms.)
static bool pads_take_time(const Fusion& f, Cost cost) {
  Cost copies;
  for (const StageProgram& p : f.programs) {
    if (f.graph->stages[p.stage].border.empty()) continue;
    const Param& made = f.graph->tensors[f.graph->made_by(p.stage)];
    const LevelDesc& from = p.problem.machine->levels[p.problem.home(0)];
    const i64 lines = count_elements(extents(made.shape)) * bytes(made.dtype) / from.line;
    copies = copies + 2 * lines * Cost::milli(from.line_millicycles);
  }
  return 64 * copies >= cost;
}

// How many of the products of a Graph windows that are cut leave out, as a share.
static double products_saved(const Graph& unpadded) {
  double all = 0, left = 0;
  for (const Stage& s : unpadded.stages) {
    const Computation& c = s.computation;
    double products = 1, inside = 1;
    for (const Dim& d : c.dims) products *= static_cast<double>(d.extent);
    for (const Clipped& x : clipped(c)) {
      double steps = 0;
      for (const Segment& p : x.segments) steps += static_cast<double>(p.count * p.window_count);
      inside *= steps / static_cast<double>(c.dims[x.dim].extent * c.dims[x.window].extent);
    }
    all += products;
    left += products * inside;
  }
  return 1 - left / all;
}

// Whether a Graph without pads is worth a search (which takes up to four times as long as one
// with them). Cut along one axis, windows of whole rows save products and lose nothing; along both,
// leaves at edges and in corners have few outputs. (Zen 4, 3x3, along one, of the time with pads:
// 7x7, 512 channels to 512, 0.90 by AVX2 and AVX-512, 14x14, 256 to 256, 0.96.)
static bool may_save(const Graph& unpadded, bool long_copies) {
  constexpr double kFirst = 1.0 / 32, kAll = 1.0 / 8;
  if (unpadded.pads_out == PadsOut::kFirst) return products_saved(unpadded) >= kFirst;
  return long_copies || products_saved(unpadded) >= kAll;
}

// What the bound of a family has to be less than, so that it is searched for a program that costs
// less than `enough` without the pads: those that cut windows are taken to miss their bounds by
// 19/20 or more of what the dearest stage of the program with pads misses its own by. (Of 52
// searches, convolutions on G, AVX2 and AVX-512, one and two threads, the 25 that end without pads
// do so with this, too: 17 miss theirs by more, 8 by up to 2 % less, or where pads cost half of the
// time. On Zen 5 3x3 by AVX2 and two threads, 0.98 of the cost with pads, needs the twentieth. 3x3,
// 56x56, 64 channels to 64, NCHW, AVX-512, of no use without pads: 12.1 s of CPU and now 4.5, by
// two threads 9.7 and 4.8.)
static Cost bounds_worth(const Fusion& f, Cost enough) {
  const StageProgram& most = dearest(f);
  const double bound = Space(most.problem).lower_bound().as_cycles();
  const double ratio =
      std::min(1.0, bound / static_cast<double>(std::max<i64>(most.cost_cycles, 1)));
  const double worth = ratio + (1 - ratio) / 20;
  return Cost::cycles(static_cast<i64>(worth * enough.as_cycles()));
}

namespace {

// A Graph for one thread and, where there are several, for those. A program without threads is one
// for several, too, and finds more near: what threads do is searched for below what it costs.
// (f32[19,15,3] x f32[3,3], three stages, 3 threads, AVX2: 1.5 s of CPU and 6269 cycles; 20 s and
// 7524 when the program had to be one for three.)
class GraphSearch {
 public:
  GraphSearch(const Graph& graph, const Machine& machine, const Isa& isa, SearchOptions options)
      : threads_(options.threads) {
    if (threads_ > 1) divided_.emplace(graph, machine, isa, options);
    options.threads = 1;
    serial_.emplace(graph, machine, isa, options);
  }

  // run() finds what costs less.
  Cost at_most() {
    if (!divided_) return serial_->at_most();
    const Cost most = divided_->at_most();
    const bool wins = serial_->both_bounds(serial_->root()).serial < most;
    return wins ? std::min(most, serial_->at_most()) : most;
  }

  std::variant<Optimum, StopReason> run(Cost enough) {
    auto serial = serial_->run(enough);
    Optimum* best = std::get_if<Optimum>(&serial);
    if (!divided_ || (!best && std::get<StopReason>(serial) == StopReason::kBudget)) return serial;
    if (!best) return divided_->run(enough);
    Fusion fusion = *best->fusion;
    fusion.threads = threads_;
    best->fusion = std::make_shared<const Fusion>(std::move(fusion));
    if (divided_->both_bounds(divided_->root()).shared >= best->cost) return serial;
    auto found = divided_->run(best->cost);
    if (Optimum* cheaper = std::get_if<Optimum>(&found))
      cheaper->stats += best->stats;
    else if (std::get<StopReason>(found) != StopReason::kBudget)
      return serial;
    return found;
  }

 private:
  int threads_;
  std::optional<FusionSearch> serial_, divided_;
};

}  // namespace

std::variant<Optimum, StopReason> optimize_graph(Graph graph, const Machine& machine,
                                                 const Isa& isa, const SearchOptions& options,
                                                 Cost enough) {
  return GraphSearch(graph, machine, isa, options).run(enough);
}

// Other Graphs are searched for what may cost less than the spec's own stages one after the other.
// (softmax of f32[67,3,55], 2 threads, no vectors: the one with carried stages had 690,000 groups,
// for a program that costs a quarter more.)
std::variant<Optimum, StopReason> optimize_fusion(const KernelSpec& spec, const Machine& machine,
                                                  const Isa& isa, const SearchOptions& options) {
  TablesInMemory kept;
  SearchOptions shared = options;
  if (!shared.tables && shared.max_specs == 0) shared.tables = &kept;
  const Graph given = graph_of(spec);
  const std::vector<Graph> others = others_of(given, machine);
  GraphSearch own(given, machine, isa, shared);
  const Cost most = own.at_most();
  std::optional<Optimum> best;
  SearchStats stats;
  const auto search = [&](GraphSearch& graph, Cost enough) {
    auto found = graph.run(enough);
    if (const StopReason* why = std::get_if<StopReason>(&found)) return *why != StopReason::kBudget;
    stats += std::get<Optimum>(found).stats;
    best = std::move(std::get<Optimum>(found));
    return true;
  };
  // Those that divide sums first: where they are cheaper, they are so by far. Of equals the spec's
  // own stages win.
  const auto enough = [&] { return best ? best->cost + Cost::milli(1) : most; };
  for (const Graph& other : others) {
    GraphSearch graph(other, machine, isa, shared);
    if (!search(graph, enough())) return StopReason::kBudget;
  }
  if (!search(own, enough())) return StopReason::kBudget;
  // Bounds are none on a machine that finds farther away sooner.
  if (!best && !search(own, Cost::infinite())) return StopReason::kBudget;
  if (!best) return StopReason::kNoImplementation;
  const std::shared_ptr<const Fusion> padded = best->fusion;
  const bool long_copies = padded && pads_take_time(*padded, best->cost);
  for (const PadsOut which : {PadsOut::kFirst, PadsOut::kAll}) {
    const std::optional<Graph> other = unpadded(given, which);
    if (!other || !padded || !may_save(*other, long_copies)) continue;
    SearchOptions few = shared;
    if (!few.small_gains) few.bounds_below = bounds_worth(*padded, best->cost);
    GraphSearch graph(*other, machine, isa, few);
    if (!search(graph, best->cost)) return StopReason::kBudget;
  }
  best->stats = stats;
  return std::move(*best);
}

std::variant<Optimum, StopReason> optimize(const KernelSpec& spec, const Machine& machine,
                                           const Isa& isa, const SearchOptions& options) {
  if (spec.stages.size() == 1) return optimize(spec.computation(), machine, isa, options);
  return spec.sizes().empty() ? optimize_fusion(spec, machine, isa, options)
                              : optimize_rows(spec, machine, isa, options);
}

}  // namespace morello
