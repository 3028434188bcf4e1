#include <algorithm>
#include <random>

#include "search/kept_tables.h"
#include "search/store_fixture.h"
#include "search/stored_tables.h"
#include "search/tables_in_memory.h"
#include "toy.h"

namespace morello {
namespace {

constexpr int kMostJobs = 7;

// Kernels whose families have tables in common: sizes, and so sub-problems, differ.
constexpr std::string_view kRelated[] = {
    "(a: f32[13,40], b: f32[40,20]): f32 = matmul(a, b)",
    "(a: f32[12,40], b: f32[40,32]): f32 = matmul(a, b)",
    "(a: f32[24,64], b: f32[64,32]): f32 = matmul(a, b)",
    "(a: f32[24,16], b: f32[16,48]): f32 = matmul(a, b)",
    "(a: bf16[1,64], b: bf16[64,128] packed): f32 = matmul(a, b)",
    "(a: bf16[1,96], b: bf16[96,64] packed): f32 = matmul(a, b)",
    "(a: f32[12,40], b: f32[40,32]): f32 = relu(matmul(a, b))",
    "(a: f32[12,40], b: f32[40,32], c: f32[12,32]): f32 = gelu(matmul(a, b)) * c",
    "(a: f32[12,40], b: f32[40,32], c: f32[32]): bf16 = matmul(a, b) + c",
    "(x: bf16[100,30]): f32 = reduce_sum(x, axis=0)",
    "(x: bf16[64,30]): f32 = reduce_sum(x, axis=0)",
};

constexpr std::string_view kSpecs[] = {
    "(a: f32[13,40], b: f32[40,20]): f32 = matmul(a, b)",
    "(a: bf16[1,64], b: bf16[64,128] packed): f32 = matmul(a, b)",
    "(a: u8[7,20], b: i8[20,12]): i32 = matmul(a, b)",
    "(x: bf16[100,30]): f32 = reduce_sum(x, axis=0)",
};

TEST_CASE("the answer does not depend on the number of search threads") {
  for (std::string_view text : kSpecs) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    const Machine machine = toy_machine(4096, 32768, 262144);
    const Isa& isa = *find_isa("avx2");
    const std::string one = answer(k, machine, isa, {.threads = 2, .jobs = 1});
    for (int jobs : {2, 4, kMostJobs})
      CHECK(answer(k, machine, isa, {.threads = 2, .jobs = jobs}) == one);
  }
}

// With a limit on bounds what is found is the cheapest of the families below it, and none where the
// limit is the least bound.
TEST_CASE("families whose bound is no less than a limit are not searched") {
  const Machine machine = toy_machine(4096, 32768, 262144);
  const Isa& isa = *find_isa("avx2");
  for (std::string_view text : kSpecs) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    const std::vector<Bounded> all = by_bound(k.computation(), machine, isa, 2);
    SearchOptions options{.threads = 2};
    for (const size_t first : {size_t{0}, all.size() / 3, all.size() - 1}) {
      options.bounds_below = all[first].bound;
      const auto below = std::count_if(
          all.begin(), all.end(), [&](const Bounded& b) { return b.bound < options.bounds_below; });
      auto limited = optimize_among(all, options);
      if (below == 0) {
        CHECK(std::get<StopReason>(limited) == StopReason::kNoImplementation);
        continue;
      }
      const Optimum& best = std::get<Optimum>(limited);
      auto few = optimize_among(std::span(all).first(static_cast<size_t>(below)), {.threads = 2});
      CHECK(best.cost == std::get<Optimum>(few).cost);
      for (const FamilyResult& f : best.families)
        CHECK((f.lower_bound < options.bounds_below || f.skipped));
    }
  }
}

// Jobs, tables (none; in memory or in a directory, shared by all searches of this test in an order
// that is drawn) and skipped families do not matter.
TEST_CASE("the answer does not depend on what was searched before, nor on how") {
  const Machine machine = toy_machine(4096, 32768, 262144);
  const Isa& isa = *find_isa("avx2");
  std::vector<KernelSpec> kernels;
  std::vector<std::string> want;
  for (std::string_view text : kRelated) {
    kernels.push_back(spec(text));
    want.push_back(answer(kernels.back(), machine, isa, {.threads = 2}));
  }
  const Scratch d;
  MemoStore store(d.path());
  KeptTables memory(kMostJobs);
  StoredTables stored(store, [](const std::string& note) { FAIL(note); });
  struct Turn {
    size_t kernel;
    int jobs;
    Tables* tables;
    bool bounds;
  };
  std::vector<Turn> turns;
  for (size_t i = 0; i < kernels.size(); ++i)
    for (int jobs : {1, 2, 4, kMostJobs})
      for (Tables* tables : std::initializer_list<Tables*>{nullptr, &memory, &stored})
        turns.push_back({i, jobs, tables, true});
  // Without bounds all families are searched: dear, so only once.
  for (size_t i = 0; i < kernels.size(); ++i) turns.push_back({i, 4, &memory, false});
  std::shuffle(turns.begin(), turns.end(), std::mt19937(11));
  for (const Turn& t : turns) {
    CAPTURE(kRelated[t.kernel]);
    CAPTURE(t.jobs);
    CAPTURE(t.bounds);
    const SearchOptions options{
        .threads = 2, .jobs = t.jobs, .tables = t.tables, .pruning = {.bounds = t.bounds}};
    CHECK(answer(kernels[t.kernel], machine, isa, options) == want[t.kernel]);
  }
  CHECK(memory.warm > 100);
  CHECK(whole_tables(d.path()) > 10);
}

// What is made of sums is above the Specs that keep them in a copy: whoever has searched for the
// one knows nearly all of the other.
TEST_CASE("what sums are summed for does not matter to those that keep them") {
  const Machine machine = toy_machine(4096, 32768, 262144);
  const Isa& isa = *find_isa("avx2");
  TablesInMemory tables;
  const auto specs = [&](std::string_view text, Tables* known) {
    i64 solved = 0;
    answer(spec(text), machine, isa, {.tables = known}, &solved);
    return solved;
  };
  specs("(a: f32[64,640], b: f32[640,320]): f32 = gelu(matmul(a, b))", &tables);
  for (const char* text :
       {"(a: f32[64,640], b: f32[640,320], c: f32[64,320]): f32 = relu(matmul(a, b)) * c",
        "(a: f32[64,640], b: f32[640,320], c: f32[320]): bf16 = matmul(a, b) + c"}) {
    CAPTURE(text);
    const i64 alone = specs(text, nullptr), after = specs(text, &tables);
    CAPTURE(alone);
    CAPTURE(after);
    CHECK(4 * after < alone);
  }
}

TEST_CASE("the program costs what the search says, is legal, and prints and parses") {
  for (std::string_view text : kSpecs) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    const Machine machine = toy_machine(4096, 32768, 262144);
    for (const Isa* isa : isa_table()) {
      const Optimum o = found(optimize(k.computation(), machine, *isa, {.threads = 2}));
      const Space space(o.problem);
      CHECK(cost_of(space, o.problem.root(), *o.impl) == o.cost);
      CHECK(verify(o.problem, o.problem.root(), *o.impl) == "");
      const Result<ImplPtr> again = parse_impl(print(o.problem, *o.impl), o.problem);
      REQUIRE(again.ok());
      CHECK(equal(**again, *o.impl));
    }
  }
}

// Leaves of four rows and more store blocks of three by a copy of twelve, which fills L1 but for
// what copies of the operands need; of a product and of the last stage of several.
TEST_CASE("where L1 has no room for the copies of what lies in it they lie in L2") {
  constexpr std::string_view kSpecs[] = {
      "(a: f16[16,3], b: bf16[3,13]): f16 order(0/3%4, 0%3, 1/3%4, 1/12, 0/12, 1%3) = "
      "matmul(a, b)",
      "(a: f16[16,3], b: bf16[3,13]): f16 order(0/3%4, 0%3, 1/3%4, 1/12, 0/12, 1%3) = "
      "matmul(softmax(a, axis=1), b)"};
  Machine m = *load_machine("x86-64-v3");
  m.levels[kL2].bytes = 8192;
  for (const std::string_view text : kSpecs)
    for (const char* isa : {"scalar", "avx2"})
      for (const int threads : {1, 6})
        for (const i64 bytes : {512, 1024, 1152, 4096}) {
          CAPTURE(text);
          CAPTURE(isa);
          CAPTURE(threads);
          CAPTURE(bytes);
          m.levels[kL1].bytes = bytes;
          const KernelSpec k = spec(text);
          const auto result = optimize(k, m, *find_isa(isa), {.threads = threads});
          const Optimum* o = std::get_if<Optimum>(&result);
          CHECK(o);
          if (!o) continue;
          CHECK((o->fusion ? verify(*o->fusion)
                           : verify(o->problem, o->problem.root(), *o->impl)) == "");
        }
}

// Panels in several streams are searched for where those are faster: on a Zen 4 by one thread,
// since two have all that memory gives, of products with few rows; on a Zen 5 nowhere.
TEST_CASE("families of several streams are left out where they save little") {
  const auto most = [](std::string_view text, const char* machine, int threads) {
    const Computation c = computation_of(spec(text));
    const Machine m = *load_machine(machine);
    std::map<int, int> out;
    for (const Bounded& b : by_bound(c, m, *find_isa("avx2"), threads))
      out[b.problem.threads] = std::max(out[b.problem.threads], b.problem.family.streams);
    return out;
  };
  using Streams = std::map<int, int>;
  constexpr std::string_view kFar =
      "(a: bf16[1,2304], b: bf16[2304,9216] packed): f32 = matmul(a, b)";
  CHECK(most(kFar, "zen4", 2) == Streams{{1, 4}, {2, 1}});
  CHECK(most(kFar, "zen5", 1) == Streams{{1, 1}});
  constexpr std::string_view kMany =
      "(a: bf16[64,2304], b: bf16[2304,9216] packed): f32 = matmul(a, b)";
  CHECK(most(kMany, "zen4", 1) == Streams{{1, 1}});
  constexpr std::string_view kL3 = "(a: bf16[1,640], b: bf16[640,2048] packed): f32 = matmul(a, b)";
  CHECK(most(kL3, "zen4", 1) == Streams{{1, 4}});
  CHECK(most(kL3, "zen3", 1) == Streams{{1, 4}});
}

// Where four streams are known, on a Zen 5 from L3 only. How many rows of `a` use such rows at
// most; 0: there are none.
TEST_CASE("rows are read far apart where parts are long and few rows use them") {
  const auto users = [](i64 m, i64 k, i64 n, const char* isa, const Machine& machine) {
    const Computation c = computation_of(
        spec(fmt::format("(a: bf16[{},{}], b: bf16[{},{}] col): f32 = matmul(a, b)", m, k, k, n)));
    i64 most = 0;
    for (const Bounded& b : by_bound(c, machine, *find_isa(isa), 1))
      if (rows_apart(b.problem.family, c, 1) > 1)
        most = std::max(most, b.problem.family.quantum[0]);
    return most;
  };
  Machine zen5 = *load_machine("zen5");
  CHECK(users(1, 640, 2048, "avx2", zen5) == 1);
  CHECK(users(2, 640, 2048, "avx2", zen5) == 2);
  CHECK(users(4, 640, 2048, "avx2", zen5) <= 2);
  CHECK(users(1, 2304, 9216, "avx2", zen5) == 0);
  CHECK(users(1, 2304, 9216, "avx2", *load_machine("zen4")) == 1);
  i64& part = zen5.levels[kL3].far_part_bytes;
  part = 640 * 2048 * 2 / 4;
  CHECK(users(1, 640, 2048, "avx2", zen5) == 1);
  part *= 2;
  CHECK(users(1, 640, 2048, "avx2", zen5) == 0);
  CHECK(users(1, 640, 2048, "avx2", *load_machine("graniterapids")) == 0);
}

// Costs of graniterapids and zen5; of skylake-server nothing is known of it.
TEST_CASE("large results are stored past the caches, small ones are not") {
  const auto streams = [](std::string_view text, const char* machine, const char* isa = "avx512") {
    const KernelSpec k = spec(text);
    const Machine m = *load_machine(machine);
    const Optimum o = found(optimize(k, m, *find_isa(isa), {}));
    const std::string nest = o.fusion ? print(*o.fusion) : print(o.problem, *o.impl);
    CAPTURE(nest);
    const bool found = nest.find(" streaming\n") != nest.npos;
    // By what makes the result, and by nothing else.
    if (found && o.fusion) CHECK(nest.find(" streaming\n") > nest.rfind("cycles,"));
    return found;
  };
  for (const char* isa : {"avx512", "avx2"}) {
    CHECK(streams("(x: f32[4096,4096]): f32 = relu(x)", "graniterapids", isa));
    CHECK(streams("(x: f32[4096,4096]): f32 = relu(x)", "zen5", isa));
    CHECK(!streams("(x: f32[4096,4096]): f32 = relu(x)", "skylake-server", isa));
    CHECK(!streams("(x: f32[512,1024]): f32 = relu(x)", "graniterapids", isa));
    CHECK(streams("(x: f32[4096,4096], w: f32[4096]): f32 = rms_norm(x, 0.00001, axis=1) * w",
                  "graniterapids", isa));
    CHECK(!streams("(x: f32[64,2304], w: f32[2304]): f32 = rms_norm(x, 0.00001, axis=1) * w",
                   "graniterapids", isa));
  }
  // Where nothing lies in the result before.
  CHECK(streams("(x: f32[4096,4096]): f32 = softmax(x, axis=1)", "graniterapids"));
  CHECK(!streams("(x: f32[1024,4096]): f32 = softmax(x, axis=1)", "graniterapids"));
  CHECK(!streams("(x: f32[4096,4096]): f32 = relu(x)", "graniterapids", "scalar"));
  CHECK(!streams("(a: f32[2048,64], b: f32[64,4096]): f32 = matmul(a, b)", "graniterapids"));
}

// Where an operand lies so that four of its elements come at once, loads keep leaves of one vector
// in width waiting for less; in columns, or where enough of them are loaded, there is no
// difference.
TEST_CASE("elements that come in fours cost less where loads are what takes time") {
  const auto cost = [](const char* operands, const char* value, i64 loads) {
    Machine m = *load_machine("zen5");
    m.core.load = loads;
    return found(optimize(spec(fmt::format("({}): f32 = {}", operands, value)), m,
                          *find_isa("avx2"), {}))
        .cost;
  };
  const char *rows = "a: f32[8,64], b: f32[64,8]", *columns = "a: f32[64,8], b: f32[64,8]";
  const Cost in_rows = cost(rows, "matmul(a, b)", 1800);
  const Cost in_columns = cost(columns, "matmul(transpose(a), b)", 1800);
  CHECK(20 * in_rows < 19 * in_columns);
  CHECK(cost(rows, "matmul(a, b)", 4000) == cost(columns, "matmul(transpose(a), b)", 4000));
}

// They come no sooner than L3 has them.
TEST_CASE("what nothing is computed of for long is not copied") {
  const Machine machine = *load_machine("graniterapids");
  for (const char* text : {"(x: f32[4096,4096], y: f32[4096,4096]): f32 = x + y",
                           "(x: f32[512,512], y: f32[512,512]): f32 = x + y",
                           "(x: f32[2048,2048], y: f32[2048,2048], z: f32[2048,2048]): f32 = "
                           "x * y + z"})
    for (const char* isa : {"avx2", "avx512"}) {
      const KernelSpec k = spec(text);
      const Optimum o = found(optimize(k, machine, *find_isa(isa), {}));
      CHECK(print(o.problem, *o.impl).find("copy") == std::string::npos);
    }
  const KernelSpec k = spec("(a: f32[128,2048], b: f32[2048,2048]): f32 = matmul(a, b)");
  const Optimum o = found(optimize(k, machine, *find_isa("avx2"), {}));
  CHECK(print(o.problem, *o.impl).find("copy b") != std::string::npos);
}

TEST_CASE("a budget stops the search, the same way each time") {
  const KernelSpec k = spec(kSpecs[0]);
  const Machine machine = toy_machine(4096, 32768, 262144);
  for (int jobs : {1, 4}) {
    const auto r =
        optimize(k.computation(), machine, *find_isa("avx2"), {.jobs = jobs, .max_specs = 10});
    REQUIRE(std::holds_alternative<StopReason>(r));
    CHECK(std::get<StopReason>(r) == StopReason::kBudget);
  }
  // Nothing has a better bound than the first family: when its budget is spent, so is all hope.
  SearchProgress progress;
  optimize(k.computation(), machine, *find_isa("avx2"), {.max_specs = 10, .progress = &progress});
  CHECK(progress.families > 1);
  CHECK(progress.done == 1);
}

TEST_CASE("explain names every node, its cost and what lost") {
  const KernelSpec k = spec(kSpecs[0]);
  const Machine machine = toy_machine(4096, 32768, 262144);
  const Optimum o =
      found(optimize(k.computation(), machine, *find_isa("avx2"), {.count_programs = true}));
  const std::string text = explain(o);
  CHECK(text.find("100.0%") != std::string::npos);
  CHECK(text.find("call") != std::string::npos);
  CHECK(text.find("next: ") != std::string::npos);
  CHECK(text.find("families, cheapest bound first") != std::string::npos);
  CHECK(o.log10_programs > 3);
}

// Which dims the tasks of a region come from, in what wins.
struct RegionRow {
  std::string_view kernel;
  int threads;
  std::string_view dims;
};

const RegionRow kRegions[] = {
    // Too few outputs for all threads, and long sums: the sum is divided.
    {"(a: f32[1,262144], b: f32[262144,1]): f32 = matmul(a, b)", 2, "split k"},
    {"(a: f32[1,262144], b: f32[262144,1]): f32 = matmul(a, b)", 4, "split k"},
    {"(a: f32[1,65536], b: f32[65536,8]): f32 = matmul(a, b)", 2, "split k"},
    {"(a: f32[16,65536], b: f32[65536,16]): f32 = matmul(a, b)", 2, "split k"},
    {"(a: bf16[1,65536], b: bf16[65536,1]): bf16 = matmul(a, b)", 2, "split k"},
    {"(x: i8[1048576]): i32 = reduce_sum(x, axis=0)", 2, "split k"},
    // Enough outputs, or not enough of anything.
    {"(a: f32[256,256], b: f32[256,256]): f32 = matmul(a, b)", 2, "n"},
    {"(x: f32[1024,512]): f32 = reduce_sum(x, axis=1)", 2, "i"},
    {"(a: bf16[1,2048], b: bf16[2048,16384] packed): f32 = matmul(a, b)", 2, "n"},
    {"(a: f32[1,64], b: f32[64,1]): f32 = matmul(a, b)", 2, ""},
    {"(x: f32[64], y: f32[64]): f32 = add(x, y)", 2, ""},
    // Squarer tasks read less. (The inner division has the price of borders: m cuts no rows.)
    {"(a: f32[320,320], b: f32[320,320]): f32 = matmul(a, b)", 8, "n m"},
};

TEST_CASE("what threads divide") {
  const Result<Machine> machine = load_machine("zen5");
  REQUIRE(machine.ok());
  for (const RegionRow& row : kRegions) {
    CAPTURE(row.kernel);
    const KernelSpec k = spec(row.kernel);
    const Optimum o = found(optimize(k.computation(), *machine, *find_isa("avx2"),
                                     {.threads = row.threads, .jobs = 2}));
    std::string dims;
    for (const Impl* at = o.impl.get(); at;) {
      if (const Loop* loop = std::get_if<Loop>(&at->node); loop && loop->parallel) {
        const Dim& dim = k.computation().dims[loop->dim];
        dims += (dims.empty() ? "" : " ") + std::string(dim.reduction ? "split " : "") + dim.name;
        at = loop->body.get();
      } else if (const Move* move = std::get_if<Move>(&at->node)) {
        at = move->body.get();
      } else {
        at = nullptr;
      }
    }
    CHECK(dims == row.dims);
  }
}

}  // namespace
}  // namespace morello
