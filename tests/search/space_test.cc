// Bounds and limits obey their laws.

#include "toy.h"

namespace morello {
namespace {

constexpr std::string_view kSpecs[] = {
    "(a: f32[7,20], b: f32[20,19]): f32 = matmul(a, b)",
    "(a: bf16[3,16], b: bf16[16,24] packed): bf16 = matmul(a, b)",
    "(a: u8[2,5,18], b: i8[2,18,9]): i32 = matmul(a, b)",
    "(x: f32[40,30] col): f32 = reduce_sum(x, axis=0)",
    "(x: f32[40,30], y: f32[40,30] col): f32 = add(x, y)",
    "(a: bf16[1,300], b: bf16[300,1]): bf16 = matmul(a, b)",
};

TEST_CASE("no program is cheaper than the family's bound") {
  for (std::string_view text : kSpecs) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    const Machine machine = toy_machine();
    for (const Family& f : families(k.computation, *find_isa("avx2")))
      for (int threads : {1, 2, 4, 6}) {
        Searcher search({&k.computation, &machine, f, threads});
        CAPTURE(f.str(k.computation));
        CHECK(search.space.lower_bound() <= search.cost());
      }
  }
}

TEST_CASE("more memory never makes a Spec dearer, and boxes tell the truth") {
  const KernelSpec k = spec("(a: f32[9,33], b: f32[33,17]): f32 = matmul(a, b)");
  const Machine machine = toy_machine(2048, 16384);
  const std::vector<Family> all = families(k.computation, *find_isa("avx2"));
  const Problem problem{&k.computation, &machine, all[all.size() / 2], 1};
  Searcher shared(problem);
  Cost last = Cost::infinite();
  for (i64 l1 = 0; l1 <= 4096; l1 += 64) {
    const Limits limits{{l1, 8192, 0}};
    Searcher fresh(problem);
    const Entry alone = fresh.solver.solve(fresh.root(), limits);
    const Entry together = shared.solver.solve(shared.root(), limits);
    CHECK(alone.cost == together.cost);
    CHECK(fits(together.peak, limits));
    CHECK(fits(limits, together.limit));
    CHECK(together.cost <= last);
    last = together.cost;
  }
}

TEST_CASE("the cheapest candidate costs the optimum; an impossible child makes one impossible") {
  const Machine machine = toy_machine();
  i64 impossible = 0;
  for (std::string_view text : kSpecs) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    for (const Family& f : families(k.computation, *find_isa("avx2")))
      for (int threads : {1, 2})
        for (const Limits& limits : {Limits::zero(), Limits{{512, 2048, 0}}}) {
          Searcher search({&k.computation, &machine, f, threads});
          CAPTURE(f.str(k.computation));
          Cost least = Cost::infinite();
          auto each = [&](const Candidate& c) {
            least = std::min(least, search.solver.price(c, limits));
          };
          expand(search.space, search.root(), each);
          CHECK(search.solver.solve(search.root(), limits).cost == least);
          // A child whose time does not count, as the remainder of a parallel loop.
          Candidate beside;
          beside.add(search.root(), 0);
          CHECK(search.solver.price(beside, limits).finite() == least.finite());
          impossible += !least.finite();
        }
  }
  CHECK(impossible > 0);
}

}  // namespace
}  // namespace morello
