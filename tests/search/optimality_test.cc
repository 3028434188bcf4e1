// The proof: on tiny Specs every program of the space is built, priced node by node, interpreted
// and compared with the meaning of the Computation; the cheapest one costs what the search says,
// with any pruning, any memo, any history of it and any number of search threads.

#include <map>
#include <optional>
#include <random>

#include "every_way.h"
#include "tiny_specs.h"
#include "toy.h"

namespace morello {
namespace {

constexpr size_t kMost = 2'000;

// What a kernel may use: each of 1, 2 and 4 in every third space, and 6 for shares of shares.
constexpr int kThreads[] = {1, 4, 2, 1, 6, 4, 1, 2, 4, 2};

// One space in so many of those that can be listed is searched in every way there is (288: all
// prunings on and off, three kinds of memo, four histories of it, 1, 2 and 4 search threads); the
// others in some ways, in which any two settings of any two of these things meet.
constexpr int kEveryWayTurn = 24;

std::vector<std::vector<double>> small_integers(const Computation& c) {
  std::mt19937 random(7);
  std::vector<std::vector<double>> inputs;
  for (int t = 0; t < c.tensors(); ++t) {
    if (t == c.inputs()) continue;
    i64 n = 1;
    for (i64 e : c.tensor(t).shape) n *= e;
    std::vector<double>& v = inputs.emplace_back();
    const bool with_sign = c.tensor(t).dtype != Dtype::u8;
    for (i64 i = 0; i < n; ++i)
      v.push_back(static_cast<double>(random() % 9) - (with_sign ? 4 : 0));
  }
  return inputs;
}

struct Tally {
  int specs = 0, spaces = 0, every_way = 0, searches = 0;
  std::map<int, int> by_threads;
  // With loops in loops, reductions in parallel, stores past the caches, copies that ask.
  size_t programs = 0, twice = 0, shares = 0, streaming = 0, asking = 0;
};

// The least cost of all programs, each of which is right; nothing if they are too many.
std::optional<Cost> least_of_all(const KernelSpec& k, const Space& space, Tally& tally) {
  const Spec root = space.problem().root();
  const std::vector<Program> programs = enumerate(space, root, space.capacity(), kMost);
  if (programs.empty()) return std::nullopt;
  const auto inputs = small_integers(k.computation());
  const std::vector<double> want = evaluate(k.computation(), inputs);
  Cost least = Cost::infinite();
  for (const Program& p : programs) {
    least = std::min(least, p.cost);
    const std::string text = print(space.problem(), *p.impl);
    tally.twice += text.find(" leaving ") != std::string::npos;
    tally.shares += text.find("parallel split ") != std::string::npos;
    tally.streaming += text.find(" streaming\n") != std::string::npos;
    tally.asking += text.find("L1 ahead ") != std::string::npos;
    REQUIRE(verify(space.problem(), root, *p.impl) == "");
    REQUIRE(interpret(space.problem(), *p.impl, inputs) == want);
  }
  tally.programs += programs.size();
  return least;
}

// All ways give the same answer.
void check_ways(const Problem& problem, const Answer& want, std::span<const Way> ways,
                Searches& searches, Tally& tally) {
  for (const Way& way : ways) {
    CAPTURE(way.str());
    REQUIRE(searches.search(problem, way) == want);
    ++tally.searches;
  }
}

// Whether the space could be enumerated.
bool check_space(const KernelSpec& k, const Machine& machine, const Family& f, int threads,
                 Searches& searches, Tally& tally) {
  Searcher search({&k.computation(), &machine, f, threads});
  const Space& space = search.space;
  const std::optional<Cost> least = least_of_all(k, space, tally);
  if (!least) return false;
  REQUIRE(search.cost() == *least);
  const ImplPtr best = search.solver.extract(search.root(), space.capacity());
  CHECK(cost_of(space, search.root(), *best) == *least);
  const bool all = tally.spaces % kEveryWayTurn == 0;
  check_ways(space.problem(), {*least, print(space.problem(), *best)},
             all ? every_way() : pairs_of_ways(), searches, tally);
  tally.every_way += all;
  ++tally.spaces;
  ++tally.by_threads[threads];
  return true;
}

// Families at both ends and in the middle of the list, on a machine with room and on one whose
// limits bind, with one thread and with some.
void check_spec(const KernelSpec& k, int turn, Searches& searches, Tally& tally) {
  bool any = false;
  for (const char* isa : {"scalar", "avx2"}) {
    const std::vector<Family> all = families(k.computation(), *find_isa(isa));
    REQUIRE(!all.empty());
    for (const Family* f : {&all.front(), &all[all.size() / 2], &all.back()}) {
      CAPTURE(f->str(k.computation()));
      Machine machine = ++turn % 2 == 0 ? toy_machine(256, 512) : toy_machine(2048, 0);
      if (turn % 3 == 0) machine = streaming(machine, 64, turn % 4 < 2 ? 3000 : 15'000);
      if (turn % 3 == 1) machine = asking(machine);
      const int threads = kThreads[turn % std::size(kThreads)];
      any |= check_space(k, machine, *f, threads, searches, tally);
    }
  }
  tally.specs += any;
}

TEST_CASE("the search finds the least cost of all programs, however it searches") {
  Tally tally;
  Searches searches;
  int turn = 0;
  for (const std::string& text : tiny_specs()) {
    CAPTURE(text);
    check_spec(spec(text), turn++, searches, tally);
  }
  MESSAGE("specs with every program seen: "
          << tally.specs << ", spaces: " << tally.spaces << ", programs interpreted: "
          << tally.programs << ", with parallel loops in parallel loops: " << tally.twice
          << ", with stores past the caches: " << tally.streaming
          << ", with copies that ask: " << tally.asking
          << ", with shares of a reduction: " << tally.shares << "; searches: " << tally.searches
          << ", spaces searched in every way: " << tally.every_way << ", in so many ways each: "
          << every_way().size() << ", the others: " << pairs_of_ways().size());
  CHECK(tally.specs >= 200);
  CHECK(tally.every_way >= 30);
  CHECK(tally.twice >= 50);
  CHECK(tally.shares >= 50);
  CHECK(tally.streaming >= 50);
  CHECK(tally.asking >= 50);
  for (int threads : {1, 2, 4}) CHECK(tally.by_threads[threads] >= 50);
}

}  // namespace
}  // namespace morello
