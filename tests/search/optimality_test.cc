// The proof: on tiny Specs every program of the space is built, priced node by node, interpreted
// and compared with the meaning of the Computation; the cheapest one costs what the search says.

#include <random>

#include "toy.h"

namespace morello {
namespace {

constexpr size_t kMost = 5'000;

// {0}, {1}, {2} stand for sizes.
constexpr const char* kForms[] = {
    "(a: f32[{0},{2}], b: f32[{2},{1}]): f32 = matmul(a, b)",
    "(a: f32[{0},{2}], b: f32[{2},{1}] packed): f32 = matmul(a, b)",
    "(a: f32[{0},{2}] col, b: f32[{2},{1}] col): f32 col = matmul(a, b)",
    "(a: bf16[{0},{2}], b: bf16[{2},{1}]): f32 = matmul(a, b)",
    "(a: bf16[{0},{2}], b: f32[{2},{1}]): bf16 = matmul(a, b)",
    "(a: u8[{0},{2}], b: i8[{2},{1}]): i32 = matmul(a, b)",
    "(a: f32[2,{0},{2}], b: f32[2,{2},{1}]): f32 = matmul(a, b)",
    "(x: f32[{0},{1}], y: f32[{0},{1}] col): f32 = add(x, y)",
    "(x: f32[{0},{1},{2}]): f32 = mul(x, x)",
    "(x: f32[{0},{1}] col): bf16 = convert(x)",
    "(x: f32[{0},{2}]): f32 = reduce_sum(x, axis=1)",
    "(x: i8[{0},{1},{2}]): i32 = reduce_sum(x, axis=1)",
    "(a: f32[1,1{2}{2}], b: f32[1{2}{2},{0}]): f32 = matmul(a, b)",
    "(a: bf16[1,1{2}{2}], b: bf16[1{2}{2},1]): bf16 = matmul(a, b)",
};
constexpr int kThreads[] = {1, 4, 1, 2, 6};
constexpr i64 kSizes[][3] = {{1, 1, 1}, {2, 3, 2}, {3, 1, 9}, {1, 9, 17}, {2, 17, 3}, {3, 8, 18}};

std::vector<std::vector<double>> small_integers(const Computation& c) {
  std::mt19937 random(7);
  std::vector<std::vector<double>> inputs;
  for (int o = 0; o < c.inputs(); ++o) {
    i64 n = 1;
    for (i64 e : c.operands[o].shape) n *= e;
    std::vector<double>& v = inputs.emplace_back();
    const bool with_sign = c.operands[o].dtype != Dtype::u8;
    for (i64 i = 0; i < n; ++i)
      v.push_back(static_cast<double>(random() % 9) - (with_sign ? 4 : 0));
  }
  return inputs;
}

struct Tally {
  int specs = 0, spaces = 0;
  size_t programs = 0, twice = 0, shares = 0;  // with loops in loops, reductions in parallel
};

// Whether the space could be enumerated.
bool check_space(const KernelSpec& k, const Machine& machine, const Family& f, int threads,
                 Tally& tally) {
  Searcher search({&k.computation, &machine, f, threads});
  const Space& space = search.space;
  const Spec root = search.root();
  const Limits capacity = space.capacity();
  const Cost searched = search.cost();
  const std::vector<Program> programs = enumerate(space, root, capacity, kMost);
  if (programs.empty()) return false;
  const auto inputs = small_integers(k.computation);
  const std::vector<double> want = evaluate(k.computation, inputs);
  Cost least = Cost::infinite();
  for (const Program& p : programs) {
    least = std::min(least, p.cost);
    const std::string text = print(space.problem(), *p.impl);
    tally.twice += text.find(" leaving ") != std::string::npos;
    tally.shares += text.find("parallel split ") != std::string::npos;
    REQUIRE(verify(space.problem(), root, *p.impl) == "");
    REQUIRE(interpret(space.problem(), *p.impl, inputs) == want);
  }
  CHECK(searched == least);
  const ImplPtr best = search.solver.extract(root, capacity);
  CHECK(cost_of(space, root, *best) == searched);
  ++tally.spaces;
  tally.programs += programs.size();
  return true;
}

// Families at both ends and in the middle of the list, on a machine with room and on one whose
// limits bind, with one thread and with some.
void check_spec(const KernelSpec& k, int turn, Tally& tally) {
  bool any = false;
  for (const char* isa : {"scalar", "avx2"}) {
    const std::vector<Family> all = families(k.computation, *find_isa(isa));
    REQUIRE(!all.empty());
    for (const Family* f : {&all.front(), &all[all.size() / 2], &all.back()}) {
      CAPTURE(f->str(k.computation));
      const Machine machine = ++turn % 2 == 0 ? toy_machine(256, 512) : toy_machine(2048, 0);
      any |= check_space(k, machine, *f, kThreads[turn % std::size(kThreads)], tally);
    }
  }
  tally.specs += any;
}

TEST_CASE("the search finds the least cost of all programs, and all programs are right") {
  Tally tally;
  int turn = 0;
  for (const char* form : kForms)
    for (const auto& [m, n, kk] : kSizes) {
      const std::string text = fmt::format(fmt::runtime(form), m, n, kk);
      CAPTURE(text);
      check_spec(spec(text), turn++, tally);
    }
  MESSAGE("specs with every program seen: "
          << tally.specs << ", spaces: " << tally.spaces << ", programs interpreted: "
          << tally.programs << ", with parallel loops in parallel loops: " << tally.twice
          << ", with shares of a reduction: " << tally.shares);
  CHECK(tally.twice >= 50);
  CHECK(tally.shares >= 50);
  CHECK(tally.specs >= 50);
}

}  // namespace
}  // namespace morello
