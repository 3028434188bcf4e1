#include "search/solver.h"

namespace morello {

// One Spec being solved: the best candidate so far and the box of limits for which it is the best.
struct Solver::Trial {
  Solver& solver;
  const Limits& limits;
  Entry best;
  Limits box = Limits::unlimited();

  void operator()(const Candidate& c) {
    ++solver.stats_.candidates;
    if (c.cost.base >= best.cost) return;
    Limits inner = limits;
    if (c.bytes > 0) {
      if (c.bytes > limits.at(c.level)) {  // refused: with more room it might win
        box.at(c.level) = std::min(box.at(c.level), c.bytes - 1);
        return;
      }
      inner.at(c.level) -= c.bytes;
    }
    Cost cost = c.cost.base;
    Limits peak;
    Limits children_box = Limits::unlimited();
    for (int i = 0; i < c.cost.children && cost < best.cost; ++i) {
      const Entry e = solver.solve(c.child[i], inner);
      children_box = min(children_box, e.limit);
      peak = max(peak, e.peak);
      // An impossible child makes the candidate impossible even where its time is not counted.
      cost = e.cost.finite() ? cost + c.cost.weight[i] * e.cost : Cost::infinite();
    }
    box = min(box, c.bytes > 0 ? plus(children_box, c.level, c.bytes) : children_box);
    if (cost >= best.cost) return;
    best.cost = cost;
    best.peak = c.bytes > 0 ? plus(peak, c.level, c.bytes) : peak;
    best.decision = c.decision;
  }
};

Entry Solver::solve(const Spec& spec, const Limits& limits) {
  const Key key = space_.key(spec);
  if (const Entry* hit = memo_.find(key, limits)) {
    ++stats_.memo_hits;
    return *hit;
  }
  Trial trial{*this, limits, {}};
  if (exhausted()) return trial.best;
  ++stats_.specs;
  expand(space_, spec, trial);
  trial.best.limit = trial.box;
  memo_.insert(key, trial.best);
  return trial.best;
}

ImplPtr Solver::extract(const Spec& spec, const Limits& limits) {
  const Entry e = solve(spec, limits);
  MORELLO_CHECK(e.cost.finite(), "no program to extract for {}", str(spec, space_.computation()));
  Candidate chosen;
  auto pick = [&](const Candidate& c) {
    if (c.decision == e.decision) chosen = c;
  };
  expand(space_, spec, pick);
  Limits inner = limits;
  if (chosen.bytes > 0) inner.at(chosen.level) -= chosen.bytes;
  std::vector<ImplPtr> children;
  for (int i = 0; i < chosen.cost.children; ++i)
    children.push_back(extract(chosen.child[i], inner));
  return build(space_, spec, e.decision, children);
}

SearchStats Solver::stats() const {
  SearchStats s = stats_;
  s.boxes = memo_.boxes();
  s.memo_bytes = memo_.bytes();
  return s;
}

}  // namespace morello
