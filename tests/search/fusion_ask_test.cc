// Who asks for what the next steps of a tile read, and how far ahead.

#include "fusion_text.h"
#include "search/fusion_search.h"
#include "toy.h"

namespace morello {
namespace {

// The program for a stage, as its line in the text says, and all of the text.
std::string line_of(const std::string& text, std::string_view stage) {
  const size_t at = text.find(fmt::format(" {}: ", stage));
  return at == text.npos ? "" : text.substr(at + 1, text.find('\n', at) - at - 1);
}

TEST_CASE("a stage asks for what who reads it first finds near in the next step") {
  struct Row {
    std::string_view text;
    std::string_view first, near;  // who reads x first, and where it is then
    std::string_view last, asks;   // who reads it again, and what it asks for; "": nobody does
  };
  constexpr Row kRows[] = {
      // Rows, of which L1 holds the one that is there and the next ones; of 32 KiB L2 does.
      {"(x: f32[16384,1024]): f32 = softmax(x, axis=1)", "t0", "x@L1", "t1",
       "asks=x ahead=16384 x@mem"},
      {"(x: f32[4096,4096]): f32 = softmax(x, axis=1)", "t0", "x@L2", "t1",
       "asks=x ahead=24576 x@mem"},
      {"(x: f32[2048,8192]): f32 = softmax(x, axis=1)", "t0", "x@L2", "t1",
       "asks=x ahead=40960 to=L2 x@mem"},
      // Parts of a row.
      {"(x: f32[32,524288]): f32 = softmax(x, axis=1)", "t0", "x@L1", "t1",
       "asks=x ahead=16384 x@mem"},
      // The last stage, which stores past the caches.
      {"(x: f32[16384,1024]): f32 = x * broadcast(reduce_sum(x, axis=1), axis=1)", "t0", "x@L1",
       "out", "asks=x ahead=16384 x@mem"},
      // L2 has it; columns of rows are many pieces; each of two stages reads another parameter.
      {"(x: f32[128,512]): f32 = softmax(x, axis=1)", "t0", "", "t1", ""},
      {"(x: f32[1024,4096]): f32 = x * reduce_sum(x, axis=0)", "t0", "", "out", ""},
      {"(x: f32[4096,2048], y: f32[4096,2048]): f32 = y * broadcast(reduce_sum(x, axis=1), axis=1)",
       "t0", "", "out", ""},
  };
  const Machine machine = *load_machine("zen5");
  for (const Row& row : kRows) {
    const KernelSpec k = spec(row.text);
    const Optimum o = found(optimize(k, machine, *find_isa("avx512"), {}));
    const std::string text = print(*o.fusion);
    CAPTURE(text);
    CHECK(verify(*o.fusion) == "");
    check_reads_back(*o.fusion, k, machine, *find_isa("avx512"));
    CHECK((text.find("asks=") != text.npos) == !row.asks.empty());
    CHECK(line_of(text, row.first).find(row.near) != std::string::npos);
    CHECK(line_of(text, row.last).find(row.asks) != std::string::npos);
  }
}

// Who reads first relies on it: neither nearer, nor to another cache, nor not at all.
TEST_CASE("every leaf asks as the part says") {
  const KernelSpec k = spec("(x: f32[4096,1024]): f32 = softmax(x, axis=1)");
  const Machine machine = *load_machine("zen5");
  const Isa& isa = *find_isa("avx512");
  const std::string text = print(*found(optimize(k, machine, isa, {})).fusion);
  constexpr std::string_view kAsks = "call ahead x 16384";
  for (const std::string_view other : {"call ahead x 8192", "call ahead x 16384 to L2", "call"}) {
    std::string damaged = text;
    damaged.replace(damaged.find(kAsks), kAsks.size(), other);
    const Result<Fusion> read = parse_fusion(damaged, k, machine, isa);
    REQUIRE(read.ok());
    const std::string why = verify(*read);
    CHECK_MESSAGE(why.find("this part asks for x 16384 bytes ahead, to L1") != why.npos, why);
  }
}

// Where nothing is gained by it nobody does: on machines without prefetch, or where lines come as
// soon without it.
TEST_CASE("nobody asks where that brings nothing sooner") {
  const KernelSpec k = spec("(x: f32[4096,1024]): f32 = softmax(x, axis=1)");
  const auto asks = [&](const Machine& m, std::string_view isa) {
    const Optimum o = found(optimize(k, m, *find_isa(isa), {}));
    return print(*o.fusion).find("asks=") != std::string::npos;
  };
  const Machine given = *load_machine("zen5");
  CHECK(asks(given, "avx512"));
  CHECK_FALSE(asks(given, "scalar"));
  Machine never = given;
  never.prefetch_bytes = 0;
  CHECK_FALSE(asks(never, "avx512"));
  Machine no_sooner = given;
  no_sooner.levels[kMemory].prefetched_millicycles = no_sooner.levels[kMemory].line_millicycles;
  CHECK_FALSE(asks(no_sooner, "avx512"));
}

// Each thread has a run of rows of its own.
TEST_CASE("threads ask for what they read next themselves") {
  const KernelSpec k = spec("(x: f32[16384,1024]): f32 = softmax(x, axis=1)");
  const Optimum o = found(optimize(k, *load_machine("zen5"), *find_isa("avx512"), {.threads = 2}));
  const std::string text = print(*o.fusion);
  CAPTURE(text);
  CHECK(text.find("parallel i by 8192\n  loop i by ") != text.npos);
  CHECK(line_of(text, "t1").find("asks=x ahead=16384 x@mem") != std::string::npos);
}

// Of memory that costs more, as much more as the first stage has less to hide it behind.
TEST_CASE("what is asked for costs what arithmetic does not hide") {
  const KernelSpec k = spec("(x: f32[4096,1024]): f32 = softmax(x, axis=1)");
  Machine machine = *load_machine("zen5");
  const Isa& isa = *find_isa("avx512");
  const Cost with = found(optimize(k, machine, isa, {})).cost;
  machine.prefetch_bytes = 0;
  const Cost without = found(optimize(k, machine, isa, {})).cost;
  // 262144 lines, each of which who reads it first would wait 4.85 cycles for, and not one.
  CHECK(with + 2 * 262144 * Cost::cycles(1) < without);
}

// As much time for memory as for arithmetic, which are one after the other where nobody asks.
TEST_CASE("bounds know that who asks pays") {
  Machine machine = streaming(toy_machine(2048, 4096), 32, 4000);
  machine.prefetch_bytes = 1024;
  machine.levels[kMemory] = {0, 64, 1, 30'000, 20'000, 1000, 0};
  for (const std::string_view text :
       {"(x: f32[512,16]): f32 = exp(x) * broadcast(reduce_sum(x, axis=1), axis=1)",
        "(x: f32[512,16], y: f32[512,16]): f32 = exp(x) * exp(y) * broadcast(reduce_sum(x + y, "
        "axis=1), axis=1)"}) {
    const KernelSpec k = spec(text);
    SearchOptions options;
    const Optimum bounded = found(optimize(k, machine, *find_isa("avx2"), options));
    options.pruning.bounds = false;
    const Optimum all = found(optimize(k, machine, *find_isa("avx2"), options));
    CHECK(print(*bounded.fusion) == print(*all.fusion));
    CHECK(print(*all.fusion).find("asks=") != std::string::npos);
    FusionSearch search(*all.fusion->graph, machine, *find_isa("avx2"), {});
    CHECK(search.both_bounds(search.root()).serial <= all.cost);
  }
}

// Of rows that begin at other places of 16 bytes each, one in four could be stored past the caches.
TEST_CASE("rows are stored past the caches where all of them can be") {
  for (const auto& [width, can] :
       {std::pair(2048, true), {2049, false}, {2050, false}, {2052, true}}) {
    const KernelSpec k = spec(fmt::format(
        "(x: f32[3001,{}]): f32 = x * broadcast(reduce_sum(x, axis=1), axis=1)", width));
    for (const std::string_view isa : {"avx2", "avx512"}) {
      const Optimum o = found(optimize(k, *load_machine("zen5"), *find_isa(isa), {}));
      const std::string text = print(*o.fusion);
      CAPTURE(text);
      CHECK((text.find("streaming") != std::string::npos) == can);
    }
  }
}

}  // namespace
}  // namespace morello
