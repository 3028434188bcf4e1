// Drawn programs are programs of the space, priced as the search prices them.

#include "search/sample.h"

#include <set>

#include "toy.h"

namespace morello {
namespace {

struct Row {
  std::string_view text;
  int threads;
};
constexpr Row kRows[] = {
    {"(a: f32[7,20], b: f32[20,19]): f32 = matmul(a, b)", 1},
    {"(a: f32[40,64], b: f32[64,48]): f32 = matmul(a, b)", 2},
    {"(a: bf16[3,16], b: bf16[16,24] packed): bf16 = matmul(a, b)", 1},
    {"(x: f32[40,30] col): f32 = reduce_sum(x, axis=0)", 1},
    {"(x: f32[40,30], y: f32[40,30] col): f32 = add(x, y)", 1},
};

std::string text_of(const KernelSpec& k, const Sample& s) {
  return s.problem.family.str(k.computation()) + "\n" + print(s.problem, *s.impl);
}

TEST_CASE("the price of the optimum's code is the optimum") {
  const Machine machine = toy_machine();
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const KernelSpec k = spec(row.text);
    for (const Family& f : families(k.computation(), *find_isa("avx2"))) {
      Searcher search({&k.computation(), &machine, f, row.threads});
      const Cost best = search.cost();
      if (!best.finite()) continue;
      const Space& space = search.space;
      const ImplPtr impl = search.solver.extract(search.root(), space.capacity());
      CAPTURE(f.str(k.computation()));
      CHECK(price(space, without_views(*impl)) == best);
    }
  }
}

TEST_CASE("samples are legal, distinct, within range, and the same every time") {
  const Machine machine = toy_machine();
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const KernelSpec k = spec(row.text);
    const SampleOptions options{.threads = row.threads, .programs = 12};
    const Isa& isa = *find_isa("avx2");
    const std::vector<Sample> drawn = sample(k.computation(), machine, isa, options);
    const Optimum best = found(optimize(k.computation(), machine, isa, {.threads = row.threads}));
    REQUIRE(drawn.size() > 5);
    CHECK(drawn.size() <= 12);
    CHECK(drawn.front().cost == best.cost);
    std::set<std::string> texts;
    for (const Sample& s : drawn) {
      CHECK(verify(s.problem, s.problem.root(), *s.impl) == "");
      CHECK(s.cost == price(Space(s.problem), s.impl));
      CHECK(s.cost >= best.cost);
      CHECK(s.cost.as_cycles() <= options.range * best.cost.as_cycles());
      texts.insert(text_of(k, s));
    }
    CHECK(texts.size() == drawn.size());
    const std::vector<Sample> again = sample(k.computation(), machine, isa, options);
    REQUIRE(again.size() == drawn.size());
    for (size_t i = 0; i < drawn.size(); ++i) CHECK(text_of(k, again[i]) == text_of(k, drawn[i]));
  }
}

}  // namespace
}  // namespace morello
