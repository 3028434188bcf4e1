// Kernels whose sizes are known at run time only (impl/patchwork.h): which pieces, and a program
// for each. Everything here is asked of optimize_known(), for extents that are numbers.
//
// The largest piece of every dim is chosen by the cost of a kernel of nominal size: whole pieces,
// each at the price of its program and of a turn of the loop around it. Larger pieces cost less per
// element, until nothing is gained; of those that cost about the same the smallest is taken,
// because it leaves less behind and can be divided among threads more evenly.
//
// Operands lie, for every piece, where they would lie for the nominal size: what one piece has
// brought nearer does not help the next. Small pieces look a little dearer for that.

#include <algorithm>
#include <map>
#include <optional>

#include "search/optimize.h"
#include "search/tables_in_memory.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// A turn of the loop around programs: choosing one, and the call.
constexpr i64 kTurnMilli = 20'000;
// Pieces grow to so many elements where one dim has a size known at run time only; to a quarter
// of that for every other such dim.
constexpr i64 kLargestPiece = 4096;
// A dim with a bound of so many granules has a program for every size; half as many for every other
// dim that has a size known at run time only.
constexpr i64 kMostExact = 16;
// "About the same": within this part of the cost.
constexpr i64 kSame = 64;
// Dividing a loop pays where one thread takes so many times as long as the region costs.
constexpr i64 kRegions = 3;

// One program's place among all.
struct Wanted {
  std::vector<i64> extents;  // of all dims
  bool adds = false;
  bool beside = false;
  auto operator<=>(const Wanted&) const = default;
};

class PatchworkSearch {
 public:
  PatchworkSearch(const Computation& c, const Machine& machine, const Isa& isa,
                  const SearchOptions& options);
  std::variant<Optimum, StopReason> run();

 private:
  // A choice: the largest piece per dim of loops_, and the loop that is divided among threads, or
  // -1.
  struct Plan {
    std::vector<i64> largest;
    int divided = -1;
    Cost cost = Cost::infinite();
  };

  std::vector<i64> menu(int dim) const;
  bool exact(int dim) const;
  bool is_reduction(size_t loop) const { return c_.dims[loops_[loop]].reduction; }
  Wanted wanted(const std::vector<i64>& pieces) const;
  std::vector<Family> families_of(const Computation& part) const;
  const Optimum* program(const Wanted& w);
  Cost cost_of(const Wanted& w);
  Cost nominal_cost(const Plan& p);
  std::vector<std::pair<Wanted, i64>> weighed() const;
  std::vector<std::pair<Cost, Family>> packings() const;
  Plan best_plan(int divided);
  Plan best_plan();
  void choose_packing();
  i64 threads_from(const Plan& p);
  std::variant<Optimum, StopReason> finish(const Plan& p);

  const Computation& c_;
  const Machine& machine_;
  const Isa& isa_;
  SearchOptions options_;
  TablesInMemory kept_;
  std::vector<int> loops_;               // dims, reductions last
  std::vector<std::vector<i64>> menus_;  // per loop, ascending
  bool sums_ = false;
  const std::vector<Family> nominal_;  // families for the nominal size
  std::map<Wanted, std::pair<Optimum, std::shared_ptr<const Computation>>> found_;
  std::optional<Family> like_;
  std::optional<StopReason> stopped_;
  SearchStats stats_;
};

PatchworkSearch::PatchworkSearch(const Computation& c, const Machine& machine, const Isa& isa,
                                 const SearchOptions& options)
    : c_(c), machine_(machine), isa_(isa), options_(options), nominal_(families(c, isa)) {
  for (const bool reduction : {false, true})
    for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
      if (run_time_size(c, d) && c.dims[d].reduction == reduction) loops_.push_back(d);
  for (int d : loops_) {
    menus_.push_back(menu(d));
    sums_ |= c.dims[d].reduction;
  }
  // A family's budget is for all its pieces.
  i64 pieces = sums_ ? 2 : 1;
  for (const std::vector<i64>& menu : menus_) pieces *= static_cast<i64>(menu.size());
  if (options_.max_specs > 0) options_.max_specs = ceil_div(options_.max_specs, pieces);
  options_.part = Part::at(home_level(c, machine, options.threads));
  options_.part.leaves =
      leaves_caches(machine, count_elements(c.output().shape) * bytes(c.output().dtype));
  if (!options_.tables && options_.max_specs == 0) options_.tables = &kept_;
}

bool PatchworkSearch::exact(int dim) const {
  const RunTimeSize& s = *run_time_size(c_, dim);
  return s.bound > 0 && s.bound / s.granule <= kMostExact >> (loops_.size() - 1) &&
         !c_.dims[dim].reduction;
}

// Sizes a piece of this dim can have. Programs multiply, so that sizes are the farther apart the
// more dims there are.
std::vector<i64> PatchworkSearch::menu(int dim) const {
  const RunTimeSize& s = *run_time_size(c_, dim);
  std::vector<i64> out;
  if (exact(dim)) {
    for (i64 size = s.granule; size <= s.bound; size += s.granule) out.push_back(size);
    return out;
  }
  const int others = static_cast<int>(loops_.size()) - 1;
  const i64 most = std::max(s.granule, std::min(s.nominal(), kLargestPiece >> 2 * others));
  for (i64 size = s.granule; size <= most; size *= i64{2} << others) out.push_back(size);
  return out;
}

Wanted PatchworkSearch::wanted(const std::vector<i64>& pieces) const {
  Wanted w;
  for (const Dim& d : c_.dims) w.extents.push_back(d.extent);
  for (size_t i = 0; i < loops_.size(); ++i) w.extents[loops_[i]] = pieces[i];
  return w;
}

// Where operands are packed ahead of time, small pieces may have to use what large ones are good
// with: families of the nominal size come behind the piece's own.
std::vector<Family> PatchworkSearch::families_of(const Computation& part) const {
  std::vector<Family> out = families(part, isa_);
  if (std::none_of(c_.operands.begin(), c_.operands.end(),
                   [](const Operand& o) { return o.packed; }))
    return out;
  for (const Family& f : nominal_)
    if (std::find(out.begin(), out.end(), f) == out.end()) out.push_back(f);
  if (!like_) return out;
  std::erase_if(out, [&](const Family& f) { return !packs_alike(f, *like_, c_); });
  if (std::find(out.begin(), out.end(), *like_) == out.end()) out.push_back(*like_);
  return out;
}

const Optimum* PatchworkSearch::program(const Wanted& w) {
  if (const auto known = found_.find(w); known != found_.end()) return &known->second.first;
  if (stopped_ == StopReason::kBudget) return nullptr;
  const auto part = std::make_shared<Computation>(with_extents(c_, w.extents));
  SearchOptions options = options_;
  options.families = families_of(*part);
  options.part.adds = w.adds;
  options.part.beside = w.beside;
  options.count_programs = false;
  auto result = optimize_known(*part, machine_, isa_, options);
  if (const StopReason* why = std::get_if<StopReason>(&result)) {
    stopped_ = *why;
    return nullptr;
  }
  Optimum& best = std::get<Optimum>(result);
  stats_ += best.stats;
  return &found_.emplace(w, std::pair(std::move(best), part)).first->second.first;
}

Cost PatchworkSearch::cost_of(const Wanted& w) {
  const Optimum* found = program(w);
  return found ? found->cost + Cost::milli(kTurnMilli) : Cost::infinite();
}

// Of a kernel of nominal size.
Cost PatchworkSearch::nominal_cost(const Plan& p) {
  Wanted w = wanted(p.largest);
  w.beside = p.divided >= 0;
  i64 outer = 1, inner = 1;
  for (size_t i = 0; i < loops_.size(); ++i) {
    i64 steps = ceil_div(c_.dims[loops_[i]].extent, p.largest[i]);
    if (static_cast<int>(i) == p.divided) steps = ceil_div(steps, options_.threads);
    (is_reduction(i) ? inner : outer) *= steps;
  }
  Cost each = cost_of(w);
  if (inner > 1 && each.finite()) {
    w.adds = true;
    each = each + (inner - 1) * cost_of(w);
  }
  if (!each.finite()) return each;
  const Cost region = p.divided >= 0 ? Cost::milli(machine_.parallel_millicycles) : Cost();
  return region + outer * each;
}

// Loop by loop, the others as large as they are so far.
PatchworkSearch::Plan PatchworkSearch::best_plan(int divided) {
  Plan best{{}, divided};
  for (const std::vector<i64>& menu : menus_) best.largest.push_back(menu.back());
  best.cost = nominal_cost(best);
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (exact(loops_[i])) continue;
    std::vector<Plan> plans;
    for (i64 size : menus_[i]) {
      plans.push_back(best);
      plans.back().largest[i] = size;
      plans.back().cost = nominal_cost(plans.back());
    }
    const auto cheaper = [](const Plan& a, const Plan& b) { return a.cost < b.cost; };
    const Cost least = std::min_element(plans.begin(), plans.end(), cheaper)->cost;
    if (!least.finite()) return best;
    best = *std::find_if(plans.begin(), plans.end(), [&](const Plan& p) {
      return p.cost.finite() && p.cost.value() - least.value() <= least.value() / kSame;
    });
  }
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

// What a packing is chosen by: one call for every size of a dim that has a program for each, unless
// the user said which size is typical; else the nominal size.
std::vector<std::pair<Wanted, i64>> PatchworkSearch::weighed() const {
  std::vector<i64> largest;
  i64 steps = 1;
  for (size_t i = 0; i < loops_.size(); ++i) {
    largest.push_back(menus_[i].back());
    steps *= ceil_div(c_.dims[loops_[i]].extent, menus_[i].back());
  }
  std::vector<std::pair<Wanted, i64>> out;
  for (size_t i = 0; i < loops_.size() && out.empty(); ++i)
    if (exact(loops_[i]) && run_time_size(c_, loops_[i])->typical == 0)
      for (i64 size : menus_[i]) {
        out.emplace_back(wanted(largest), 1);
        out.back().first.extents[loops_[i]] = size;
      }
  if (out.empty()) out.emplace_back(wanted(largest), steps);
  return out;
}

// Orders of the operands that are packed ahead of time, a family for each, with what no program
// that finds them so can beat; most promising first.
std::vector<std::pair<Cost, Family>> PatchworkSearch::packings() const {
  std::vector<std::pair<Cost, Family>> all;
  for (const auto& [w, times] : weighed()) {
    const Computation part = with_extents(c_, w.extents);
    std::vector<std::pair<Cost, Family>> here;
    const std::vector<Family> families = families_of(part);
    for (const Bounded& b : by_bound(part, machine_, families, options_.threads, options_.part))
      if (std::none_of(here.begin(), here.end(), [&](const auto& other) {
            return packs_alike(b.problem.family, other.second, c_);
          }))
        here.emplace_back(times * b.bound, b.problem.family);
    if (all.empty()) {
      all = std::move(here);
      continue;
    }
    for (auto& [bound, family] : all) {
      const auto same = std::find_if(here.begin(), here.end(), [&, f = &family](const auto& other) {
        return packs_alike(*f, other.second, c_);
      });
      bound = same == here.end() ? Cost::infinite() : bound + same->first;
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

// Operands that are packed ahead of time are packed in one order, whichever piece reads them.
void PatchworkSearch::choose_packing() {
  if (std::none_of(c_.operands.begin(), c_.operands.end(),
                   [](const Operand& o) { return o.packed; }))
    return;
  Cost best = Cost::infinite();
  std::optional<Family> chosen;
  for (const auto& [bound, family] : packings()) {
    if (bound >= best) break;
    like_ = family;
    Cost cost;
    for (const auto& [w, times] : weighed())
      if (cost < best) cost = cost + times * cost_of(w);
    if (stopped_ == StopReason::kBudget) return;
    stopped_.reset();  // an order that some piece cannot use
    if (cost < best) chosen = family;
    best = std::min(best, cost);
    found_.clear();
  }
  like_ = chosen;
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

std::variant<Optimum, StopReason> PatchworkSearch::finish(const Plan& p) {
  const auto work = std::make_shared<Patchwork>();
  work->sums = sums_;
  std::vector<size_t> order;
  for (size_t i = 0; i < loops_.size(); ++i) order.push_back(i);
  if (p.divided >= 0) {
    std::rotate(order.begin(), order.begin() + p.divided, order.begin() + p.divided + 1);
    work->threads = options_.threads;
    work->threads_from = threads_from(p);
  }
  size_t count = 1;
  for (size_t i : order) {
    std::vector<i64> sizes;
    for (i64 size : menus_[i])
      if (size <= p.largest[i]) sizes.insert(sizes.begin(), size);
    count *= sizes.size();
    work->dims.push_back({loops_[i], std::move(sizes)});
  }
  for (size_t n = 0; n < count; ++n) {
    Wanted w = wanted(p.largest);
    w.beside = p.divided >= 0;
    size_t rest = n;
    for (size_t i = order.size(); i-- > 0; rest /= work->dims[i].sizes.size())
      w.extents[work->dims[i].dim] = work->dims[i].sizes[rest % work->dims[i].sizes.size()];
    for (const bool adds : {false, true}) {
      if (adds && !sums_) continue;
      w.adds = adds;
      const Optimum* found = program(w);
      if (!found) return *stopped_;
      work->programs.push_back({found_.at(w).second, found->problem, found->impl,
                                static_cast<i64>(found->cost.value() / 1000)});
    }
  }
  Wanted w = wanted(p.largest);
  w.beside = p.divided >= 0;
  Optimum best = found_.at(w).first;
  best.cost = p.cost;
  best.stats = stats_;
  best.patchwork = work;
  return best;
}

std::variant<Optimum, StopReason> PatchworkSearch::run() {
  choose_packing();
  if (stopped_) return *stopped_;
  const Plan plan = best_plan();
  if (stopped_ == StopReason::kBudget) return StopReason::kBudget;
  if (!plan.cost.finite()) return StopReason::kNoImplementation;
  return finish(plan);
}

}  // namespace

std::variant<Optimum, StopReason> optimize_patchwork(const Computation& c, const Machine& machine,
                                                     const Isa& isa, const SearchOptions& options) {
  return PatchworkSearch(c, machine, isa, options).run();
}

}  // namespace morello
