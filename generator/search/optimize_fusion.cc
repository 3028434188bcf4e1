// Kernels of several stages (impl/fusion.h): what runs together, in which tiles, and a program for
// every part of a stage.
//
// A sub-problem (Group) is a run of neighbouring stages, the extents of their dims, and for every
// tensor the level and the buffer in which it lies. Its cheapest program is one of
//
//   run    one stage: whatever optimize_known() finds
//   cut    the first stages, then the others. What the first make for the others gets a buffer, in
//          the nearest level that holds all that the group touches
//   tile   a dim that all stages have, in steps; sums over it go on from step to step. What does
//          not depend on it is near from the second step on, if a step leaves room; what does may
//          be, if a stage asks for it (fusion_ask.cc)
//
// Costs are affine in those of parts, and a part's cost does not depend on what it is a part of: so
// the cheapest program is made of the cheapest parts (dynamic programming, memoised). They are
// tried in the order of what no program of theirs can beat: the sum of the bounds of their stages'
// families, everything between stages being as near as can be. The others are not searched.
//
// What the space leaves out: sums are divided by one thread only, and where they are stages of
// their own nothing is tiled around several threads; threads divide a whole kernel or single
// stages, not tiles; a dim is tiled once on the way to a stage (and once more if threads divide
// it); several products at once, such as heads of attention, are tiled by their number before
// anything else (batches()), and rows within others where there is one of those (waits()); stages
// run in the order of the spec; nothing is computed twice; a stage is packed ahead of time as the
// program for all of it would like; what does not fit in L2, and is no batch, is tiled only where
// that could save more than a sixteenth (pays()), or, in few sizes, where stages make more for one
// another than they share with others (keeps_much()); and in steps of what lies in L2 stages run
// only if longer ones leave more farther away (gains()).

#include <algorithm>
#include <utility>

#include "impl/stage_output.h"
#include "search/fusion_search.h"
#include "spec/build.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Calling a program.
constexpr i64 kCallMilli = 20'000;
// Steps of a tile: fewer would be searched for at length and leave most caches unused.
constexpr i64 kMostSteps = 1 << 20;
constexpr i64 kSumRatio = 4;     // of the sizes of steps of a sum
constexpr i64 kCoarse = 64;      // no 3 * 2^n from here on: such steps mostly leave a rest
constexpr i64 kCoarseRatio = 4;  // of those along batches, and of those that save memory only
constexpr i64 kManyShares = 8;  // of a batch for each thread: one more for some costs 1 / 8 at most

// How much more than none tiles may cost that save memory: what the model does not know costs to.
Cost memory_share(Cost c) {
  constexpr i64 kMemoryShare = 32;
  return Cost::milli(static_cast<i64>(c.value()) / kMemoryShare);
}

// What a choice has to cost less than.
Cost below(const Solved& best, const Option& o) {
  if (!best.cost.finite() || best.choice.saves == o.saves) return best.cost;
  const Cost share = memory_share(best.cost);
  return o.saves ? best.cost + share : best.cost - share;
}

// Whether a dim numbers products that have nothing in common, such as heads: every stage of a group
// has it, all operands of one product depend on it, and so does all that lies between stages.
// (What all heads are projected from need not, nor what is read beside sums.) Not so where elements
// along it are adjacent, as channels of a depthwise convolution can be: vectors run along these.
bool is_batch(const Graph& graph, const Group& g, int dim) {
  bool multiplies = false;
  for (int s = g.begin; s < g.end; ++s) {
    const Computation& c = graph.stages[s].computation;
    const int own = graph.dims[dim].in_stage[s];
    if (own < 0) return false;
    bool all = true;
    for (int o = 0; o < static_cast<int>(c.operands.size()); ++o) {
      const bool has = touches(c.operands[o], own);
      if (has ? given_address(c, o).unit_stride(own) == 1 : graph.tensor_of(s, o) >= graph.params)
        return false;
      all &= has;
    }
    multiplies |= all && c.reduces() && c.inputs() > 1;
  }
  return multiplies;
}

}  // namespace

FusionSearch::FusionSearch(Graph graph, const Machine& machine, const Isa& isa,
                           const SearchOptions& options)
    : machine_(machine),
      isa_(isa),
      options_(options),
      graph_(std::make_shared<Graph>(std::move(graph))),
      g_(*graph_),
      copies_(graph_->stages.size()),
      like_(graph_->stages.size()) {
  options_.count_programs = false;
  list_uses();
  for (int s = 0; s < static_cast<int>(g_.stages.size()); ++s) {
    Part p;
    describe_output(g_, machine_, s, p);
    leaves_.push_back(p.leaves && !p.read_again && stored_past_caches(s));
  }
}

// Whether leaves of parts of a stage can do that.
bool FusionSearch::stored_past_caches(int stage) const {
  const Computation& c = g_.stages[stage].computation;
  const std::vector<Family> all = families(c, isa_);
  Part part;
  part.staged = true;
  return std::any_of(all.begin(), all.end(), [&](const Family& f) {
    return Problem{&c, &machine_, f, 1, part}.streaming_problem().empty();
  });
}

// All of it, everything where it lies in a loop that calls the kernel again and again.
Group FusionSearch::root() const {
  Group g{.begin = 0,
          .end = static_cast<int>(g_.stages.size()),
          .extents = whole(g_),
          .level = std::vector<Level>(g_.tensors.size(), kMemory),
          .buffers = {},
          .threads = options_.threads};
  i64 own = 0;
  for (int t = 0; t < static_cast<int>(g_.tensors.size()); ++t)
    if (t < g_.params || g_.is_result(t)) own += bytes_of(t, g.extents);
  const Level home = nearest(std::max(own, options_.piece.bytes), g.threads, g.beside);
  g.level.assign(g_.tensors.size(), home);
  return g;
}

bool FusionSearch::keeps_panels(int stage, int dim, i64 tile) const {
  if (like_[stage]) return morello::keeps_panels(g_, stage, dim, tile, *like_[stage]);
  const std::vector<Operand>& operands = g_.stages[stage].computation.operands;
  return std::none_of(operands.begin(), operands.end(), [&](const Operand& o) {
    return o.packed && touches(o, g_.dims[dim].in_stage[stage]);
  });
}

static std::vector<i64> steps_of(i64 extent, bool coarse) {
  std::vector<i64> out;
  if (coarse) {
    for (i64 size = 1; size < extent; size *= kCoarseRatio) out.push_back(size);
    return out;
  }
  for (i64 size = 1; size < extent; size *= 2) out.push_back(size);
  for (i64 size = 3; size < extent && size < kCoarse; size *= 2) out.push_back(size);
  return out;
}

std::vector<i64> steps_of_sum(i64 extent) {
  std::vector<i64> out;
  for (i64 size = least_part_of_sum(extent); size < extent; size *= kSumRatio) out.push_back(size);
  return out;
}

// Batches come first. Tiles of anything else around several of one keep nothing near that tiles of
// the batch around them would not, and there are many of them: eight heads of 64 x 256 took 20
// times as long to search as one, for the same program. Nor do threads need anything else where
// there is the same number of a batch for each of them, or so many that one more for some does not
// matter.
FusionSearch::Batches FusionSearch::batches(const Group& g) const {
  Batches out;
  for (int d = 0; d < static_cast<int>(g_.dims.size()); ++d) {
    if (!is_batch(g_, g, d)) continue;
    out.dims.insert(d);
    out.several |= g.extents[d] > 1;
    out.feed_threads |= g.extents[d] % g.threads == 0 || g.extents[d] >= kManyShares * g.threads;
  }
  return out;
}

// Whether a dim around it is tiled first, down to one: what steps of both would have near one
// finds in as many rows of the inner one, next to one another. (Softmax along the last axis by
// AVX2, s of CPU before and since, for the same costs: f32[1024,64,64] strided 8.1 and 0.5,
// f32[1024,m,64] 43 and 2.6; bf16[m,n,256] gated by 256x512 packed 125 and 44.)
bool FusionSearch::waits(const Group& g, int dim) const {
  const std::vector<int>& around = touched(g).around[static_cast<size_t>(dim)];
  return std::any_of(around.begin(), around.end(),
                     [&](int d) { return g.extents[d] > 1 && g.extents[d] <= kMostSteps; });
}

void FusionSearch::add_tiles(const Group& g, const Batches& batches, int dim, bool coarse,
                             std::vector<Option>& out) {
  if (!tile_problem(g_, dim, g.begin, g.end).empty()) return;
  const i64 extent = g.extents[dim];
  const i64 blocks = block_along(g_, dim, g.begin, g.end);
  std::set<std::pair<i64, bool>> sizes;  // tile, parallel
  const bool sums = sums_over(g_, dim, g.begin, g.end);
  const bool batch = batches.dims.contains(dim);
  if (!g.tiled.contains(dim) && (batch || !batches.several) && !waits(g, dim) &&
      (g.threads == 1 || !(sums || g_.apart)))
    for (const i64 size : sums ? steps_of_sum(extent) : steps_of(extent, batch || coarse))
      if (ceil_div(extent, size) <= kMostSteps) sizes.emplace(size, false);
  if (!sums && g.threads > 1 && g.tiled.empty() && (batch || !batches.feed_threads))
    for (const i64 shares : {i64{g.threads}, i64{2} * g.threads})
      if (const i64 size = ceil_div(ceil_div(extent, shares), blocks) * blocks; size < extent)
        sizes.emplace(size, true);
  for (const auto& [size, parallel] : sizes) {
    if (size % blocks != 0) continue;
    bool whole = true;
    for (int s = g.begin; s < g.end; ++s) whole &= keeps_panels(s, dim, size);
    if (whole) out.push_back({.dim = dim, .tile = size, .parallel = parallel, .coarse = coarse});
  }
  i64 longer = extent;
  for (auto o = out.rbegin(); o != out.rend() && o->dim == dim; ++o)
    if (!o->parallel) o->longer = std::exchange(longer, o->tile);
  for (size_t i = 0, plain = out.size(); i < plain; ++i) {
    if (out[i].dim != dim) continue;
    Option asking = out[i];
    for (const Asking& a : ways_to_ask(g, asking)) {
      asking.asking = a;
      out.push_back(asking);
    }
  }
}

std::vector<Option> FusionSearch::options(const Group& g) {
  std::vector<Option> out;
  if (!g.no_nearer)
    for (int cut = g.begin + 1; cut < g.end; ++cut) out.push_back({.cut = cut});
  if (asks(g)) return out;
  const Batches first = batches(g);
  const bool coarse = g.coarse || (!first.several && !pays(g));
  const int dims = coarse && !keeps_much(g) ? 0 : static_cast<int>(g_.dims.size());
  const size_t cuts = out.size();
  for (int d = 0; d < dims; ++d) add_tiles(g, first, d, coarse, out);
  const bool saves = !options_.small_gains && nearest(g) > kL2 && keeps_much(g);
  for (size_t i = cuts; i < out.size(); ++i) out[i].saves = saves;
  return out;
}

FusionSearch::Sum FusionSearch::sum(const Group& outside, const Option& o) const {
  if (o.cut >= 0) {
    return {crossing(outside, o.cut), {{first(outside, o.cut), 1}, {second(outside, o.cut), 1}}};
  }
  const Group g = keeping(outside, kept(outside, o));
  const i64 extent = g.extents[o.dim], rest = extent % o.tile, steps = extent / o.tile;
  Sum out;
  if (o.parallel) {  // the rest is no longer than a step
    out.base = starts();
    out.parts = {{step(g, o, o.tile, true), ceil_div(ceil_div(extent, o.tile), g.threads)}};
  } else {
    out.base = bring(g, o);
    if (o.asking) out.base = out.base + begins_to_ask(*o.asking);
    out.parts = {{step(g, o, o.tile, true), 1}};
  }
  if (steps > 1) out.parts.emplace_back(step(g, o, o.tile, false), o.parallel ? 0 : steps - 1);
  if (rest > 0) out.parts.emplace_back(step(g, o, rest, false), o.parallel ? 0 : 1);
  return out;
}

FusionSearch::Node& FusionSearch::node(Group g) {
  std::string key = this->key(g);
  return nodes_.try_emplace(std::move(key), Node{.group = std::move(g)}).first->second;
}

FusionSearch::Candidate FusionSearch::candidate(const Group& g, const Option& o) {
  Sum s = sum(g, o);
  Candidate out{.option = o, .base = s.base, .bound = s.base, .parts = {}};
  for (auto& [part, weight] : s.parts) {
    Node& n = node(std::move(part));
    out.parts.emplace_back(&n, weight);
    const Cost least = bound(n);
    if (!least.finite()) out.bound = least;
    if (out.bound.finite()) out.bound = out.bound + weight * least;
  }
  // What weighs most first: what it leaves of a limit is little for the others, and where it takes
  // all of that they need no search.
  const auto heavier = [&](const auto& a, const auto& b) {
    return a.second * bound(*a.first) > b.second * bound(*b.first);
  };
  std::stable_sort(out.parts.begin(), out.parts.end(), heavier);
  return out;
}

// What can be cheapest first.
std::vector<FusionSearch::Candidate> FusionSearch::candidates(const Group& g) {
  std::vector<Candidate> out;
  for (const Option& o : options(g)) out.push_back(candidate(g, o));
  std::stable_sort(out.begin(), out.end(),
                   [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
  return out;
}

Part FusionSearch::part(const Group& g, int stage) const {
  const Computation& c = g_.stages[stage].computation;
  Part p = Part::at(kL1);
  for (int t = 0; t < c.tensors(); ++t) {
    const Level l = g.level[g_.buffer_of(g_.tensor_of(stage, t))];
    const int at = std::min(t, kMaxOperands);
    Level& home = p.home[t < static_cast<int>(c.operands.size()) ? at : kMaxOperands];
    home = t < static_cast<int>(c.operands.size()) ? l : std::max(home, l);
  }
  if (g.asking && g.asking->stage == stage) {
    p.asked = g_.operand_of(stage, g.asking->tensor);
    p.home[p.asked] = g.asking->from;
    p.asked_bytes = g.asking->bytes;
    p.asked_to = g.asking->to;
  }
  p.staged = true;
  p.whole = is_whole(g_, stage, g.extents);
  p.beside = g.beside;
  describe_output(g_, machine_, stage, p);
  p.adds = sums_over(g_, g.behind, stage);
  return p;
}

std::shared_ptr<const Computation> FusionSearch::computation(const Group& g, int stage) const {
  return std::make_shared<Computation>(stage_part(g_, stage, g.extents, g.buffers));
}

// Of a stage that is packed ahead of time.
bool FusionSearch::keeps_dims(const Group& g, int stage) const {
  return !like_[stage] || has_dims_of_whole(g_, stage, g.extents, g.buffers);
}

// In the orders that are chosen already.
void FusionSearch::keep_orders(const Computation& c, int stage, std::vector<Family>& among) const {
  const PieceOfRows& piece = options_.piece;
  std::map<int, std::string> wanted;
  for (int o = 0; o < c.inputs(); ++o)
    if (const auto order = piece.orders.find(g_.tensor_of(stage, o)); order != piece.orders.end())
      wanted[o] = order->second;
  if (wanted.empty()) return;
  for (const Family& f : families(with_all_rows(c, piece.share), isa_))
    if (std::find(among.begin(), among.end(), f) == among.end()) among.push_back(f);
  std::erase_if(among, [&](const Family& f) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const auto& order) {
      return packed_order_text(f, c, order.first) != order.second;
    });
  });
}

std::vector<Family> FusionSearch::families_of(const Computation& c, int stage) const {
  std::vector<Family> out = families(c, isa_);
  if (!like_[stage]) {
    keep_orders(c, stage, out);
    return out;
  }
  std::erase_if(out, [&](const Family& f) { return !packs_alike(f, *like_[stage], c); });
  if (std::find(out.begin(), out.end(), *like_[stage]) == out.end()) out.push_back(*like_[stage]);
  return out;
}

// Several threads are taken to divide a stage as those before, each with its own. One thread finds
// what several have made in the caches of others: no nearer than in what they share. (If it found
// that as near as its own, softmax of one row of 32768 had divided stages among others: G,
// AVX2 25.0 us for 19.6 by one thread, AVX-512 22.0 for 10.0. Now more of them are: 15.3 and 10.6.)
StageProblem FusionSearch::problem(const Group& g) {
  const int s = g.begin;
  StageProblem out{.computation = computation(g, s)};
  if (out.computation->dims.size() > kMaxDims || !keeps_dims(g, s)) return out;
  std::map<int, Part> by_threads = {{g.beside ? options_.threads : g.threads, part(g, s)}};
  if (g.threads > 1) {
    Group shared = g;
    for (const int t : touched(g).tensors)
      if (t >= g_.params) shared.level[t] = std::max(shared.level[t], kL3);
    by_threads[1] = part(shared, s);
  }
  out.problems = by_bound(*out.computation, machine_, families_of(*out.computation, s), by_threads,
                          &copies_[s]);
  return out;
}

Cost FusionSearch::call() { return Cost::milli(kCallMilli); }

Cost FusionSearch::called(const Group& g, Cost program) const {
  return written_behind(g, program, g.behind_lines) + call();
}

// The program for a part of one stage, if it costs less than `enough`; perhaps also if not.
const Optimum* FusionSearch::program(const Group& part_of, Cost enough) {
  Group g = part_of;
  g.tiled.clear();
  g.behind_lines = 0;
  Program& known = programs_[key(g)];
  if (known.best) return &*known.best;
  if (known.at_least >= enough) return nullptr;
  const StageProblem p = problem(g);
  auto result = optimize_among(p.problems, cheaper_than(enough));
  const auto stopped = [&](StopReason why) {
    const StopReason* reason = std::get_if<StopReason>(&result);
    return reason && *reason == why;
  };
  // Some families were searched and have no program. If none has, those that find farther away what
  // lies in L1 may have one (optimize_among()).
  if (stopped(StopReason::kNoImplementation) && enough.finite() && !p.problems.empty() &&
      p.problems.front().bound < enough) {
    enough = Cost::infinite();
    result = optimize_among(p.problems, options_);
  }
  known.at_least = enough;
  budget_ |= stopped(StopReason::kBudget);
  Optimum* found = std::get_if<Optimum>(&result);
  if (!found) return nullptr;
  stats_ += found->stats;
  if (found->cost >= enough) return nullptr;  // a family that was not searched may be cheaper
  known.best = std::move(*found);
  kept_computations_.push_back(p.computation);
  return &*known.best;
}

SearchOptions FusionSearch::cheaper_than(Cost enough) const {
  SearchOptions out = options_;
  out.bounds_below = std::min(out.bounds_below, enough);
  return out;
}

// Exact where it is less than `enough`; else anything that is no less.
Cost FusionSearch::price(const Candidate& c, Cost enough) {
  Cost behind;  // what parts that are not solved yet cost at least
  if (options_.pruning.bounds)
    for (const auto& [part, weight] : c.parts) behind = behind + weight * bound(*part);
  Cost total = c.base;
  for (const auto& [part, weight] : c.parts) {
    Cost limit = Cost::infinite();
    if (options_.pruning.bounds) {
      behind = behind - weight * bound(*part);
      if (total + behind >= enough) return enough;
      if (weight > 0 && enough.finite())
        limit = Cost::milli(static_cast<i64>((enough - (total + behind)).value()) / weight + 1);
    }
    const Cost cost = solve(*part, limit).cost;
    if (!cost.finite()) return cost;
    total = total + weight * cost;
  }
  return total;
}

Solved FusionSearch::solve_stage(const Group& g, Cost enough) {
  if (idle(g, g.begin)) return {Cost(), {}};
  // What is written behind it hides some of what it costs.
  const Optimum* found = program(g, enough + hidden_behind(g, g.behind_lines));
  return {found ? called(g, found->cost) : Cost::infinite(), {}};
}

// The cheapest choice that costs less than `enough`; see below().
Solved FusionSearch::solve_options(Node& n, Cost enough) {
  Solved best;
  if (!n.candidates) n.candidates = candidates(n.group);
  for (const Candidate& c : *n.candidates) {
    const Cost least = std::min(below(best, c.option), enough);
    if (budget_) break;
    if (options_.pruning.bounds && c.bound >= least) continue;
    const Cost cost = price(c, least);
    if (cost < least) best = {cost, c.option};
  }
  return best;
}

// A group's program, if it costs less than `enough`. What was looked for in vain is remembered with
// the limit.
Solved FusionSearch::solve(Node& n, Cost enough) {
  if (n.exact) return n.solved;
  if (n.at_least >= enough) return {};
  const bool possible = !options_.pruning.bounds || bound(n) < enough;
  const bool single = n.group.end == n.group.begin + 1;
  if (possible) n.solved = single ? solve_stage(n.group, enough) : solve_options(n, enough);
  n.exact = n.solved.cost.finite() || !enough.finite();
  n.at_least = enough;
  if (n.exact) n.candidates.reset();
  return n.solved;
}

// As the program for all of a stage would have it, whatever is tiled then.
void FusionSearch::choose_packing() {
  if (std::exchange(packing_chosen_, true)) return;
  for (int s = 0; s < static_cast<int>(g_.stages.size()); ++s) {
    const std::vector<Operand>& operands = g_.stages[s].computation.operands;
    if (std::none_of(operands.begin(), operands.end(), [](const Operand& o) { return o.packed; }))
      continue;
    Group g = root();
    g.begin = s;
    g.end = s + 1;
    if (const Optimum* found = program(g, Cost::infinite())) like_[s] = found->problem.family;
    cannot_unpack_ |= !like_[s] && !options_.piece.orders.empty();
  }
  programs_.clear();
  bounds_.clear();
}

FusedPtr FusionSearch::build(const Group& outside, Fusion& out) {
  Node& known = node(outside);
  Group g = known.group;
  const Solved solved = solve(known, Cost::infinite());
  if (g.end == g.begin + 1) {
    if (idle(g, g.begin)) return std::make_shared<Fused>(Fused{Sequence{}});
    const Optimum& found = *program(g, Cost::infinite());
    const auto c = std::make_shared<const Computation>(*found.problem.computation);
    out.programs.push_back(
        {g.begin, c, found.problem, found.impl, static_cast<i64>(found.cost.value() / 1000)});
    out.programs.back().problem.computation = c.get();
    return std::make_shared<Fused>(Fused{StageCall{static_cast<int>(out.programs.size()) - 1}});
  }
  const Option& o = solved.choice;
  if (o.cut >= 0) {
    Sequence s{.stored = stored(g, o.cut), .parts = {}};
    s.parts.push_back(build(first(g, o.cut), out));
    s.parts.push_back(build(second(g, o.cut), out));
    return std::make_shared<Fused>(Fused{std::move(s)});
  }
  const std::vector<int> state = kept(g, o);
  g = keeping(g, state);
  Tile t{.dim = o.dim, .tile = o.tile, .parallel = o.parallel, .body = {}};
  const i64 rest = g.extents[o.dim] % o.tile;
  t.body = build(step(g, o, o.tile, true), out);
  if (g.extents[o.dim] / o.tile > 1 && sums_over(g_, o.dim, g.begin, g.end))
    t.next = build(step(g, o, o.tile, false), out);
  if (rest > 0) t.rest = build(step(g, o, rest, false), out);
  const auto tile = std::make_shared<Fused>(Fused{std::move(t)});
  return state.empty() ? tile : std::make_shared<Fused>(Fused{Sequence{state, {tile}}});
}

// Of what runs one stage after the other, which is one of the programs.
Cost FusionSearch::at_most() {
  choose_packing();
  if (cannot_unpack_) return Cost::infinite();
  const Sum each = one_by_one(root());
  Cost total = each.base;
  for (const auto& [stage, weight] : each.parts) {
    const Cost cost = solve_stage(stage, Cost::infinite()).cost;
    if (!cost.finite()) return cost;
    total = total + weight * cost;
  }
  return total + memory_share(total) + Cost::milli(1);
}

std::variant<Optimum, StopReason> FusionSearch::run(Cost enough) {
  const Group all = root();
  if (options_.pruning.bounds && bound(all) >= enough) return StopReason::kNoImplementation;
  choose_packing();
  if (cannot_unpack_) return StopReason::kNoImplementation;
  const Solved solved = solve(node(all), enough);
  if (budget_) return StopReason::kBudget;
  // A stage that was searched for before may cost anything.
  if (!solved.cost.finite() || solved.cost >= enough) return StopReason::kNoImplementation;
  const auto fusion = std::make_shared<Fusion>();
  fusion->graph = graph_;
  fusion->threads = options_.threads;
  fusion->root = build(all, *fusion);
  const StageProgram& most = dearest(*fusion);
  Optimum best{most.problem, most.impl, solved.cost, stats_, 0, {}};
  best.fusion = fusion;
  return best;
}

}  // namespace morello
