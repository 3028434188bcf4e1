// Programs are drawn top-down: at every node each candidate counts with the optimum of its
// children plus noise, the temperature. The noise depends on the seed, the depth and the decision
// only, so that the first step and the others of a loop usually look alike, as in a search's
// answer.

#include "search/sample.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

namespace morello {
namespace {

ImplPtr stripped(const ImplPtr& impl) { return impl ? without_views(*impl) : nullptr; }

// 64 well-mixed bits of what came so far and one more word (splitmix64).
std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  std::uint64_t z = (state ^ word) + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}
double unit(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

// Prices code: walks the nodes of `impl` and inserts views wherever they pay.
class Pricer {
 public:
  explicit Pricer(const Space& space) : space_(space) {}

  Cost price(const Spec& spec, const Limits& limits, const ImplPtr& impl) {
    const Key key = space_.key(spec);
    const State state{impl.get(), key, limits.bytes};
    if (const auto it = known_.find(state); it != known_.end()) return it->second;
    Cost best = Cost::infinite();
    auto each = [&](const Candidate& c) {
      if (c.cost.base >= best || !has_room(c, limits)) return;
      best = std::min(best, follow(spec, limits, c, impl, best));
    };
    expand(space_, spec, each);
    known_[state] = best;
    return best;
  }

 private:
  using State = std::tuple<const Impl*, Key, std::array<i64, 3>>;

  // Cost of `impl` by way of this candidate: the candidate is a view, or it makes impl's own node.
  Cost follow(const Spec& spec, const Limits& limits, const Candidate& c, const ImplPtr& impl,
              Cost best) {
    const ImplPtr node = build_open(space_, spec, c);
    const auto count = static_cast<size_t>(c.cost.children);
    std::vector<ImplPtr> next = {impl};
    const Move* move = std::get_if<Move>(&node->node);
    if (!move || move->copy) {
      if (!same_node(*node, *impl)) return Cost::infinite();
      next = searched_children(*impl);
      if (next.size() != count) return Cost::infinite();
    }
    Cost sum = c.cost.base;
    for (size_t i = 0; i < count && sum < best; ++i) {
      const Cost child = price(c.child[i], inside(c, limits), next[i]);
      sum = child.finite() ? sum + c.cost.weight[i] * child : Cost::infinite();
    }
    return sum;
  }

  static bool same_node(const Impl& a, const Impl& b) {
    if (a.node.index() != b.node.index()) return false;
    if (const Loop* l = std::get_if<Loop>(&a.node)) {
      const Loop& m = std::get<Loop>(b.node);
      const Move *x = asking_move(a), *y = asking_move(b);
      return l->dim == m.dim && l->tile == m.tile && l->parallel == m.parallel && !x == !y &&
             (!x || (x->operand == y->operand && x->copy == y->copy));
    }
    if (const Clip* l = std::get_if<Clip>(&a.node)) return l->dim == std::get<Clip>(b.node).dim;
    if (const Move* l = std::get_if<Move>(&a.node))
      return l->operand == std::get<Move>(b.node).operand;
    if (std::holds_alternative<Call>(a.node)) return equal(a, b);
    return true;
  }

  const Space& space_;
  std::map<State, Cost> known_;
};

// One family that can win something: its space and everything that is known of it.
struct Field {
  explicit Field(const Problem& problem, i64 max_specs)
      : space(problem), solver(space, memo, {.max_specs = max_specs}) {
    cost = solver.solve(problem.root(), space.capacity()).cost;
    if (solver.exhausted()) cost = Cost::infinite();
  }
  Space space;
  SpatialMemo memo;
  Solver solver;
  Cost cost;
};

class Drawing {
 public:
  Drawing(Field& field, std::uint64_t seed, double temperature)
      : field_(field), seed_(seed), temperature_(temperature) {}

  ImplPtr draw(const Spec& spec, const Limits& limits, int depth = 0) {
    Candidate chosen;
    double most = -1e300;
    auto each = [&](const Candidate& c) {
      const double score = attraction(c, limits, depth);
      if (score <= most) return;
      most = score;
      chosen = c;
    };
    expand(field_.space, spec, each);
    MORELLO_CHECK(most > -1e300, "nothing to draw from");
    std::vector<ImplPtr> children;
    for (int i = 0; i < chosen.cost.children; ++i)
      children.push_back(draw(chosen.child[i], inside(chosen, limits), depth + 1));
    return build(field_.space, spec, chosen.decision, children);
  }

 private:
  // The logarithm of the cost, and Gumbel noise: the greatest of them is candidate i with a
  // probability proportional to cost ^ (-1 / temperature).
  double attraction(const Candidate& c, const Limits& limits, int depth) {
    const Cost cost = field_.solver.price(c, limits);
    if (!cost.finite()) return -1e300;
    const Decision& d = c.decision;
    std::uint64_t bits = mix(seed_, static_cast<std::uint64_t>(depth));
    bits = mix(bits,
               static_cast<std::uint64_t>(d.rewrite) << 16 | static_cast<std::uint64_t>(d.subject));
    bits = mix(bits, static_cast<std::uint64_t>(d.detail));
    bits = mix(bits, static_cast<std::uint64_t>(d.value));
    const double noise = -std::log(-std::log(unit(bits)));
    return temperature_ * noise - std::log(cost.as_cycles() + 1);
  }

  Field& field_;
  std::uint64_t seed_;
  double temperature_;
};

class Sampler {
 public:
  Sampler(const Computation& c, const Machine& machine, const Isa& isa,
          const SampleOptions& options)
      : c_(c), machine_(machine), isa_(isa), options_(options) {}

  std::vector<Sample> run() {
    solve_families();
    if (fields_.empty()) return {};
    choose_bests(std::max(1, options_.programs / 5));
    choose_near(options_.programs / 5);
    choose_spread();
    return std::move(out_);
  }

 private:
  // Families within the range of the best one, cheapest first.
  void solve_families() {
    Cost best = Cost::infinite();
    for (const auto& [problem, bound] : by_bound(c_, machine_, isa_, options_.threads)) {
      if (best.finite() && bound.as_cycles() > options_.range * best.as_cycles()) break;
      auto field = std::make_unique<Field>(problem, options_.max_specs);
      if (!field->cost.finite()) continue;
      best = std::min(best, field->cost);
      fields_.push_back(std::move(field));
    }
    std::stable_sort(fields_.begin(), fields_.end(),
                     [](const auto& a, const auto& b) { return a->cost < b->cost; });
    if (best.finite())
      dearest_ = std::min(options_.range * best.as_cycles(), options_.most.as_cycles());
    std::erase_if(fields_, [&](const auto& f) { return f->cost.as_cycles() > dearest_; });
  }

  // The sample of this program if its code is new and its price within range, appended to `to`.
  bool add(Field& field, const ImplPtr& drawn, std::vector<Sample>& to) {
    const Problem& p = field.space.problem();
    const ImplPtr code = without_views(*drawn);
    const std::string text = p.family.str(c_) + "\n" + print(p, *code);
    if (!seen_.insert(text).second) return false;
    const Cost cost = price(field.space, code);
    if (!cost.finite() || cost.as_cycles() > dearest_) return false;
    to.push_back({p, code, cost});
    return true;
  }
  ImplPtr draw(Field& field, double temperature) {
    const std::uint64_t seed = mix(options_.seed, ++draws_);
    const Problem& p = field.space.problem();
    return Drawing(field, seed, temperature).draw(p.root(), field.space.capacity());
  }

  // Half of them the cheapest families, half evenly over the others.
  void choose_bests(int count) {
    std::vector<size_t> chosen;
    const size_t n = fields_.size(), half = std::min<size_t>(n, static_cast<size_t>(count + 1) / 2);
    for (size_t i = 0; i < half; ++i) chosen.push_back(i);
    const size_t others = std::min(n - half, static_cast<size_t>(count) - half);
    for (size_t i = 0; i < others; ++i) chosen.push_back(half + i * (n - half) / others);
    for (size_t i : chosen) {
      Field& f = *fields_[i];
      add(f, f.solver.extract(f.space.problem().root(), f.space.capacity()), out_);
    }
  }

  void choose_near(int count) {
    constexpr double kNear = 1.15, kTemperature = 0.02;
    const double least = fields_.front()->cost.as_cycles();
    std::vector<Sample> near;
    for (int tries = 0; tries < 20 * count && static_cast<int>(near.size()) < count; ++tries) {
      Field& f = *fields_[static_cast<size_t>(tries) % std::min<size_t>(3, fields_.size())];
      if (f.cost.as_cycles() > kNear * least) continue;
      if (add(f, draw(f, kTemperature), near) && near.back().cost.as_cycles() > kNear * least)
        near.pop_back();
    }
    out_.insert(out_.end(), near.begin(), near.end());
  }

  // A pool of random programs; of every stratum of the logarithm of the cost the first one drawn.
  void choose_spread() {
    const int count = options_.programs - static_cast<int>(out_.size());
    constexpr double kTemperatures[] = {0.05, 0.15, 0.4, 1.0};
    std::vector<Sample> pool;
    for (int tries = 0; tries < 40 * count && static_cast<int>(pool.size()) < 8 * count; ++tries) {
      Field& f =
          *fields_[mix(options_.seed + 1, static_cast<std::uint64_t>(tries)) % fields_.size()];
      add(f, draw(f, kTemperatures[tries % 4]), pool);
    }
    std::stable_sort(pool.begin(), pool.end(),
                     [](const Sample& a, const Sample& b) { return a.cost < b.cost; });
    const double low = std::log(out_.front().cost.as_cycles()), high = std::log(dearest_);
    for (int i = 0; i < count && !pool.empty(); ++i) {
      const double want = low + (high - low) * (i + 0.5) / count;
      const auto nearest =
          std::min_element(pool.begin(), pool.end(), [&](const Sample& a, const Sample& b) {
            return std::fabs(std::log(a.cost.as_cycles()) - want) <
                   std::fabs(std::log(b.cost.as_cycles()) - want);
          });
      out_.push_back(*nearest);
      pool.erase(nearest);
    }
  }

  const Computation& c_;
  const Machine& machine_;
  const Isa& isa_;
  SampleOptions options_;
  std::vector<std::unique_ptr<Field>> fields_;
  std::set<std::string> seen_;
  std::vector<Sample> out_;
  double dearest_ = 0;
  std::uint64_t draws_ = 0;
};

}  // namespace

ImplPtr without_views(const Impl& impl) {
  Impl copy = impl;
  if (Loop* l = std::get_if<Loop>(&copy.node)) {
    for (ImplPtr* part : {&l->first, &l->body, &l->rest}) *part = stripped(*part);
  } else if (Move* m = std::get_if<Move>(&copy.node)) {
    if (!m->copy) return stripped(m->body);
    m->body = stripped(m->body);
    m->level = kL1;  // always legal
  } else if (Clip* c = std::get_if<Clip>(&copy.node)) {
    for (ImplPtr& part : c->parts) part = stripped(part);
  } else if (Block* b = std::get_if<Block>(&copy.node)) {
    for (ImplPtr& part : b->parts) part = stripped(part);
  }
  return std::make_shared<const Impl>(std::move(copy));
}

Cost price(const Space& space, const ImplPtr& impl) {
  return Pricer(space).price(space.problem().root(), space.capacity(), impl);
}

std::vector<Sample> sample(const Computation& c, const Machine& machine, const Isa& isa,
                           const SampleOptions& options) {
  return Sampler(c, machine, isa, options).run();
}

}  // namespace morello
