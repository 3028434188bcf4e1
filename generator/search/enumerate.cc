#include <cmath>
#include <limits>
#include <map>

#include "search/count.h"

namespace morello {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// log10(10^a + 10^b)
double add_logs(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNone ? a : a + std::log10(1 + std::pow(10.0, b - a));
}

class Counter {
 public:
  explicit Counter(const Space& space) : space_(space), capacity_(space.capacity()) {}

  double count(const Spec& spec) {
    const Key key = space_.key(spec);
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    double sum = kNone;
    auto each = [&](const Candidate& c) {
      if (!has_room(c, capacity_)) return;
      double product = 0;
      for (int i = 0; i < c.cost.children; ++i) product += count(c.child[i]);
      sum = add_logs(sum, product);
    };
    expand(space_, spec, each);
    known_[key] = sum;
    return sum;
  }

 private:
  const Space& space_;
  Limits capacity_;
  std::map<Key, double> known_;
};

class Enumerator {
 public:
  Enumerator(const Space& space, size_t most) : space_(space), most_(most) {}

  std::vector<Program> all(const Spec& spec, const Limits& limits) {
    std::vector<Program> out;
    auto each = [&](const Candidate& c) {
      if (overflow || !has_room(c, limits)) return;
      const Limits inner = inside(c, limits);
      std::vector<std::vector<Program>> parts;
      for (int i = 0; i < c.cost.children; ++i) parts.push_back(all(c.child[i], inner));
      combine(spec, c, parts, {}, c.cost.base, out);
    };
    expand(space_, spec, each);
    return out;
  }
  bool overflow = false;

 private:
  void combine(const Spec& spec, const Candidate& c, const std::vector<std::vector<Program>>& parts,
               std::vector<ImplPtr> chosen, Cost cost, std::vector<Program>& out) {
    if (overflow) return;
    const size_t i = chosen.size();
    if (i == parts.size()) {
      out.push_back({build(space_, spec, c.decision, chosen), cost});
      overflow = out.size() > most_;
      return;
    }
    for (const Program& p : parts[i]) {
      std::vector<ImplPtr> more = chosen;
      more.push_back(p.impl);
      combine(spec, c, parts, std::move(more), cost + c.cost.weight[i] * p.cost, out);
    }
  }

  const Space& space_;
  size_t most_;
};

}  // namespace

double log10_programs(const Space& space) { return Counter(space).count(space.problem().root()); }

std::vector<Program> enumerate(const Space& space, const Spec& spec, const Limits& limits,
                               size_t most) {
  Enumerator e(space, most);
  std::vector<Program> out = e.all(spec, limits);
  if (e.overflow) out.clear();
  return out;
}

}  // namespace morello
