// Kernels whose sizes are known at run time only: pieces that are there, that are right for every
// size, and chosen for what the spec says.
#include "impl/patchwork.h"

#include <fmt/ranges.h>

#include <set>

#include "search/kept_tables.h"
#include "search/toy.h"

namespace morello {
namespace {

constexpr std::string_view kSpecs[] = {
    "(a: bf16[1,24], b: bf16[24,n%4 near 40] col strided): f32 = matmul(a, b)",
    "(a: f32[m to 5,12], b: f32[12,10] packed): f32 = matmul(a, b)",
    "(a: f32[m near 20,12], b: f32[12,10] packed): bf16 col = matmul(a, b)",
    "(a: f32[m to 8,100], b: f32[100,1]): f32 = matmul(a, b)",
    "(a: f32[1,400], b: f32[400,n%8 near 64] col): f32 = matmul(a, b)",
    "(a: f32[m near 9,k near 12], b: f32[k,n%3 near 12]): f32 strided = matmul(a, b)",
    "(a: u8[3,k near 30], b: i8[k,4]): i32 = matmul(a, b)",
    "(x: f16[n near 100]): f32 = convert(x)",
    "(x: f32[n%8 near 16,m near 5] order(0/8, 1, 0%8)): f32 col = x + x",
    "(x: bf16[k near 33,6] strided): f32 = reduce_sum(x, axis=0)",
    "(x: f32[1,k]): f32 = reduce_max(x, axis=1)",
    "(a: f32[m near 16,k near 32], b: f32[k,n near 48]): f32 = matmul(a, b)",
    "(a: f32[m near 9,n near 40], b: f32[n]): f32 = max(a * 2, broadcast(b, axis=0))",
};

std::vector<std::vector<double>> inputs_of(const Computation& c) {
  std::vector<std::vector<double>> out;
  int value = 0;
  for (int t = 0; t < c.tensors(); ++t) {
    if (t == c.inputs()) continue;
    i64 n = 1;
    for (i64 e : c.tensor(t).shape) n *= e;
    out.emplace_back();
    for (i64 i = 0; i < n; ++i)
      out.back().push_back((value = (value * 5 + 3) % 11) - (is_float(c.compute) ? 9 : 0));
  }
  return out;
}

// The computation of a kernel for so many granules of its first size, and fewer of the others.
Computation sized(const Computation& c, i64 granules) {
  std::vector<i64> extents;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    const RunTimeSize* s = run_time_size(c, d);
    extents.push_back(s ? s->granule * (s == &c.sizes[0] ? granules : granules / 2 + 1)
                        : c.dims[d].extent);
  }
  return with_extents(c, extents);
}

// On a machine with so little near memory that rows come from far away, and four streams of them
// faster than one.
Machine far_rows() {
  Machine machine = toy_machine(256, 512, 1024);
  machine.two_streams_percent = 60;
  machine.four_streams_percent = 30;
  machine.levels[kMemory].stream_millicycles = 8000;
  machine.levels[kMemory].row_millicycles = 9000;
  return machine;
}

TEST_CASE("a patchwork is legal, and right for every size, whoever divides it") {
  const Machine machines[] = {toy_machine(1024, 4096, 65536), far_rows()};
  int apart = 0;
  for (std::string_view text : kSpecs)
    for (const Isa* isa : {find_isa("avx2"), find_isa("scalar")})
      for (int run = 0; run < 4; ++run) {
        CAPTURE(text);
        CAPTURE(isa->name);
        CAPTURE(run);
        const KernelSpec k = spec(text);
        const Optimum o =
            found(optimize(k.computation(), machines[run / 2], *isa, {.threads = 1 + run % 2}));
        REQUIRE(o.patchwork != nullptr);
        REQUIRE(verify(*o.patchwork, k.computation()) == "");
        apart += print(*o.patchwork, k.computation()).find(" apart=") != std::string::npos;
        for (i64 granules : {1, 2, 3, 5, 8, 17, 41}) {
          const Computation c = sized(k.computation(), granules);
          const auto inputs = inputs_of(c);
          CHECK(interpret(*o.patchwork, c, inputs) == evaluate(c, inputs));
        }
      }
  CHECK(apart > 0);
}

std::string pieces(std::string_view text, int threads = 1,
                   const Machine& machine = toy_machine(4096, 32768, 262144)) {
  const KernelSpec k = spec(text);
  const Optimum o =
      found(optimize(k.computation(), machine, *find_isa("avx2"), {.threads = threads}));
  const std::string all = print(*o.patchwork, k.computation());
  std::string out;
  for (size_t at = 0; all.compare(at, 10, "pieces of ") == 0;) {
    const size_t end = all.find('\n', at);
    out += (out.empty() ? "" : "; ") + all.substr(at + 10, end - at - 10);
    at = end + 1;
  }
  return out;
}

TEST_CASE("pieces") {
  // A program for every size up to a bound of a few granules.
  CHECK(pieces("(a: f32[m to 4,64], b: f32[64,64] packed): f32 = matmul(a, b)") == "m: 4 3 2 1");
  CHECK(pieces("(a: f32[m%2 to 6,64], b: f32[64,64]): f32 = matmul(a, b)") == "m: 6 4 2");
  // A reduction comes last, whichever dim it is; the granule is always there.
  CHECK(pieces("(x: f32[k%3 near 30,n near 16]): f32 = reduce_sum(x, axis=0)").find("; k: ") !=
        std::string::npos);
  // The nominal size bounds pieces: nothing pays for more.
  CHECK(pieces("(a: f32[n near 8]): f32 = a + a") == "i: 8 any*1");
  CHECK(pieces("(a: f32[n%5 near 5]): f32 = a + a") == "i: 5");
  // Sums are elastic, with lanes along them in multiples of a load; but not along blocks, which are
  // copied. So are lanes of rows; not those of columns, which vectors gather.
  CHECK(pieces("(a: f32[16,k near 64], b: f32[k,16]): f32 = matmul(a, b)") == "k: 64 any*1");
  CHECK(pieces("(x: f32[1,k near 64]): f32 = reduce_sum(x, axis=1)") == "k: 64 any*8 any*1");
  CHECK(pieces("(x: f32[k%16 near 64,8] order(0/16, 1, 0%16)): f32 = reduce_sum(x, axis=0)") ==
        "k: 64 32 16");
  CHECK(pieces("(a: f32[4,n near 64]): f32 = a + a").ends_with(" any*1"));
  CHECK(pieces("(a: f32[4,n near 64] col strided): f32 = a + a").find("any") == std::string::npos);
  // Threads get neighbouring pieces where that is cheaper than dividing each.
  const std::string divided =
      pieces("(a: bf16[1,64], b: bf16[64,n%16 near 262144] col): f32 = matmul(a, b)", 2,
             *load_machine("x86-64-v3"));
  CHECK(divided.find("divided among 2 threads from ") != std::string::npos);
}

// Four rows apart are read faster than one behind the other, in pieces that are large enough.
TEST_CASE("the largest piece does not have to divide the nominal size") {
  const auto largest = [](i64 nominal) {
    return pieces(fmt::format("(a: bf16[1,512], b: bf16[512,n%16 near {}] col): f32 = "
                              "matmul(a, b)",
                              nominal),
                  1, *load_machine("zen5"));
  };
  for (const i64 nominal : {1024, 1040}) {
    CAPTURE(nominal);
    CHECK(largest(nominal) == "n: 1024 256 128 64 32 16");
  }
}

// Rows as far apart as the nominal size says lie in few sets of a cache. (f32 512^3 with all sizes
// at run time took 1.2 to 1.4 times as long, and m up to 16 with k and n of 1024 1.3 to 1.6 times,
// where they were taken to lie in all, and elastic programs copied nothing.)
TEST_CASE("rows that lie in few sets are copied, as many as there are") {
  const auto copies = [](std::string_view text) {
    const KernelSpec k = spec(text);
    const Optimum o = found(
        optimize(k.computation(), *load_machine("x86-64-v3"), *find_isa("avx2"), {.threads = 1}));
    const std::string printed = print(*o.patchwork, k.computation());
    const size_t first = printed.find("k<=64: "), end = printed.find("adding", first);
    REQUIRE(first != std::string::npos);
    return printed.substr(first, end - first).find("copy b") != std::string::npos;
  };
  CHECK(copies("(a: f32[64,k near 64], b: f32[k,n near 1024]): f32 = matmul(a, b)"));
  CHECK(!copies("(a: f32[64,k near 64], b: f32[k,n near 1040]): f32 = matmul(a, b)"));
}

struct Programs {
  std::string_view text;
  std::vector<size_t> most, fewest;  // sizes of each dim
};

// Dims with a bound have a program for every size where that many may be.
const Programs kPrograms[] = {
    {"(a: f32[m to 9,24], b: f32[24,8]): f32 = matmul(a, b)", {9}, {4}},
    {"(a: f32[m to 4,24], b: f32[24,8]): f32 = matmul(a, b)", {4}, {4}},
    {"(x: f32[m to 8,n%2 to 16]): f32 = x + x", {8, 8}, {2, 2}},
    {"(a: f32[m near 64,24], b: f32[24,n near 64]): f32 = matmul(a, b)", {5, 3}, {2, 2}},
};

TEST_CASE("a variant has about as many programs as it may") {
  for (const Programs& row : kPrograms) {
    CAPTURE(row.text);
    const KernelSpec k = spec(row.text);
    for (const int programs : {kMostPrograms, kFewestPrograms}) {
      const Optimum o = found(
          optimize(k.computation(), toy_machine(), *find_isa("avx2"), {.programs = programs}));
      std::vector<size_t> sizes;
      for (const PiecedDim& d : o.patchwork->dims) sizes.push_back(d.sizes.size());
      CAPTURE(fmt::format("{}", sizes));
      CHECK(sizes == (programs == kMostPrograms ? row.most : row.fewest));
    }
  }
}

// Sums of bytes are not elastic: sizes come from menus, which were 1, 7 and 49 for 9 programs.
TEST_CASE("whatever the number of programs, sizes are powers of two") {
  const KernelSpec k = spec("(a: u8[m near 64,k near 64], b: i8[k,4]): i32 = matmul(a, b)");
  for (const int programs : {4, 7, 9, 12}) {
    CAPTURE(programs);
    const Optimum o =
        found(optimize(k.computation(), toy_machine(), *find_isa("avx2"), {.programs = programs}));
    for (const PiecedDim& d : o.patchwork->dims) {
      CHECK(d.sizes.size() > 1);
      for (const i64 size : d.sizes) CHECK((size & (size - 1)) == 0);
    }
  }
}

TEST_CASE("the same patchwork whatever the jobs and what is known already") {
  const Machine machine = toy_machine(1024, 4096, 65536);
  KeptTables memory(4);
  for (std::string_view text : kSpecs) {
    const KernelSpec k = spec(text);
    const auto answer = [&](const SearchOptions& options) {
      const Optimum o = found(optimize(k.computation(), machine, *find_isa("avx2"), options));
      return fmt::format("{} {}", o.cost.value(), print(*o.patchwork, k.computation()));
    };
    const std::string want = answer({.threads = 2});
    CHECK(answer({.threads = 2, .jobs = 4}) == want);
    CHECK(answer({.threads = 2, .jobs = 4, .tables = &memory}) == want);
    CHECK(answer({.threads = 2, .jobs = 2, .tables = &memory}) == want);
  }
  CHECK(memory.warm > 0);
}

// One row waits for memory, sixteen do not: two streams are not searched for them, but what one row
// likes is there for all.
TEST_CASE("an order of panels that only some pieces would search for is tried for all") {
  const auto streams = [](int percent) {
    Machine machine = toy_machine(1024, 4096);
    machine.two_streams_percent = percent;
    const KernelSpec k = spec("(a: f32[m to 16,512], b: f32[512,256] packed): f32 = matmul(a, b)");
    const Optimum o = found(optimize(k.computation(), machine, *find_isa("avx2"), {}));
    return o.problem.family.streams;
  };
  CHECK(streams(100) == 1);
  CHECK(streams(98) == 2);
}

// What all sizes cost together that find an operand packed as `like` does.
Cost sum_of_sizes(const Computation& c, const Machine& machine, const Family& like) {
  const Isa& isa = *find_isa("avx2");
  SearchOptions options;
  options.part = Part::at(home_level(c, machine, 1));
  Cost sum;
  for (i64 m = 1; m <= c.sizes[0].bound; ++m) {
    const Computation part = sized(c, m);
    options.families = families(part, isa);
    for (const Family& f : families(c, isa)) options.families.push_back(f);
    std::erase_if(options.families, [&](const Family& f) { return !packs_alike(f, like, c); });
    const auto r = optimize_known(part, machine, isa, options);
    if (!std::holds_alternative<Optimum>(r)) return Cost::infinite();
    sum = sum + std::get<Optimum>(r).cost;
  }
  return sum;
}

// Orders that cannot be the cheapest any more are left before all sizes have been searched.
TEST_CASE("operands are packed as is cheapest for all sizes together") {
  const KernelSpec k = spec("(a: f32[m to 4,40], b: f32[40,20] packed): f32 = matmul(a, b)");
  const Computation c = k.computation();
  for (const Machine& machine : {toy_machine(512, 4096), far_rows()}) {
    const Optimum o = found(optimize(c, machine, *find_isa("avx2"), {}));
    std::set<Cost> all;
    for (const auto& alike : by_packing(families(c, *find_isa("avx2")), c))
      all.insert(sum_of_sizes(c, machine, alike[0]));
    CHECK(all.size() > 2);
    CHECK(sum_of_sizes(c, machine, o.problem.family) == *all.begin());
  }
}

TEST_CASE("a budget stops a patchwork") {
  const KernelSpec k = spec(kSpecs[0]);
  const auto r = optimize(k.computation(), toy_machine(), *find_isa("avx2"), {.max_specs = 3});
  REQUIRE(std::holds_alternative<StopReason>(r));
  CHECK(std::get<StopReason>(r) == StopReason::kBudget);
  // It is for all pieces together.
  const auto specs = [](const std::string& text) {
    const KernelSpec known = spec(text);
    const auto found =
        optimize(known.computation(), toy_machine(), *find_isa("scalar"), SearchOptions());
    return std::get<Optimum>(found).stats.specs;
  };
  const i64 one = specs("(a: f32[8,24], b: f32[24,8]): f32 = matmul(a, b)");
  const KernelSpec pieces = spec("(a: f32[m to 8,24], b: f32[24,8]): f32 = matmul(a, b)");
  const auto all =
      optimize(pieces.computation(), toy_machine(), *find_isa("scalar"), {.max_specs = one});
  REQUIRE(std::holds_alternative<StopReason>(all));
  CHECK(std::get<StopReason>(all) == StopReason::kBudget);
}

TEST_CASE("strides that are known at run time only have tables of their own") {
  const auto signature = [](std::string_view text) {
    const KernelSpec k = spec(text);
    const Machine machine = toy_machine();
    const Family f = families(k.computation(), *find_isa("scalar"))[0];
    return Space({&k.computation(), &machine, f, 1}).signature();
  };
  // The stride of `a` is 3 lines in all of them.
  const std::string fixed = signature("(a: f32[4,48], b: f32[48,8]): f32 = matmul(a, b)");
  const std::string strided = signature("(a: f32[4,16] strided, b: f32[16,8]): f32 = matmul(a, b)");
  CHECK(fixed != strided);
  CHECK(signature("(a: f32[4,20] strided, b: f32[20,8]): f32 = matmul(a, b)") == strided);
}

}  // namespace
}  // namespace morello
