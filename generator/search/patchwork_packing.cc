// In which order operands are packed ahead of time that pieces of all sizes read.

#include <algorithm>
#include <numeric>

#include "search/patchwork_search.h"
#include "spec/sizes.h"

namespace morello {

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

// An order of the operands that are packed ahead of time.
struct PatchworkSearch::Packing {
  Family family;             // one that finds them so
  std::vector<Cost> bounds;  // what no program can beat of each that is weighed, times its weight
  Cost bound() const { return std::accumulate(bounds.begin(), bounds.end(), Cost()); }
};

// Most promising first.
std::vector<PatchworkSearch::Packing> PatchworkSearch::packings() const {
  std::vector<Packing> all;
  for (const auto& [w, times] : weighed()) {
    const Computation part = with_extents(c_, w.extents);
    std::vector<std::pair<Cost, Family>> here;
    for (const std::vector<Family>& alike : by_packing(families_of(part), c_)) {
      const auto least = by_bound(part, machine_, alike, options_.threads, options_.part);
      if (!least.empty()) here.emplace_back(times * least[0].bound, least[0].problem.family);
    }
    if (all.empty())
      for (const auto& [bound, family] : here) all.push_back({family, {}});
    for (Packing& p : all) {
      const auto same = std::find_if(here.begin(), here.end(), [&](const auto& other) {
        return packs_alike(p.family, other.second, c_);
      });
      p.bounds.push_back(same == here.end() ? Cost::infinite() : same->first);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Packing& a, const Packing& b) { return a.bound() < b.bound(); });
  return all;
}

// Of all that is weighed; infinite if that is no less than `best`. The last ones first, which are
// the dearest where there are several: what is no good is soon seen to be so, for the others cost
// what their bounds say at least.
Cost PatchworkSearch::cost_below(const Packing& p, Cost best) {
  const auto all = weighed();
  Cost cost, rest = p.bound();
  for (size_t i = all.size(); i-- > 0;) {
    const auto& [w, times] = all[i];
    rest = rest - p.bounds[i];
    if (cost + rest >= best) return Cost::infinite();
    if (best.finite())
      options_.bounds_below =
          Cost::milli(static_cast<i64>((best - (cost + rest)).value()) / times + 1);
    cost = cost + times * cost_of(w);
    options_.bounds_below = Cost::infinite();
  }
  return cost < best ? cost : Cost::infinite();
}

// Operands that are packed ahead of time are packed in one order, whichever piece reads them.
void PatchworkSearch::choose_packing() {
  if (std::none_of(c_.operands.begin(), c_.operands.end(),
                   [](const Operand& o) { return o.packed; }))
    return;
  Cost best = Cost::infinite();
  std::optional<Family> chosen;
  for (const Packing& packing : packings()) {
    if (packing.bound() >= best) break;
    like_ = packing.family;
    const Cost cost = cost_below(packing, best);
    if (stopped_ == StopReason::kBudget) return;
    stopped_.reset();  // an order that some piece cannot use, or not for so little
    if (cost < best) chosen = packing.family;
    best = std::min(best, cost);
    found_.clear();
  }
  like_ = chosen;
}

}  // namespace morello
