// The laws in generator/search/README.md that a candidate shows by itself, on every Spec of some
// small spaces. (That meaning is preserved: tests/search/optimality_test.cc.)
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <tuple>

#include "docs/markdown.h"
#include "search/rewrite.h"
#include "spec/algebra.h"
#include "spec/kernel_spec.h"

namespace morello {
namespace {

// The order in which children are smaller.
using Measure = std::tuple<int, i64, int>;

Measure measure(const Space& space, const Spec& s) {
  i64 extents = 0;
  for (int d = 0; d < space.dims(); ++d) extents += s.extent[d];
  int rest = s.accumulate ? 0 : 1;
  for (int o = 0; o < space.operands(); ++o) rest += s.place[o].level + (s.place[o].packed ? 0 : 1);
  return {s.threads, extents, rest};
}

std::string text_of(const Space& space, const Candidate& c) {
  std::string out = fmt::format("{} {} {} {} base {} takes {}", c.decision.rewrite,
                                c.decision.subject, c.decision.detail, c.decision.value,
                                c.cost.base.value(), fmt::join(c.takes.bytes, " "));
  for (int i = 0; i < c.cost.children; ++i)
    out += fmt::format(" | {} x {}", c.cost.weight[i], str(c.child[i], space.computation()));
  return out;
}

struct Tally {
  size_t candidates = 0;
  std::set<int> rewrites;
};

// Every Spec below this one.
void check_below(const Space& space, const Spec& spec, std::set<std::string>& seen, Tally& tally) {
  if (!seen.insert(str(spec, space.computation())).second) return;
  std::vector<Candidate> all;
  auto keep = [&](const Candidate& c) { all.push_back(c); };
  expand(space, spec, keep);
  size_t at = 0;
  auto again = [&](const Candidate& c) {
    REQUIRE(at < all.size());
    CHECK(text_of(space, c) == text_of(space, all[at++]));
  };
  expand(space, spec, again);
  CHECK(at == all.size());
  for (const Candidate& c : all) {
    ++tally.candidates;
    tally.rewrites.insert(c.decision.rewrite);
    CAPTURE(text_of(space, c));
    for (int i = 0; i < c.cost.children; ++i) {
      CHECK(measure(space, c.child[i]) < measure(space, spec));
      CHECK(c.cost.weight[i] >= 0);
      check_below(space, c.child[i], seen, tally);
    }
  }
}

constexpr std::string_view kSpecs[] = {
    "(a: f32[7,20], b: f32[20,19]): f32 = matmul(a, b)",
    "(a: bf16[3,16], b: bf16[16,24] packed): bf16 = matmul(a, b)",
    "(a: u8[2,5,18], b: i8[2,18,9]): i32 = matmul(a, b)",
    "(x: f32[40,30] col): f32 = reduce_sum(x, axis=0)",
    "(x: f32[40,30], y: f32[40,30] col): f32 = add(x, y)",
    "(x: f32[1,7,6,2], k: f32[3,3,2,9]): f32 = "
    "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1), k)",
    "(a: f32[2,256], b: f32[256,40]): f32 = matmul(a, b)",
    "(a: f32[12,80], b: f32[80,120]): f32 = matmul(a, b)",
};

// Of the only stage; of a padded one without its pads.
Computation computation_of(const KernelSpec& k) {
  const std::optional<Graph> g = unpadded(graph_of(k));
  return g ? g->stages[0].computation : k.computation();
}

TEST_CASE("children are smaller, weights not negative, candidates the same each time") {
  Result<Machine> machine = load_machine("zen5");
  REQUIRE(machine.ok());
  // Of which the last of the Specs lie in memory, and copies and views of them ask.
  machine->levels[kL2].bytes = machine->levels[kL3].bytes = 32768;
  machine->levels[kMemory].asked_copy_millicycles = machine->levels[kMemory].line_millicycles / 2;
  machine->levels[kMemory].asked_view_millicycles = machine->levels[kMemory].line_millicycles / 2;
  machine->levels[kMemory].asked_panel_millicycles = machine->levels[kMemory].line_millicycles / 3;
  Tally tally;
  for (const std::string_view text : kSpecs) {
    CAPTURE(text);
    const Result<KernelSpec> k = parse_spec(text);
    REQUIRE(k.ok());
    const Computation c = computation_of(*k);
    const std::vector<Family> all = families(c, *find_isa("avx2"));
    REQUIRE(!all.empty());
    for (const size_t f : {size_t{0}, all.size() / 2})
      for (const int threads : {1, 2, 4}) {
        const Space space({&c, &*machine, all[f], threads});
        std::set<std::string> seen;
        check_below(space, space.problem().root(), seen, tally);
      }
  }
  CHECK(tally.candidates > 1000);
  CHECK(tally.rewrites.size() == rewrite_table().size());
}

TEST_CASE("generator/search/README.md measures every rewrite") {
  std::string text;
  for (const std::string& line : read_lines("generator/search/README.md"))
    if (line.starts_with("| ")) text += line + "\n";
  for (const Rewrite* r : rewrite_table()) {
    CAPTURE(r->name);
    CHECK(text.find(r->name) != std::string::npos);
  }
}

}  // namespace
}  // namespace morello
