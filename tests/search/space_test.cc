// The grid is a bijection on all Specs that a search can meet; costs obey their laws.

#include <map>
#include <set>

#include "toy.h"

namespace morello {
namespace {

using Id = std::tuple<Extents, std::vector<int>, bool, Level, int>;

Id identity(const Spec& s) {
  std::vector<int> places;
  for (const Place& p : s.place) places.push_back(p.level * 2 + p.packed);
  return {s.extent, places, s.accumulate, s.nearest, s.threads};
}

// All Specs below a root, by following every candidate.
void collect(const Space& space, const Spec& spec, std::map<Id, Spec>& seen) {
  if (!seen.emplace(identity(spec), spec).second) return;
  std::vector<Spec> next;
  auto each = [&](const Candidate& c) {
    next.insert(next.end(), c.child, c.child + c.cost.children);
  };
  expand(space, spec, each);
  for (const Spec& s : next) collect(space, s, seen);
}

constexpr std::string_view kSpecs[] = {
    "(a: f32[7,20], b: f32[20,19]): f32 = matmul(a, b)",
    "(a: bf16[3,16], b: bf16[16,24] packed): bf16 = matmul(a, b)",
    "(a: u8[2,5,18], b: i8[2,18,9]): i32 = matmul(a, b)",
    "(x: f32[40,30] col): f32 = reduce_sum(x, axis=0)",
    "(x: f32[40,30], y: f32[40,30] col): f32 = add(x, y)",
    "(a: bf16[1,300], b: bf16[300,1]): bf16 = matmul(a, b)",
};

TEST_CASE("keys are a bijection") {
  size_t total = 0;
  for (std::string_view text : kSpecs) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    const Machine machine = toy_machine();
    const std::vector<Family> all = families(k.computation, *find_isa("avx2"));
    REQUIRE(!all.empty());
    for (int threads : {1, 3, 6}) {
      const Space space({&k.computation, &machine, all.front(), threads});
      std::map<Id, Spec> seen;
      collect(space, space.problem().root(), seen);
      std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
      for (const auto& [id, s] : seen) {
        const Key key = space.key(s);
        keys.emplace(key.high, key.low);
      }
      CHECK(keys.size() == seen.size());
      total += seen.size();
    }
  }
  CHECK(total > 500);
}

TEST_CASE("no program is cheaper than the family's bound") {
  for (std::string_view text : kSpecs) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    const Machine machine = toy_machine();
    for (const Family& f : families(k.computation, *find_isa("avx2")))
      for (int threads : {1, 2, 4, 6}) {
        const Space space({&k.computation, &machine, f, threads});
        Solver solver(space, 0);
        const Cost best = solver.solve(space.problem().root(), space.capacity()).cost;
        CAPTURE(f.str(k.computation));
        CHECK(space.lower_bound() <= best);
      }
  }
}

TEST_CASE("more memory never makes a Spec dearer, and boxes tell the truth") {
  const KernelSpec k = spec("(a: f32[9,33], b: f32[33,17]): f32 = matmul(a, b)");
  const Machine machine = toy_machine(2048, 16384);
  const std::vector<Family> all = families(k.computation, *find_isa("avx2"));
  const Space space({&k.computation, &machine, all[all.size() / 2], 1});
  Solver shared(space, 0);
  const Spec root = space.problem().root();
  Cost last = Cost::infinite();
  for (i64 l1 = 0; l1 <= 4096; l1 += 64) {
    const Limits limits{{l1, 8192, 0}};
    Solver fresh(space, 0);
    const Entry alone = fresh.solve(root, limits);
    const Entry together = shared.solve(root, limits);
    CHECK(alone.cost == together.cost);
    CHECK(fits(together.peak, limits));
    CHECK(fits(limits, together.limit));
    CHECK(together.cost <= last);
    last = together.cost;
  }
}

}  // namespace
}  // namespace morello
