// The proof for kernels of several stages: on tiny ones every program of the space is built,
// verified, priced, interpreted and compared with what the stages mean one after the other; the
// cheapest one costs what the search says, with and without bounds, however many threads search.
//
// A program is a tree of cuts and tiles with a program for a part of a stage in every call. All
// trees are listed in any case. Those programs
// - are all listed, in every call of every tree, where that makes no more than kMostWithCalls
// altogether;
// - else stand in trees as the cheapest for the part, found by the search for one stage, and all
//   others for it are tried in one tree each. That is enough for the optimum, because a tree's
//   cost is affine in those of its calls, and for the meaning, because calls know of each other
//   only what is stored.

#include <bit>
#include <cmath>
#include <set>

#include "every_fusion.h"
#include "fused_specs.h"
#include "long.h"
#include "spec/algebra.h"
#include "toy.h"

namespace morello {
namespace {

constexpr size_t kMostWithCalls = 40'000, kMostTrees = 4'000;

constexpr std::string_view kCompositions[] = {
    // So small that programs in calls are few.
    "(x: f32[2]): f32 = h + x where h: bf16 = exp(x)",
    "(x: f32[2]): f32 = x + reduce_sum(x, axis=0)",
    "(x: f32[2,1]): f32 = softmax(x, axis=1)",
    "(x: f32[1,2]): f32 = x - reduce_max(x, axis=0)",
    "(x: f32[2,2]): f32 = x - reduce_max(x, axis=0)",
    "(a: f32[2,1], b: f32[1,1], c: f32[1,1]): f32 = matmul(matmul(a, b), c)",
    "(a: f32[1,2], b: f32[2,1], c: f32[1,2]): f32 = matmul(matmul(a, b), c)",
    "(a: f32[2,2], b: f32[2,1]): f32 = reduce_max(matmul(a, b), axis=1)",
    "(x: u8[2,2], w: i8[2,1]): i32 = reduce_max(matmul(x, w), axis=1)",
    "(x: bf16[2]): f32 = pad(x, axis=0, low=1) * 2",
    "(x: f32[3]): f32 = pad(x, axis=0, low=1) * 2",
    // Elementwise: what has a type is stored; what is dear and used twice, too.
    "(x: f32[3,4]): f32 = h * 2 + x where h: bf16 = exp(x)",
    "(x: bf16[5], y: f32[5]): bf16 = b - x where a: f16 = x + y, b: bf16 = max(a, y)",
    "(x: f32[3,3]): f32 = h + transpose(h) where h: f32 = x * x",
    // Sums along axes, first, last and in between; a sum of a vector; several axes.
    "(x: f32[3,5]): f32 = softmax(x, axis=1)",
    "(x: bf16[5,2]): bf16 = softmax(x, axis=0)",
    "(x: f32[2,3,2]): f32 = softmax(x, axis=1)",
    "(x: f32[2,2,3]): f32 = softmax(x, axis=2)",
    "(x: f32[5]): f32 = x + reduce_sum(x, axis=0)",
    "(x: f32[1,5]): f32 = softmax(x, axis=1)",
    "(x: f32[4,1]): f32 = softmax(x, axis=1)",
    "(x: f32[4,3], w: f32[3]): f32 = rms_norm(x, 0.5, axis=1) * w",
    "(x: bf16[3,4]): f32 = layer_norm(x, 0.5, axis=1)",
    "(x: f32[2,3,4]): f32 = reduce_sum(reduce_max(x, axis=2), axis=1)",
    "(x: i16[3,2,2], y: i32[2,2]): i32 = x - reduce_max(reduce_sum(x, axis=0) * y, axis=1)",
    "(x: f32[3,4]): f32 = a + a * b where a = x + broadcast(reduce_sum(x, axis=1), axis=1), "
    "b = reduce_sum(x * a, axis=0)",
    // Products: with what stands around them, in a chain, of one input, of the same thing twice.
    "(a: f32[3,2], b: f32[2,3], c: f32[3]): f32 = "
    "r - broadcast(reduce_sum(r, axis=1), axis=1) where r = relu(matmul(a, b) + c)",
    "(a: f32[4,3], b: f32[3,2], c: f32[2,5]): f32 = matmul(matmul(a, b), c)",
    "(a: f32[2,3], b: f32[3,2], c: f32[2,3], d: f32[3,1]): f32 = "
    "matmul(matmul(matmul(a, b), c), d)",
    "(x: bf16[3,4], w: bf16[4,3] packed, v: bf16[4,3] packed): bf16 = "
    "relu(matmul(x, w)) * matmul(x, v)",
    "(x: bf16[3,4], w: bf16[4,8] packed, v: bf16[8,2] packed): f32 = "
    "matmul(relu(matmul(x, w) - 3), v)",
    "(x: f32[4,3]): f32 = transpose(matmul(x, transpose(x)))",
    "(a: f32[3,2], b: f32[2,3]): f32 = matmul(h, transpose(h)) where h = matmul(a, b)",
    "(x: u8[3,4], w: i8[4,2], s: i32[3]): i32 = reduce_sum(t * t, axis=1) + s where "
    "t = matmul(x, w)",
    "(x: i8[3,4], w: i8[4,3]): i16 = matmul(x, w) - reduce_max(matmul(x, w), axis=0)",
    "(a: f32[3,2] col, b: f32[2,5] order(1/2, 0, 1%2), c: f32[5,2]): f32 col = "
    "matmul(matmul(a, b), c)",
    "(a: f32[3,4], b: f32[4,2], c: f32[2,4]): f32 order(1/2, 0, 1%2) = matmul(matmul(a, b), c)",
    // Attention, with a batch, too.
    "(q: f32[2,2], k: f32[3,2], v: f32[3,2]): f32 = "
    "matmul(softmax(matmul(q, transpose(k)) * 0.5, axis=1), v)",
    "(q: f32[2,2,2], k: f32[2,3,2], v: f32[2,3,1]): f32 = "
    "matmul(relu(matmul(q, transpose(k))), v)",
    "(q: f32[2,1,2,2], k: f32[2,1,3,2], v: f32[2,1,3,2]): f32 = "
    "matmul(relu(matmul(q, transpose(k))), v)",
    // What lies in the result is read along an axis of its own before the last stage writes there.
    "(a: f32[4,3], b: f32[3,4]): f32 = "
    "h + broadcast(reduce_sum(matmul(h, transpose(h)), axis=1), axis=1) where h = matmul(a, b)",
    "(x: f32[3,3], r: f32[3,3]): f32 = softmax(x, axis=1) + r",
    // Several results, which lie in memory however near the others are kept: read by the other, of
    // less shape, the last stage not the last result, none of another.
    "(x: f32[3,4]): (y: f32, s: f32) where s = reduce_sum(x, axis=1), y = x * broadcast(s, axis=1)",
    "(a: f32[4,3], b: f32[3,2], c: f32[2,3]): (h: bf16 col, y: f32) where h = matmul(a, b), "
    "y = matmul(h, c)",
    "(x: bf16[3,2], y: f32[2]): (a: f32, b: bf16 col) where a = x + y, b = x * 2",
    "(x: f32[3,3]): (t: f32 col) where s = reduce_sum(x, axis=1), t = x * s",
    // Sums in steps of 8, with and without a rest; online.
    "(x: f32[2,9]): f32 = x * broadcast(reduce_sum(x, axis=1), axis=1)",
    "(x: f32[17]): f32 = x - reduce_max(x, axis=0)",
    "(x: f32[9]): f32 = softmax(x, axis=0)",
    "(x: f32[16]): f32 = softmax(x, axis=0)",
    "(x: f32[9]): (p: f32, l: f32) where e = exp(x), l = reduce_sum(e, axis=0), p = e / l",
    "(x: f32[1,9]): f32 = softmax(x, axis=1)",
    "(a: f32[2,1], b: f32[1,17], c: f32[17,2]): f32 = matmul(relu(matmul(a, b)), c)",
    "(q: f32[1,1], k: f32[9,1], v: f32[9,1]): f32 = "
    "matmul(softmax(matmul(q, transpose(k)), axis=1), v)",
    // Borders and windows.
    "(x: f32[2,3]): f32 = pad(x, axis=0, low=1, high=1) * 2",
    "(x: bf16[2,2,3]): f32 = pad(x * x, axis=1, high=2) + 1",
    "(x: f32[1,3,3,2], k: f32[2,2,2,2]): f32 = relu(conv2d(pad(x, axis=1, low=1), k))",
    "(x: f32[1,4,3,1], k: f32[2,1,1,2], l: f32[2,2,2,1]): f32 = conv2d(conv2d(x, k), l)",
    "(x: f32[2,3,4,2] order(0, 3, 1, 2), k: f32[2,2,1,2]): f32 order(0, 3, 1, 2) = "
    "conv2d(pad(x, axis=2, low=1, high=1), k, groups=2, stride=2) * 2",
    // Pads that are left out: on both axes, one outside another, of steps and of gaps, with an end
    // that no window reads.
    "(x: f32[1,3,3,1], k: f32[3,2,1,1]): f32 = "
    "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, high=1), k)",
    "(x: f32[1,4,2,2] order(0, 3, 1, 2), k: f32[3,1,1,2]): f32 order(0, 3, 1, 2) = "
    "conv2d(pad(x, axis=1, low=2, high=2), k, groups=2)",
    "(x: f32[1,5,2,1], k: f32[2,2,1,2]): f32 = "
    "conv2d(pad(x, axis=1, low=1, high=2), k, stride_h=2, dilation_h=2)",
    "(x: bf16[1,2,4,1], k: f32[1,3,1,2], b: f32[2]): bf16 = "
    "relu(conv2d(pad(x, axis=2, low=2, high=1), k, stride_w=2) + b)",
};

struct Tally {
  int every = 0, cheapest = 0, too_many = 0;  // spaces
  int serial = 0;                             // in which threads cost more than they save
  size_t programs = 0, calls = 0, tiles = 0, sums = 0, tasks = 0, buffers = 0, searches = 0;
};

// Whether all are as near as rounding of doubles allows; NaN is near to nothing.
bool is_near(const std::vector<double>& got, const std::vector<double>& want) {
  if (got.size() != want.size()) return false;
  for (size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - want[i]) <= 1e-12 * (1 + std::abs(want[i])))) return false;
  return true;
}

void each_node(const FusedPtr& n, const auto& visit) {
  visit(n->node);
  if (const Tile* tile = std::get_if<Tile>(&n->node)) {
    for (const FusedPtr& part : {tile->body, tile->next, tile->rest})
      if (part) each_node(part, visit);
  } else if (const Sequence* sequence = std::get_if<Sequence>(&n->node)) {
    for (const FusedPtr& part : sequence->parts) each_node(part, visit);
  }
}

// The programs that a tree calls.
std::set<int> calls_in(const FusedPtr& root) {
  std::set<int> out;
  each_node(root, [&](const auto& node) {
    if (const StageCall* call = std::get_if<StageCall>(&node)) out.insert(call->program);
  });
  return out;
}

void count(const FusedPtr& root, Tally& tally) {
  bool tiles = false, sums = false, tasks = false, buffers = false;
  each_node(root, [&](const auto& node) {
    if (const Tile* t = std::get_if<Tile>(&node))
      (t->parallel ? tasks : t->next ? sums : tiles) = true;
    if (const Sequence* s = std::get_if<Sequence>(&node)) buffers |= !s->stored.empty();
  });
  ++tally.programs;
  tally.tiles += tiles;
  tally.sums += sums;
  tally.tasks += tasks;
  tally.buffers += buffers;
}

// What all programs have to compute.
struct Meaning {
  std::vector<std::vector<double>> params;
  std::vector<double> want;

  void check(const Fusion& f) const {
    REQUIRE(verify(f) == "");
    REQUIRE(is_near(interpret(f, params), want));
  }
};

// Stage by stage, in the dims that the spec gives them.
Meaning meaning_of(const KernelSpec& k) {
  Graph g{
      .stages = k.stages, .tensors = {}, .params = static_cast<int>(k.params.size()), .dims = {}};
  for (int t = 0; t < k.tensors(); ++t) g.tensors.push_back(k.tensor(t));
  g.results = graph_of(k).results;
  std::vector<std::vector<double>> params = small_numbers(g);
  std::vector<double> want = evaluate(g, params);
  return {std::move(params), std::move(want)};
}

// Every program for a part of a stage, in the first tree that calls one for it.
void check_calls(const EveryFusion& every, const Meaning& meaning, Tally& tally) {
  std::set<int> seen;
  for (const FusedProgram& p : every.programs()) {
    for (const int call : calls_in(p.root)) {
      if (!seen.insert(call).second) continue;
      Fusion f = every.fusion(p.root);
      Cost least = Cost::infinite();
      for (const EveryFusion::Call& c : every.calls(call)) {
        f.programs[static_cast<size_t>(call)] = c.program;
        meaning.check(f);
        least = std::min(least, c.cost);
        ++tally.calls;
      }
      if (least.finite()) CHECK(every.cost(call) == least);
    }
  }
}

void check_searches(const Graph& g, const Machine& machine, const Isa& isa, int threads, Cost least,
                    const Meaning& meaning, Tally& tally) {
  std::string first;
  for (const bool bounds : {true, false})
    for (const int jobs : {1, 2, 4}) {
      SearchOptions options{.threads = threads, .jobs = jobs, .small_gains = true};
      options.pruning.bounds = bounds;
      const Optimum o = found(optimize_graph(g, machine, isa, options));
      CAPTURE(bounds);
      CAPTURE(jobs);
      REQUIRE(o.cost == least);
      if (first.empty()) {
        meaning.check(*o.fusion);
        first = print(*o.fusion);
      }
      REQUIRE(print(*o.fusion) == first);
      ++tally.searches;
    }
}

// The least cost; infinite if there are too many programs.
Cost least_of_all(const Graph& g, const Meaning& meaning, const Machine& machine, const Isa& isa,
                  int threads, Tally& tally) {
  std::optional<EveryFusion> every;
  every.emplace(g, machine, isa, threads, Inner::kEvery, kMostWithCalls);
  const bool all = !every->programs().empty();
  if (!all) every.emplace(g, machine, isa, threads, Inner::kCheapest, kMostTrees);
  if (every->programs().empty()) return Cost::infinite();
  ++(all ? tally.every : tally.cheapest);
  Cost least = Cost::infinite();
  Fusion f = every->fusion(nullptr);
  for (const FusedProgram& p : every->programs()) {
    least = std::min(least, p.cost);
    f.root = p.root;
    meaning.check(f);
    count(p.root, tally);
  }
  if (!all) check_calls(*every, meaning, tally);
  return least;
}

// Programs for one thread are programs for several, too.
Cost check_space(const Graph& g, const Meaning& meaning, const Machine& machine, const Isa& isa,
                 int threads, Tally& tally) {
  Cost least = least_of_all(g, meaning, machine, isa, threads, tally);
  if (threads > 1 && least.finite()) {
    const Cost serial = least_of_all(g, meaning, machine, isa, 1, tally);
    tally.serial += serial < least;
    least = serial.finite() ? std::min(least, serial) : serial;
  }
  tally.too_many += !least.finite();
  if (least.finite()) check_searches(g, machine, isa, threads, least, meaning, tally);
  return least;
}

// All Graphs that it can become, and that the search takes the cheapest of those it tries.
void check_kernel(const KernelSpec& k, const Machine& machine, const Isa& isa, int threads,
                  Tally& tally) {
  const Meaning meaning = meaning_of(k);
  const Graph given = graph_of(k);
  const Cost cost = found(optimize(k, machine, isa, {.threads = threads})).cost;
  bool reached = false, listed = true;
  const Param& result = given.tensors.back();
  const bool large =
      leaves_caches(machine, count_elements(extents(result.shape)) * bytes(result.dtype));
  for (const auto& g :
       {std::optional(given), sums_apart(given), online(given), unpadded(given),
        unpadded(given, PadsOut::kFirst), large ? result_apart(given) : std::nullopt}) {
    if (!g) continue;
    const Cost least = check_space(*g, meaning, machine, isa, threads, tally);
    if (g->stages == given.stages) CHECK(cost <= least);
    reached |= least == cost;
    listed &= least.finite();
  }
  if (listed) CHECK(reached);
}

TEST_CASE("the search finds the least cost of all programs of several stages") {
  const Machine machines[] = {toy_machine(128, 512), toy_machine(64, 192, 1024),
                              streaming(toy_machine(64, 128), 32, 2000), toy_machine(1024, 4096)};
  Tally tally;
  size_t turn = 0;
  for (const std::string_view text : kCompositions) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    REQUIRE(k.stages.size() > 1);
    for (const int threads : {1, 2}) {
      // A third of them, of every machine, instruction set and number of threads.
      if (!kLong && std::popcount(turn) % 3 != 1) {
        ++turn;
        continue;
      }
      CAPTURE(threads);
      const std::string isa = turn / 2 % 2 == 0 ? "scalar" : "avx2";
      const Machine& machine = machines[turn++ % std::size(machines)];
      CAPTURE(isa);
      check_kernel(k, machine, *find_isa(isa), threads, tally);
    }
  }
  MESSAGE("spaces with every program listed: "
          << tally.every << ", with every tree listed: " << tally.cheapest
          << ", too large: " << tally.too_many << ", better by one thread: " << tally.serial
          << "; programs interpreted: " << tally.programs << ", with tiles: " << tally.tiles
          << ", with sums divided: " << tally.sums << ", with tasks: " << tally.tasks
          << ", with buffers: " << tally.buffers
          << "; programs for parts of stages: " << tally.calls << "; searches: " << tally.searches);
  CHECK(tally.too_many <= 22);  // of seven stages and more, with tiles of two dims or two threads
  CHECK(tally.sums >= 15);
  CHECK(tally.every >= 5);
  CHECK(tally.cheapest >= 80);
  CHECK(tally.tasks >= 500);
  CHECK(tally.serial >= 10);
}

// Rows of one line and more, of which one or two are written while the next are read.
TEST_CASE("the same where what steps store past the caches is written behind") {
  Tally tally;
  for (const std::string_view text :
       {"(x: f32[3,16]): f32 = x * broadcast(reduce_sum(x, axis=1), axis=1)",
        "(x: f32[2,36]): f32 = x - broadcast(reduce_max(x, axis=1), axis=1)",
        "(x: f32[2,16], y: f32[2,16]): (a: f32, b: f32) where s = reduce_sum(x, axis=1), "
        "a = x * broadcast(s, axis=1), b = y - broadcast(s, axis=1)"})
    for (const i64 behind : {64, 128}) {
      CAPTURE(text);
      CAPTURE(behind);
      Machine machine = streaming(toy_machine(64, 128), 32, 40'000);
      const Cost none = found(optimize(spec(text), machine, *find_isa("avx2"), {})).cost;
      machine.written_behind_bytes = behind;
      CHECK(found(optimize(spec(text), machine, *find_isa("avx2"), {})).cost < none);
      check_kernel(spec(text), machine, *find_isa("avx2"), 1, tally);
    }
  CHECK(tally.too_many == 0);
  CHECK(tally.tiles > 0);
}

// Rows of a line and less, from memory.
TEST_CASE("the same where stages ask for what the next steps read") {
  Tally tally;
  struct Row {
    std::string_view text;
    i64 l1, l2, prefetch;
  };
  constexpr Row kRows[] = {
      {"(x: f32[32,16]): f32 = exp(x) * broadcast(reduce_sum(x, axis=1), axis=1)", 1024, 2048, 512},
      {"(x: f32[32,16]): f32 = exp(x) * broadcast(reduce_sum(x, axis=1), axis=1)", 128, 2048, 64},
      {"(x: f32[17,4]): f32 = tanh(x * broadcast(reduce_sum(x, axis=1), axis=1))", 192, 256, 64},
      {"(x: bf16[2,3,17]): f32 = tanh(x - broadcast(reduce_max(x, axis=2), axis=2))", 192, 512, 64},
      {"(x: f32[31]): f32 = exp(x - reduce_max(x, axis=0))", 192, 256, 64},
      // Of two who asks pays for one at a time.
      {"(x: f32[33,8], y: f32[33,8]): f32 = tanh(x * y) * broadcast(reduce_sum(x + y, axis=1), "
       "axis=1)",
       1024, 2048, 512},
      // Of columns nobody does, nor of what is far from one step to the next.
      {"(x: f32[16,8]): f32 = exp(x - reduce_max(x, axis=0))", 192, 256, 64},
      {"(x: f32[16,8] col): f32 = exp(x - broadcast(reduce_max(x, axis=1), axis=1))", 192, 256, 64},
  };
  int cheaper = 0;
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    Machine machine = streaming(toy_machine(row.l1, row.l2), 32, 4000);
    machine.prefetch_bytes = row.prefetch;
    machine.levels[kMemory] = {0, 64, 1, 30'000, 20'000, 1000, 0};
    check_kernel(spec(row.text), machine, *find_isa("avx2"), 1, tally);
    const Optimum o = found(optimize(spec(row.text), machine, *find_isa("avx2"), {}));
    cheaper += print(*o.fusion).find("asks=") != std::string::npos;
  }
  CHECK(tally.too_many == 0);
  CHECK(cheaper > 0);
}

}  // namespace
}  // namespace morello
