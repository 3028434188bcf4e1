#include "search/solver.h"

#include <utility>
#include <vector>

namespace morello {

// One thread's part in a search.
class Solver::Worker {
 public:
  Worker(Solver& solver, int index, int count) : solver_(solver), index_(index), count_(count) {}
  ~Worker() { report(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Entry solve(const Spec& spec, const Limits& limits);
  // Cost of a candidate; stops as soon as it is `enough` or more. Narrows the box of limits for
  // which what was found holds.
  Cost price(const Candidate& c, const Limits& limits, Cost enough, Limits& box, Limits& peak);
  const Pruning& pruning() const { return solver_.options_.pruning; }
  // Once true, always true: what was found since then may be incomplete, also if the solver has
  // begun something new.
  bool stopped() { return stopped_ = stopped_ || solver_.done_.load(std::memory_order_relaxed); }

 private:
  // Counters go to the solver now and then, for progress and budgets.
  static constexpr i64 kReportEvery = 1024;
  void report();
  void in_other_order(const Spec& spec, Trial& trial);

  Solver& solver_;
  int index_, count_;
  bool stopped_ = false;
  i64 specs_ = 0, hits_ = 0, entries_ = 0;

 public:
  i64 candidates = 0;
};

// One Spec being solved: the best candidate so far and the box of limits for which it is the best.
struct Solver::Trial {
  Worker& worker;
  const Limits& limits;
  Entry& best;
  Limits box = Limits::unlimited();

  void operator()(const Candidate& c) {
    ++worker.candidates;
    const Cost enough = worker.pruning().incumbents ? best.cost : Cost::infinite();
    Limits peak;
    const Cost cost = worker.price(c, limits, enough, box, peak);
    if (cost >= best.cost) return;
    best.cost = cost;
    best.peak = peak;
    best.decision = c.decision;
  }
};

Cost Solver::Worker::price(const Candidate& c, const Limits& limits, Cost enough, Limits& box,
                           Limits& peak) {
  if (c.cost.base >= enough) return Cost::infinite();
  if (!has_room(c, limits)) {  // refused: with more room it might win
    for (Level l = kL1;; ++l)
      if (const i64 bytes = c.takes.at(l); bytes > limits.at(l)) {
        box.at(l) = std::min(box.at(l), bytes - 1);
        break;
      }
    return Cost::infinite();
  }
  const Limits inner = inside(c, limits);
  Cost cost = c.cost.base;
  Limits children_box = Limits::unlimited();
  for (int i = 0; i < c.cost.children && cost < enough; ++i) {
    const Entry e = solve(c.child[i], inner);
    children_box = min(children_box, e.limit);
    peak = max(peak, e.peak);
    // An impossible child makes the candidate impossible even where its time is not counted.
    cost = e.cost.finite() ? cost + c.cost.weight[i] * e.cost : Cost::infinite();
  }
  box = min(box, plus(children_box, c.takes));
  peak = plus(peak, c.takes);
  return cost;
}

void Solver::Worker::report() {
  if (SearchProgress* p = solver_.options_.progress) {
    p->specs += specs_;
    p->entries += entries_;
  }
  entries_ = 0;
  solver_.specs_ += std::exchange(specs_, 0);
  solver_.memo_hits_ += std::exchange(hits_, 0);
  solver_.candidates_ += std::exchange(candidates, 0);
}

// Helpers start elsewhere in the list of candidates, every other one backwards, so that threads
// meet in the memo and not at the same Spec.
void Solver::Worker::in_other_order(const Spec& spec, Trial& trial) {
  std::vector<Candidate> all;
  auto keep = [&](const Candidate& c) { all.push_back(c); };
  expand(solver_.space_, spec, keep);
  const size_t n = all.size();
  const size_t first = n * static_cast<size_t>(index_) / static_cast<size_t>(count_);
  for (size_t i = 0; i < n && !stopped(); ++i)
    trial(all[(index_ % 2 == 0 ? first + i : first + n - 1 - i) % n]);
}

// Most calls end with what the memo has. It writes that where the caller wants it: a copy would be
// read in longer pieces than it has just been written in, which the loads wait for.
Entry Solver::Worker::solve(const Spec& spec, const Limits& limits) {
  Entry best;
  const Key key = solver_.space_.key(spec);
  Memo& memo = solver_.memo(spec);
  if (memo.find(key, limits, best)) {
    ++hits_;
    return best;
  }
  if (stopped() || solver_.exhausted()) return best;
  if (++specs_ % (solver_.options_.max_specs > 0 ? 1 : kReportEvery) == 0) report();
  Trial trial{*this, limits, best};
  if (index_ == 0)
    expand(solver_.space_, spec, trial);
  else
    in_other_order(spec, trial);
  if (stopped()) return best;  // incomplete: what it says must not be remembered
  best.limit = pruning().boxes ? trial.box : limits;
  memo.insert(key, limits, best);
  ++entries_;
  return best;
}

Entry Solver::solve(const Spec& spec, const Limits& limits) {
  done_ = false;
  Worker worker(*this, 0, 1);
  const Entry found = worker.solve(spec, limits);
  // A helper may have finished first.
  Entry answer;
  const bool stored = done_.exchange(true) && memo(spec).find(space_.key(spec), limits, answer);
  return stored ? answer : found;
}

void Solver::help(const Spec& spec, const Limits& limits, int worker, int workers) {
  Worker self(*this, worker, workers);
  self.solve(spec, limits);
  if (!self.stopped()) done_ = true;
}

Cost Solver::price(const Candidate& c, const Limits& limits) {
  done_ = false;
  Worker worker(*this, 0, 1);
  Limits box, peak;
  return worker.price(c, limits, Cost::infinite(), box, peak);
}

ImplPtr Solver::extract(const Spec& spec, const Limits& limits) {
  done_ = false;
  Worker worker(*this, 0, 1);
  const Cost best = worker.solve(spec, limits).cost;
  MORELLO_CHECK(best.finite(), "no program to extract for {}", str(spec, space_.computation()));
  Candidate chosen;
  bool found = false;
  auto pick = [&](const Candidate& c) {
    if (found) return;
    Limits box, peak;
    if (worker.price(c, limits, best + Cost::milli(1), box, peak) != best) return;
    chosen = c;
    found = true;
  };
  expand(space_, spec, pick);
  MORELLO_CHECK(found, "no candidate attains the cost of {}", str(spec, space_.computation()));
  const Limits inner = inside(chosen, limits);
  std::vector<ImplPtr> children;
  for (int i = 0; i < chosen.cost.children; ++i)
    children.push_back(extract(chosen.child[i], inner));
  return build(space_, spec, chosen.decision, children);
}

SearchStats Solver::stats() const {
  SearchStats out{specs_.load(), candidates_.load(), memo_hits_.load(), memo_.size()};
  if (&sums_ != &memo_) out.memo += sums_.size();
  return out;
}

}  // namespace morello
