// Kernels whose sizes are known at run time only (impl/patchwork.h): which pieces, and a program
// for each. Everything here is asked of optimize_known(), for extents that are numbers.
//
// The largest piece of every dim is chosen by the cost of a kernel of nominal size: whole pieces,
// each at the price of its program and of a turn of the loop around it. Larger pieces cost less per
// element, until nothing is gained; of those that cost about the same the smallest is taken,
// because it leaves less behind and can be divided among threads more evenly. Below it come the
// sizes that piece_sizes.h chooses, elastic ones last.
//
// Operands lie, for every piece, where they would lie for the nominal size: what one piece has
// brought nearer does not help the next. Small pieces look a little dearer for that.
#include <algorithm>
#include <bit>
#include <tuple>

#include "search/patchwork_search.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Pieces grow to so many elements where one dim has a size known at run time only; to a quarter
// of that for every other such dim.
constexpr i64 kLargestPiece = kMostGranules;
// An elastic program does a piece that is not elastic too, if that takes less than one part in so
// many longer.
constexpr i64 kElastic = 32;
// How dear an elastic program may be for all of the largest piece, beside one for just that size.
constexpr i64 kMostDearPercent = 150;
// Sizes of one dim are chosen with so many granules of all others.
constexpr i64 kMiddling = 16;
// Dividing a loop pays where one thread takes so many times as long as the region costs.
constexpr i64 kRegions = 3;

}  // namespace

PatchworkSearch::PatchworkSearch(const Computation& c, const Machine& machine, const Isa& isa,
                                 const SearchOptions& options)
    : c_(c), machine_(machine), isa_(isa), options_(options), nominal_(families(c, isa)) {
  for (const bool reduction : {false, true})
    for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
      if (run_time_size(c, d) && c.dims[d].reduction == reduction) loops_.push_back(d);
  for (int d : loops_) sums_ |= c.dims[d].reduction;
  set_menus(sums_);
  // A family's budget is for all its pieces.
  i64 pieces = sums_ ? 2 : 1;
  for (const std::vector<i64>& menu : menus_) pieces *= static_cast<i64>(menu.size());
  if (options_.max_specs > 0) options_.max_specs = ceil_div(options_.max_specs, pieces);
  options_.part = Part::at(home_level(c, machine, options.threads));
  options_.part.leaves =
      leaves_caches(machine, count_elements(c.output().shape) * bytes(c.output().dtype));
  if (!options_.tables && options_.max_specs == 0) options_.tables = &kept_;
}

// Whether a dim has a program for every size: up to about as many granules as there are to be
// programs, half as many for every other dim that has a size known at run time only.
bool PatchworkSearch::exact(int dim) const {
  const RunTimeSize& s = *run_time_size(c_, dim);
  const int most = std::min(kMostPrograms, options_.programs * 4 / 3);
  return s.bound > 0 && s.bound / s.granule <= most >> (loops_.size() - 1) &&
         !c_.dims[dim].reduction;
}

i64 PatchworkSearch::parallel_loops() const {
  return std::count_if(loops_.begin(), loops_.end(), [&](int d) { return !c_.dims[d].reduction; });
}

// Sizes that a parallel dim has where those chosen before combine in so many ways. Two dims have 16
// programs together: 256, 64, 16, 4 and 1 rows of 256, 16 and up to 16 columns, or four of both;
// fallbacks have two. (f32 with m, k and n at run time, five of both: a header of 7,100 lines by
// AVX2 and 13,000 by AVX-512, for 3,500 and 5,200 with four.)
int PatchworkSearch::most_sizes(int combinations) const {
  const int programs = options_.programs;
  if (parallel_loops() == 1) return std::min(12, programs);
  if (parallel_loops() > 2) return programs < kMostPrograms ? 2 : 3;
  return combinations == 1 ? std::max(2, programs / 4) : std::clamp(programs / combinations, 2, 5);
}

void PatchworkSearch::set_menus(bool coarse) {
  menus_.clear();
  for (int d : loops_) menus_.push_back(menu(d, coarse));
}

// Sizes a piece of this dim can have. Programs multiply, so that sizes are the farther apart the
// more dims there are; less so (not `coarse`) where elastic programs do without some.
std::vector<i64> PatchworkSearch::menu(int dim, bool coarse) const {
  const RunTimeSize& s = *run_time_size(c_, dim);
  std::vector<i64> out;
  if (exact(dim)) {
    for (i64 size = s.granule; size <= s.bound; size += s.granule) out.push_back(size);
    return out;
  }
  const int others = static_cast<int>(loops_.size()) - 1;
  const i64 most = std::max(s.granule, std::min(s.nominal(), kLargestPiece >> 2 * others));
  const i64 fewer = std::bit_floor(static_cast<unsigned>(kMostPrograms / options_.programs));
  const i64 ratio = coarse                   ? (i64{2} << others) * fewer
                    : c_.dims[dim].reduction ? 4
                                             : i64{1} << parallel_loops();
  for (i64 size = s.granule; size <= most; size *= ratio) out.push_back(size);
  return out;
}

Wanted PatchworkSearch::wanted(const std::vector<i64>& pieces) const {
  Wanted w;
  for (const Dim& d : c_.dims) w.extents.push_back(d.extent);
  for (size_t i = 0; i < loops_.size(); ++i) w.extents[loops_[i]] = pieces[i];
  w.multiples.assign(c_.dims.size(), 0);
  return w;
}

// Of some families; of all where none are given.
const PatchworkSearch::Found* PatchworkSearch::program(const Wanted& w,
                                                       std::vector<Family> families) {
  if (const auto known = found_.find(w); known != found_.end()) return &known->second;
  if (stopped_ == StopReason::kBudget) return nullptr;
  const auto part = std::make_shared<Computation>(with_extents(c_, w.extents));
  SearchOptions options = options_;
  options.families = families.empty() ? families_of(*part) : std::move(families);
  options.part.adds = w.adds;
  options.part.beside = w.beside;
  for (size_t d = 0; d < w.multiples.size(); ++d) {
    if (w.multiples[d] == 0) continue;
    options.part.elastic |= static_cast<std::uint8_t>(1 << d);
    std::erase_if(options.families, [&](const Family& f) {
      return !can_be_elastic(f, *part, static_cast<int>(d), w.multiples[d]);
    });
  }
  if (options.families.empty()) {
    stopped_ = StopReason::kNoImplementation;
    return nullptr;
  }
  options.count_programs = false;
  auto result = optimize_known(*part, machine_, isa_, options);
  if (const StopReason* why = std::get_if<StopReason>(&result)) {
    stopped_ = *why;
    return nullptr;
  }
  Optimum& best = std::get<Optimum>(result);
  stats_ += best.stats;
  return &found_.emplace(w, Found(std::move(best), part)).first->second;
}

Cost PatchworkSearch::cost_of(const Wanted& w, const std::vector<Family>& families) {
  const Found* found = program(w, families);
  return found ? found->first.cost + Cost::cycles(kTurnCycles) : Cost::infinite();
}

// Of a kernel of nominal size; a trial, with some families. What is left behind the last whole
// piece is done by smaller ones. (As one more whole piece, bf16 of 1152 outputs were cheapest in
// pieces of 64, and took 1.14 of the time of 512 and 128.) Threads get whole ones.
Cost PatchworkSearch::nominal_cost(const Plan& p, const std::vector<Family>& families) {
  Wanted w = wanted(p.largest);
  w.trial = !families.empty();
  w.beside = p.divided >= 0;
  bool goes_on = false;  // some sum does, in pieces that add
  for (size_t i = 0; i < loops_.size(); ++i)
    goes_on |= is_reduction(i) && c_.dims[loops_[i]].extent > p.largest[i];
  const auto all_pieces = [&](Cost each, bool reductions) {
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (is_reduction(i) != reductions) continue;
      const i64 extent = c_.dims[loops_[i]].extent;
      each = static_cast<int>(i) == p.divided
                 ? ceil_div(ceil_div(extent, p.largest[i]), options_.threads) * each
                 : cost_in_pieces(each, extent, p.largest[i]);
    }
    return each;
  };
  Cost each = cost_of(w, families);
  if (each.finite() && goes_on) {
    w.adds = true;
    const Cost adds = cost_of(w, families);
    if (!adds.finite()) return adds;
    each = each + (all_pieces(adds, true) - adds);
  }
  if (!each.finite()) return each;
  const Cost region = p.divided >= 0 ? Cost::milli(machine_.parallel_millicycles) : Cost();
  return region + all_pieces(each, false);
}

// Loop by loop, the others as large as they are so far. Whether smaller pieces do as well is tried
// with the family of the largest ones, if there are several dims. (bf16 rows by rows, m, k and n at
// run time, AVX2: 19 of 26 s of CPU went to trials with all 168.)
PatchworkSearch::Plan PatchworkSearch::best_plan(int divided) {
  Plan best{{}, divided};
  for (const std::vector<i64>& menu : menus_) best.largest.push_back(menu.back());
  best.cost = nominal_cost(best);
  const Plan start = best;
  std::vector<Family> families;
  if (loops_.size() > 1 && best.cost.finite()) {
    Wanted w = wanted(best.largest);
    w.beside = divided >= 0;
    families = {program(w)->first.problem.family};
  }
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (exact(loops_[i])) continue;
    const auto found = largest_size(menus_[i], [&](i64 size) {
      if (size == best.largest[i]) return best.cost;
      Plan p = best;
      p.largest[i] = size;
      return nominal_cost(p, families);
    });
    if (!found) return best;
    std::tie(best.largest[i], best.cost) = *found;
  }
  if (best.largest != start.largest) best.cost = nominal_cost(best);
  return best;
}

// Threads divide what is inside pieces, or some loop around them.
PatchworkSearch::Plan PatchworkSearch::best_plan() {
  Plan best = best_plan(-1);
  for (size_t i = 0; i < loops_.size() && options_.threads > 1; ++i) {
    if (is_reduction(i)) continue;
    if (const Plan p = best_plan(static_cast<int>(i)); p.cost < best.cost) best = p;
  }
  return best;
}

// The divided loop's size from which on a second thread pays.
i64 PatchworkSearch::threads_from(const Plan& p) {
  const i64 granule = run_time_size(c_, loops_[p.divided])->granule;
  const i64 extent = c_.dims[loops_[p.divided]].extent;
  const i64 regions = kRegions * machine_.parallel_millicycles;
  const auto serial = static_cast<i64>(nominal_cost(p).value()) * options_.threads;
  const i64 from = static_cast<i64>(static_cast<double>(extent) * static_cast<double>(regions) /
                                    static_cast<double>(std::max<i64>(1, serial)));
  return std::max(2 * granule, ceil_div(from, granule) * granule);
}

// Of programs of a plan, elastic in some dims.
Wanted PatchworkSearch::wanted(const Plan& p, std::span<const Elastic> elastic) const {
  Wanted w = wanted(p.largest);
  w.beside = p.divided >= 0;
  for (const Elastic& e : elastic) {
    w.multiples[e.dim] = e.multiple;
    w.extents[e.dim] = e.size;
  }
  return w;
}

// What a program that may not exist costs.
Cost PatchworkSearch::cost_if_any(const Wanted& w) {
  const Cost cost = cost_of(w);
  if (stopped_ == StopReason::kNoImplementation) stopped_.reset();
  return cost;
}

// What adding programs cost for a reduction's pieces, elastic or (of a multiple of 0) not; `p` has
// to outlive it.
MultiplesCost PatchworkSearch::sum_cost(const Plan& p, size_t loop) {
  return [this, &p, loop](i64 multiple, i64 size) {
    const Elastic here = {loops_[loop], multiple, size};
    Wanted w = wanted(p, {&here, 1});
    w.adds = true;
    return cost_if_any(w);
  };
}

PiecedDim PatchworkSearch::from_menu(const Plan& p, size_t loop) const {
  PiecedDim d{loops_[loop], menus_[loop], 0};
  std::erase_if(d.sizes, [&](i64 size) { return size > p.largest[loop]; });
  std::reverse(d.sizes.begin(), d.sizes.end());
  return d;
}

// Whether sums are done sooner in elastic pieces, by the largest pieces of coarse menus; and not
// where operands have to be copied to be any good, as an elastic program does not. (u8 x i8 by
// AVX2, in pairs, takes 2 to 3.4 times as long from where they lie: 300^3 took 1.22 of the time,
// although small sums gain.)
bool PatchworkSearch::elastic_pays() {
  Plan p{{}, -1};
  for (const std::vector<i64>& menu : menus_) p.largest.push_back(menu.back());
  for (size_t loop = 0; loop < loops_.size(); ++loop) {
    if (!is_reduction(loop)) continue;
    const MultiplesCost cost = sum_cost(p, loop);
    const PiecedDim fixed = from_menu(p, loop);
    if (fixed.sizes.size() == 1) continue;
    const PiecedDim d = elastic_pieces(loops_[loop], menus_[loop].front(), p.largest[loop], cost);
    if (d.sizes.empty()) return false;
    const Cost whole = cost(0, d.sizes[0]), any = cost(d.sizes[1], d.sizes[0]);
    if (100 * any > kMostDearPercent * whole || mean_of_sum(d, cost) > mean_of_sum(fixed, cost))
      return false;
  }
  return true;
}

// Of a reduction.
PiecedDim PatchworkSearch::pieced_sum(const Plan& p, size_t loop, bool elastic) {
  const i64 largest = p.largest[loop], granule = menus_[loop].front();
  if (elastic) {
    PiecedDim d = elastic_pieces(loops_[loop], granule, largest, sum_cost(p, loop));
    if (!d.sizes.empty()) return d;
  }
  return from_menu(p, loop);
}

// Of a parallel dim, where reductions are elastic like this. Other dims are in the middle of what
// they may be: where they are large, what a call costs would not count.
PiecedDim PatchworkSearch::pieced(const Plan& p, size_t loop, int most, bool elastic,
                                  std::vector<Elastic> sums) {
  const i64 granule = menus_[loop].front();
  if (!elastic || exact(loops_[loop])) return from_menu(p, loop);
  Plan middling = p;
  for (size_t i = 0; i < loops_.size(); ++i)
    if (i != loop && !is_reduction(i))
      middling.largest[i] = std::min(p.largest[i], kMiddling * menus_[i].front());
  sums.push_back({loops_[loop], 0, 0});
  const auto cost = [&](i64 size, bool any) {
    sums.back().multiple = any ? granule : 0;
    sums.back().size = size;
    return cost_if_any(wanted(middling, sums));
  };
  return parallel_pieces(loops_[loop], granule, p.largest[loop], most, earned(), cost);
}

// Last ones first: these have the lanes, mostly, and elastic pieces, which do with few sizes.
std::vector<PiecedDim> PatchworkSearch::parallel_dims(const Plan& p, bool elastic,
                                                      const std::vector<Elastic>& sums) {
  std::vector<PiecedDim> out;
  int combinations = 1;
  for (size_t i = loops_.size(); i-- > 0;) {
    if (is_reduction(i)) continue;
    out.insert(out.begin(), pieced(p, i, most_sizes(combinations), elastic, sums));
    combinations *= static_cast<int>(out.front().sizes.size());
  }
  if (p.divided >= 0)
    std::rotate(out.begin(), out.begin() + p.divided, out.begin() + p.divided + 1);
  return out;
}

Wanted PatchworkSearch::wanted(const Plan& p, const Patchwork& work, const std::vector<int>& which,
                               bool adds) const {
  Wanted w{work.extents(c_, which), adds, p.divided >= 0};
  w.multiples.assign(c_.dims.size(), 0);
  for (size_t i = 0; i < which.size(); ++i) {
    const PiecedDim& d = work.dims[i];
    if (d.is_elastic(which[i])) w.multiples[d.dim] = d.sizes[static_cast<size_t>(which[i])];
  }
  return w;
}

// Of a piece. Where an elastic program does the largest piece of a reduction about as well as one
// that knows how large it is, it does both. Of those that would be better, where larger pieces of
// parallel dims leave something, two families are tried: the elastic program's, and the largest
// piece's. (f32 with m, k and n at run time, AVX2 and AVX-512: with all families 7.6 and 10.3 s of
// CPU, most of it for pieces of 4 columns.)
const PatchworkSearch::Found* PatchworkSearch::program(const Plan& p, const Patchwork& work,
                                                       size_t number) {
  const std::vector<int> which = work.pieces(number);
  const bool adds = work.adds(number);
  std::vector<int> below = which;
  bool rest = false;
  for (size_t i = 0; i < which.size(); ++i) {
    const bool sum = c_.dims[work.dims[i].dim].reduction;
    if (sum && work.dims[i].elastic > 0 && which[i] == 0) below[i] = 1;
    rest |= !sum && which[i] > 0;
  }
  const Wanted own = wanted(p, work, which, adds);
  if (below == which) return program(own);
  const Found* elastic = program(wanted(p, work, below, adds));
  if (!elastic) return nullptr;
  std::vector<Family> families;
  if (rest) {
    const Found* largest = program(wanted(p, work, std::vector<int>(which.size(), 0), false));
    if (!largest) return nullptr;
    families = {elastic->first.problem.family, largest->first.problem.family};
    if (families[0] == families[1]) families.pop_back();
  }
  const Found* fixed = program(own, std::move(families));
  if (stopped_ == StopReason::kBudget) return nullptr;
  stopped_.reset();  // two families that this piece cannot use
  const auto worth = [&](Cost c) {
    return rest ? c.value() / kElastic * (kElastic - 1) : c.value();
  };
  return fixed && fixed->first.cost.value() < worth(elastic->first.cost) ? fixed : elastic;
}

std::variant<Optimum, StopReason> PatchworkSearch::finish(const Plan& p, bool elastic) {
  const auto work = std::make_shared<Patchwork>();
  work->sums = sums_;
  if (p.divided >= 0) {
    work->threads = options_.threads;
    work->threads_from = threads_from(p);
  }
  size_t count = sums_ ? 2 : 1;
  std::vector<PiecedDim> sums;
  std::vector<Elastic> smallest;
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (!is_reduction(i)) continue;
    const PiecedDim& d = sums.emplace_back(pieced_sum(p, i, elastic));
    const int last = static_cast<int>(d.sizes.size()) - 1;
    if (d.elastic > 0) smallest.push_back({d.dim, d.sizes.back(), d.extent(last)});
  }
  work->dims = parallel_dims(p, elastic, smallest);
  work->dims.insert(work->dims.end(), sums.begin(), sums.end());
  for (const PiecedDim& d : work->dims) count *= d.sizes.size();
  for (size_t n = 0; n < count; ++n) {
    const Found* found = program(p, *work, n);
    if (!found) return *stopped_;
    const auto& [best, part] = *found;
    work->programs.push_back(
        {part, best.problem, best.impl, static_cast<i64>(best.cost.value() / 1000)});
  }
  choose_rests(*work, c_);
  Optimum best;
  best.problem = work->programs.front().problem;  // the largest piece, which does not add
  best.impl = work->programs.front().impl;
  best.cost = p.cost;
  best.stats = stats_;
  best.patchwork = work;
  return best;
}

std::variant<Optimum, StopReason> PatchworkSearch::run() {
  choose_packing();
  if (stopped_) return *stopped_;
  const bool elastic = !sums_ || elastic_pays();
  if (elastic) set_menus(false);
  const Plan plan = best_plan();
  if (stopped_ == StopReason::kBudget) return StopReason::kBudget;
  if (!plan.cost.finite()) return StopReason::kNoImplementation;
  auto result = finish(plan, elastic);
  const StopReason* why = std::get_if<StopReason>(&result);
  if (!why || !elastic || *why == StopReason::kBudget) return result;
  stopped_.reset();  // dims that are elastic one by one and not together
  return finish(plan, false);
}

std::variant<Optimum, StopReason> optimize_patchwork(const Computation& c, const Machine& machine,
                                                     const Isa& isa, const SearchOptions& options) {
  return PatchworkSearch(c, machine, isa, options).run();
}

}  // namespace morello
