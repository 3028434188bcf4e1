#include "search/explain.h"

#include <algorithm>

#include "impl/text.h"
#include "search/spatial_memo.h"

namespace morello {
namespace {

// The candidate that builds this node, if there is one.
bool find_candidate(const Space& space, const Spec& spec, const Impl& impl, Candidate& found) {
  bool ok = false;
  const std::vector<ImplPtr> parts = searched_children(impl);
  auto each = [&](const Candidate& c) {
    if (ok || c.cost.children != static_cast<int>(parts.size())) return;
    if (!equal(*build(space, spec, c.decision, parts), impl)) return;
    found = c;
    ok = true;
  };
  expand(space, spec, each);
  return ok;
}

// Of what one rewrite makes.
std::string first_line(const Problem& p, const Impl& impl) {
  const Move* move = asking_move(impl);
  return headline(p, impl) + (move ? ", " + headline(p, {*move}) : "");
}

class Explainer {
 public:
  // Where sizes are known at run time only, of the program for the largest piece.
  explicit Explainer(const Optimum& o)
      : space_(o.problem),
        solver_(space_, memo_),
        total_(o.patchwork ? cost_of(space_, o.problem.root(), *o.impl) : o.cost),
        problem_(o.problem) {}

  std::string text(const Spec& spec, const Limits& limits, const Impl& impl, double times,
                   int depth) {
    Candidate c;
    MORELLO_CHECK(find_candidate(space_, spec, impl, c), "a node that no rewrite makes");
    const Cost whole = cost_of(space_, spec, impl);
    const double all = whole.as_cycles() * times;
    const double own = c.cost.base.as_cycles() * times;
    std::string out = fmt::format("{:>14.0f} {:>5.1f}% {:>14.0f}  {:<44}{}\n", all,
                                  100 * all / total_.as_cycles(), own,
                                  std::string(2 * depth, ' ') + first_line(problem_, impl),
                                  runner_up(spec, limits, c, whole));
    const Limits inner = inside(c, limits);
    const std::vector<ImplPtr> parts = searched_children(impl);
    for (int i = 0; i < c.cost.children; ++i)
      out += text(c.child[i], inner, *parts[i], times * static_cast<double>(c.cost.weight[i]),
                  depth + 1);
    return out;
  }

  // Of the program that is explained.
  Cost total() const { return total_; }

 private:
  // "next: split k by 256 +3.1%"
  std::string runner_up(const Spec& spec, const Limits& limits, const Candidate& winner,
                        Cost whole) {
    Cost best = Cost::infinite();
    Candidate second;
    auto each = [&](const Candidate& c) {
      if (c.decision == winner.decision) return;
      const Cost cost = solver_.price(c, limits);
      if (cost < best) {
        best = cost;
        second = c;
      }
    };
    expand(space_, spec, each);
    if (!best.finite()) return "";
    return fmt::format("  next: {} +{:.1f}%",
                       first_line(problem_, *build_open(space_, spec, second)),
                       100 * (best.as_cycles() / whole.as_cycles() - 1));
  }

  Space space_;
  SpatialMemo memo_;
  Solver solver_;
  Cost total_;
  const Problem& problem_;
};

std::string family_line(const FamilyResult& f, const Computation& c, Cost best) {
  std::string cost = "-";
  // By the bound, not by whether it was skipped: some such families are searched before the winner
  // is known, and which ones depends on timing.
  if (f.lower_bound > best)
    cost = fmt::format("bound {:.0f}, cannot win", f.lower_bound.as_cycles());
  else if (f.cost.finite())
    cost = fmt::format("{:.0f}  +{:.1f}%", f.cost.as_cycles(),
                       100 * (f.cost.as_cycles() / best.as_cycles() - 1));
  return fmt::format("  {}{}  {}\n", f.family.str(c),
                     f.threads > 1 ? fmt::format(" threads={}", f.threads) : "", cost);
}

}  // namespace

Cost cost_of(const Space& space, const Spec& spec, const Impl& impl) {
  Candidate c;
  if (!find_candidate(space, spec, impl, c)) return Cost::infinite();
  const std::vector<ImplPtr> parts = searched_children(impl);
  Cost sum = c.cost.base;
  for (int i = 0; i < c.cost.children; ++i) {
    const Cost child = cost_of(space, c.child[i], *parts[i]);
    sum = child.finite() ? sum + c.cost.weight[i] * child : Cost::infinite();
  }
  return sum;
}

std::string explain(const Optimum& o) {
  if (o.rows) return fmt::format("cycles       {:.0f}\n\n{}", o.cost.as_cycles(), print(*o.rows));
  if (o.fusion)
    return fmt::format("stages       {}\ncycles       {:.0f}\n\n{}", o.fusion->graph->stages.size(),
                       o.cost.as_cycles(), print(*o.fusion));
  const Computation& c = *o.problem.computation;
  std::string out = fmt::format("computation  {}\nfamily       {}\nregisters    {} of {}\n\n",
                                str(c), o.problem.family.str(c), o.problem.family.registers,
                                o.problem.family.isa->vector_registers);
  out += fmt::format("{:>14} {:>6} {:>14}  program\n", "cycles", "share", "own cycles");
  Explainer e(o);
  out += e.text(o.problem.root(), Space(o.problem).capacity(), *o.impl, 1, 0);
  if (o.patchwork) out += "\n" + print(*o.patchwork, c);
  out += "\nfamilies, cheapest bound first\n";
  for (const FamilyResult& f : o.families) out += family_line(f, c, e.total());
  return out;
}

}  // namespace morello
