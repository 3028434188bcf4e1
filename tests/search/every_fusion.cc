#include "every_fusion.h"

#include <set>
#include <tuple>

#include "toy.h"

namespace morello {
namespace {

// Of some product, and of all that is made; nothing has its elements side by side.
bool is_batch(const Graph& graph, const Group& g, int dim) {
  int products = 0;
  for (int s = g.begin; s < g.end; ++s) {
    const Computation& c = graph.stages[s].computation;
    const int own = graph.dims[dim].in_stage[s];
    if (own < 0) return false;
    size_t with = 0;
    for (size_t o = 0; o < c.operands.size(); ++o) {
      const int t = graph.tensor_of(s, static_cast<int>(o));
      if (touches(c.operands[o], own))
        ++with;
      else if (t >= graph.params)
        return false;
      if (given_address(c, static_cast<int>(o)).unit_stride(own) == 1) return false;
    }
    products += c.combine != Combine::kNone && c.operands.size() > 2 && with == c.operands.size();
  }
  return products > 0;
}

// Bytes from the beginning of a parameter to each element that a stage reads of it in a step along
// a dim that begins at such an index; one for each time.
std::vector<i64> places_read(const Graph& graph, const Group& g, int stage, int tensor, int dim,
                             i64 size, i64 begin) {
  const Computation& c = graph.stages[stage].computation;
  const int o = graph.operand_of(stage, tensor);
  Extents extent{}, index{};
  extent.fill(1);
  for (int d = 0; d < static_cast<int>(graph.dims.size()); ++d)
    if (const int own = graph.dims[d].in_stage[stage]; own >= 0)
      extent[own] = d == dim ? size : g.extents[d];
  const int along = graph.dims[dim].in_stage[stage];
  const AddressMap map = given_address(c, o);
  std::vector<i64> out;
  for (bool more = true; more;) {
    Extents at = index;
    if (along >= 0) at[along] += begin;
    out.push_back(map.offset(at) * bytes(c.tensor(o).dtype));
    more = false;
    for (size_t d = 0; d < c.dims.size() && !more; ++d)
      if (++index[d] == extent[d])
        index[d] = 0;
      else
        more = true;
  }
  return out;
}

// The distances at which stages ask for a parameter's part of the next step, by stage: that part is
// the piece of memory behind this one, far away, and no more of it than half of the machine's
// distance, or one element of the dim.
std::set<std::pair<int, i64>> asks_by_the_rules(const Graph& graph, const Group& g,
                                                const Machine& machine, const Isa& isa, int dim,
                                                i64 size) {
  std::set<std::pair<int, i64>> out;
  const i64 usual = machine.prefetch_bytes;
  if (usual == 0 || isa.prefetch.empty() || g.threads > 1 || g.asking) return out;
  const auto idle = [&](int s) { return graph.is_carried(s) && !g.carries; };
  for (int t = 0; t < graph.params; ++t) {
    const LevelDesc& from = machine.levels[g.level[t]];
    if (g.level[t] < kL3 || from.prefetched_millicycles >= from.line_millicycles) continue;
    bool before = false;
    for (int s = g.begin; s < g.end; ++s) {
      const int o = graph.operand_of(s, t);
      if (o < 0 || idle(s)) continue;
      const std::vector<i64> all = places_read(graph, g, s, t, dim, size, 0);
      const std::vector<i64> next = places_read(graph, g, s, t, dim, size, size);
      const std::set<i64> read(all.begin(), all.end());
      const i64 element = bytes(graph.tensors[t].dtype),
                run = *read.rbegin() - *read.begin() + element;
      const bool one = run == static_cast<i64>(read.size()) * element &&
                       *std::min_element(next.begin(), next.end()) == *read.begin() + run;
      const bool once = read.size() == all.size() && o < graph.stages[s].computation.inputs();
      i64 distance = std::max(usual, run + usual / 2);
      distance -= distance % 64;
      const bool to_l1 = distance + run <= machine.levels[kL1].bytes;
      const bool fits = to_l1 || 16 * distance <= machine.levels[kL2].bytes;
      if (before && one && once && fits && (size == 1 || 2 * run <= usual))
        out.emplace(s, distance);
      before = true;
    }
  }
  return out;
}

// Whether another dim number more than one row around those of this one: a step of `outer` is
// farther than one of `inner` wherever there are both, nothing has one of the two only, nothing is
// summed, and no windows go along `outer`.
bool goes_around(const Graph& graph, const Group& g, int outer, int inner) {
  if (outer == inner || g.extents[outer] == 1) return false;
  for (int s = g.begin; s < g.end; ++s) {
    const Computation& c = graph.stages[s].computation;
    const int a = graph.dims[outer].in_stage[s], b = graph.dims[inner].in_stage[s];
    if (a < 0 || b < 0 || c.dims[a].reduction || c.dims[b].reduction) return false;
    for (int t = 0; t < c.tensors(); ++t) {
      const Operand& o = c.tensor(t);
      Extents one_a{}, one_b{};
      one_a[a] = one_b[b] = 1;
      const AddressMap map = given_address(c, t);
      if (touches(o, a) != touches(o, b)) return false;
      if (touches(o, a) && map.offset(one_a) <= map.offset(one_b)) return false;
      for (const AxisMap& axis : o.axes)
        for (const AxisTerm& term : axis)
          if (term.dim == a && axis.size() > 1) return false;
    }
  }
  return tile_problem(graph, outer, g.begin, g.end).empty();
}

// The rules once more, for extents below 32: every cut; every dim that all stages can share in
// steps of 2^a and 3 * 2^a, if it is not tiled yet; one that is summed over in steps of 8, by one
// thread; if threads are left and nothing is tiled, in as many steps as there are threads or twice
// as many. Of batches steps of 4^a, and nothing else around several; threads have only them where
// they get as many each, or 8 and more. Rows within rows where there is one of those around, but
// for threads. In steps in which a stage asks for those to come, cuts only.
using Choice =
    std::tuple<int, int, i64, bool, int, i64>;  // as in an Option; who asks how far ahead
std::set<Choice> choices_by_the_rules(const Graph& graph, const Group& g, const Machine& machine,
                                      const Isa& isa) {
  std::set<Choice> out;
  bool several = false, feed = false;
  for (int d = 0; d < static_cast<int>(graph.dims.size()); ++d) {
    if (!is_batch(graph, g, d)) continue;
    several |= g.extents[d] != 1;
    feed |= g.extents[d] % g.threads == 0 || g.extents[d] >= 8 * g.threads;
  }
  for (int cut = g.begin + 1; cut < g.end; ++cut) out.insert({cut, -1, 0, false, -1, 0});
  if (g.asking && g.begin <= g.asking->stage && g.asking->stage < g.end) return out;
  for (int d = 0; d < static_cast<int>(graph.dims.size()); ++d) {
    if (!tile_problem(graph, d, g.begin, g.end).empty()) continue;
    const bool sums = sums_over(graph, d, g.begin, g.end);
    const bool batch = is_batch(graph, g, d);
    bool serial = (g.threads == 1 || !(sums || graph.apart)) && (batch || !several);
    for (int outer = 0; outer < static_cast<int>(graph.dims.size()); ++outer)
      serial &= !goes_around(graph, g, outer, d);
    const bool parallel = g.threads > 1 && g.tiled.empty() && !sums && (batch || !feed);
    for (i64 size = 1; size < g.extents[d]; ++size) {
      i64 odd = size;
      while (odd % 2 == 0) odd /= 2;
      const bool good = batch  ? size == 1 || size == 4 || size == 16
                        : sums ? size == 8
                               : odd == 1 || odd == 3;
      if (good && serial && !g.tiled.contains(d)) {
        out.insert({-1, d, size, false, -1, 0});
        for (const auto& [stage, ahead] : asks_by_the_rules(graph, g, machine, isa, d, size))
          out.insert({-1, d, size, false, stage, ahead});
      }
      const i64 share = (g.extents[d] + g.threads - 1) / g.threads;
      if (parallel && (size == share || size == (share + 1) / 2))
        out.insert({-1, d, size, true, -1, 0});
    }
  }
  return out;
}

// Whether those are all rules: nothing is packed ahead of time, no layout has blocks.
bool is_plain(const Graph& g) {
  for (const Param& p : g.tensors) {
    if (p.packed) return false;
    for (const Digit& d : p.layout.digits)
      if (d.mod != 0 || d.div != 1) return false;
  }
  return true;
}

}  // namespace

EveryFusion::EveryFusion(const Graph& graph, const Machine& machine, const Isa& isa, int threads,
                         Inner inner, size_t most)
    : machine_(machine),
      isa_(isa),
      inner_(inner),
      most_(most),
      threads_(threads),
      search_(graph, machine, isa, {.threads = threads, .small_gains = true}) {
  search_.choose_packing();
  programs_ = all(search_.root());
  if (overflow_) programs_.clear();
}

std::vector<EveryFusion::Call> EveryFusion::cheapest(const StageProblem& p, int stage) const {
  const auto result = optimize_among(p.problems, {});
  if (std::holds_alternative<StopReason>(result)) return {};
  const Optimum& o = std::get<Optimum>(result);
  return {{o.cost, {stage, p.computation, o.problem, o.impl, 0}}};
}

// None: there are too many.
std::optional<std::vector<EveryFusion::Call>> EveryFusion::every(const StageProblem& p,
                                                                 int stage) const {
  std::vector<Call> out;
  for (const Bounded& b : p.problems) {
    Searcher search(b.problem);
    if (!search.cost().finite()) continue;
    const std::vector<Program> programs =
        enumerate(search.space, search.root(), search.space.capacity(), most_);
    if (programs.empty()) return std::nullopt;
    for (const Program& one : programs)
      out.push_back({one.cost, {stage, p.computation, b.problem, one.impl, 0}});
  }
  return out;
}

std::vector<FusedProgram> EveryFusion::calls_of(const Group& one_stage) {
  const StageProblem p = search_.problem(one_stage);
  const auto alike = [](const Bounded& a, const Bounded& b) {
    return a.problem.family == b.problem.family && a.problem.threads == b.problem.threads &&
           a.problem.part == b.problem.part;
  };
  const auto is_same = [&](const Known& k) {
    return k.stage == one_stage.begin && *k.problem.computation == *p.computation &&
           std::equal(k.problem.problems.begin(), k.problem.problems.end(), p.problems.begin(),
                      p.problems.end(), alike);
  };
  auto at = std::find_if(known_.begin(), known_.end(), is_same);
  if (at == known_.end()) {
    known_.push_back({one_stage.begin, p, {}});
    at = known_.end() - 1;
    const std::optional<std::vector<Call>> calls =
        inner_ == Inner::kEvery ? every(p, one_stage.begin) : cheapest(p, one_stage.begin);
    overflow_ |= !calls;
    for (const Call& c : calls.value_or(std::vector<Call>())) {
      at->programs.push_back(static_cast<int>(table_.size()));
      problem_of_.push_back(known_.size() - 1);
      cost_of_.push_back(c.cost);
      table_.push_back(c.program);
    }
  }
  std::vector<FusedProgram> out;
  for (const int program : at->programs)
    out.push_back({std::make_shared<Fused>(Fused{StageCall{program}}),
                   search_.called(one_stage, cost(program))});
  return out;
}

// Whether there are steps behind the first, which run the same program.
bool EveryFusion::steps_again(const Group& g, const Option& o) const {
  return o.cut < 0 && g.extents[o.dim] / o.tile > 1 &&
         !sums_over(*search_.graph(), o.dim, g.begin, g.end);
}

FusedPtr EveryFusion::node(const Group& g, const Option& o,
                           const std::vector<FusedProgram>& parts) const {
  if (o.cut >= 0)
    return std::make_shared<Fused>(
        Fused{Sequence{search_.stored(g, o.cut), {parts[0].root, parts[1].root}}});
  Tile t{.dim = o.dim, .tile = o.tile, .parallel = o.parallel, .body = parts[0].root};
  const i64 extent = g.extents[o.dim];
  if (extent / o.tile > 1 && !steps_again(g, o)) t.next = parts[1].root;
  if (extent % o.tile > 0) t.rest = parts.back().root;
  const auto tile = std::make_shared<Fused>(Fused{std::move(t)});
  const std::vector<int> kept = search_.kept(g, o);
  return kept.empty() ? tile : std::make_shared<Fused>(Fused{Sequence{kept, {tile}}});
}

// All ways to take one program for every part.
void EveryFusion::combine(const Group& g, const Option& o,
                          const std::vector<std::vector<FusedProgram>>& parts,
                          std::vector<FusedProgram>& chosen, std::vector<FusedProgram>& out) {
  if (chosen.size() == parts.size()) {
    const FusionSearch::Sum sum = search_.sum(g, o);
    Cost total = sum.base;
    for (size_t i = 0; i < chosen.size(); ++i) total = total + sum.parts[i].second * chosen[i].cost;
    out.push_back({node(g, o, chosen), total});
    overflow_ |= out.size() > most_;
    return;
  }
  const bool again = chosen.size() == 1 && steps_again(g, o);
  const std::vector<FusedProgram> one = again ? chosen : parts[chosen.size()];
  for (const FusedProgram& p : one) {
    if (overflow_) return;
    chosen.push_back(p);
    combine(g, o, parts, chosen, out);
    chosen.pop_back();
  }
}

std::vector<FusedProgram> EveryFusion::all(const Group& g) {
  if (overflow_) return {};
  if (g.end == g.begin + 1 && search_.idle(g, g.begin))
    return {{std::make_shared<Fused>(Fused{Sequence{}}), Cost()}};
  if (g.end == g.begin + 1) return calls_of(g);
  std::vector<FusedProgram> out;
  std::set<Choice> choices;
  for (const Option& o : search_.options(g)) {
    choices.insert({o.cut, o.dim, o.tile, o.parallel, o.asking ? o.asking->stage : -1,
                    o.asking ? o.asking->bytes : 0});
    std::vector<std::vector<FusedProgram>> parts;
    for (const auto& [part, weight] : search_.sum(g, o).parts)
      parts.push_back(parts.size() == 1 && steps_again(g, o) ? parts[0] : all(part));
    std::vector<FusedProgram> chosen;
    combine(g, o, parts, chosen, out);
  }
  const Graph& graph = *search_.graph();
  if (is_plain(graph)) REQUIRE(choices == choices_by_the_rules(graph, g, machine_, isa_));
  return out;
}

Fusion EveryFusion::fusion(const FusedPtr& root) const {
  return {search_.graph(), table_, root, threads_};
}

std::vector<EveryFusion::Call> EveryFusion::calls(int program) const {
  const auto at = static_cast<size_t>(program);
  return every(known_[problem_of_[at]].problem, table_[at].stage).value_or(std::vector<Call>());
}

Cost EveryFusion::cost(int program) const { return cost_of_[static_cast<size_t>(program)]; }

}  // namespace morello
