// Limits obey their laws, and costs say what they are said to.

#include <fmt/ranges.h>

#include "long.h"
#include "toy.h"

namespace morello {
namespace {

TEST_CASE("more memory never makes a Spec dearer, and boxes tell the truth") {
  const KernelSpec k = spec("(a: f32[9,33], b: f32[33,17]): f32 = matmul(a, b)");
  const Machine machine = toy_machine(2048, 16384);
  const std::vector<Family> all = families(k.computation(), *find_isa("avx2"));
  const Problem problem{&k.computation(), &machine, all[all.size() / 2], 1};
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
  for (std::string_view text : kSmallSpecs) {
    CAPTURE(text);
    const Computation c = computation_of(spec(text));
    for (const Family& f : families(c, *find_isa("avx2")))
      for (int threads : {1, 2})
        for (const Limits& limits : {Limits::zero(), Limits{{512, 2048, 0}}}) {
          Searcher search({&c, &machine, f, threads});
          CAPTURE(f.str(c));
          Cost least = Cost::infinite();
          auto each = [&](const Candidate& one) {
            least = std::min(least, search.solver.price(one, limits));
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

TEST_CASE("loops pay where a stream breaks off, not where it goes on") {
  struct Row {
    std::string_view text;
    int dim;
    i64 extent;  // of the dim in the Spec
    i64 tile;
    i64 millicycles;   // a step; memory answers after 100 cycles
    bool asks = true;  // for the output, which is there when a leaf has summed
  };
  constexpr Row kRows[] = {
      {"(x: f32[4096]): f32 = convert(x)", 0, 4096, 64, 0},
      // Whole rows of x follow one another; the output begins anew.
      {"(x: f32[64,512]): f32 = reduce_sum(x, axis=0)", 1, 64, 32, 11'200, false},
      {"(x: f32[64,512]): f32 = reduce_sum(x, axis=0)", 1, 64, 32, 0},
      // Half of every row: the 64 rows of x go on and lie in 32 pages.
      {"(x: f32[64,512]): f32 = reduce_sum(x, axis=0)", 0, 256, 64, 0},
      // The same of whole rows, which lie in memory as one.
      {"(x: f32[64,512]): f32 = reduce_sum(x, axis=0)", 0, 512, 64, 0},
      // Whole rows follow one another, and so do their sums.
      {"(x: f32[64,512]): f32 = reduce_sum(x, axis=1)", 0, 64, 32, 0},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CAPTURE(row.dim);
    CAPTURE(row.asks);
    Machine machine = toy_machine();
    if (!row.asks) machine.prefetch_bytes = 0;
    const KernelSpec k = spec(row.text);
    const Space space(
        {&k.computation(), &machine, families(k.computation(), *find_isa("avx2"))[0], 1});
    Spec s = space.problem().root();
    s.extent[row.dim] = row.extent;
    const Cost step = Steps(space, s).at(row.dim, row.tile);
    CHECK(static_cast<i64>(step.value()) == row.millicycles);
  }
}

TEST_CASE("a view overlaps with its first use where prefetchers can follow it") {
  struct Row {
    std::string_view text;
    int operand;
    bool accumulate;
    bool overlaps;
  };
  constexpr Row kRows[] = {
      {"(a: f32[48,32], b: f32[32,64]): f32 = matmul(a, b)", 1, false, true},
      {"(a: f32[48,256], b: f32[256,2048]): f32 = matmul(a, b)", 1, false, false},  // 512 pages
      {"(a: f32[48,256], b: f32[256,2048] packed): f32 = matmul(a, b)", 1, false, true},
      {"(a: f32[48,32], b: f32[32,64]): f32 = matmul(a, b)", 2, false, false},
      {"(a: f32[48,32], b: f32[32,64]): f32 = matmul(a, b)", 2, true, false},
  };
  const Machine machine = toy_machine();
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CAPTURE(row.operand);
    const KernelSpec k = spec(row.text);
    const Space space(
        {&k.computation(), &machine, families(k.computation(), *find_isa("avx2"))[0], 1});
    Spec s = space.problem().root();
    s.place[row.operand].level = kMemory;
    s.accumulate = row.accumulate;
    const Cost once = space.transfer(space.region(s, row.operand), kMemory);
    const Cost view = space.view(s, row.operand);
    CHECK(once > Cost());
    if (row.overlaps) {
      CHECK(view < once);
      CHECK(5 * view >= once);
    } else {
      CHECK(view == (row.accumulate ? 2 : 1) * once);
    }
  }
}

// 16 x 8 outputs of 3x3 windows: leaves of 6 rows read 8, and those of one column 3.
TEST_CASE("what leaves read of windows is as often used as they overlap") {
  struct Row {
    std::string_view text, quantum;
    std::vector<std::pair<std::string_view, i64>> extents;  // of dims; the others as at the root
    i64 uses;
    bool reused = true;  // some of it
  };
  constexpr std::string_view kDepthwise =
      "(x: f32[1,18,10,16], k: f32[3,3,1,16]): f32 = conv2d(x, k, groups=16)";
  constexpr std::string_view kStrided =
      "(x: f32[1,33,17,16], k: f32[3,3,1,16]): f32 = conv2d(x, k, groups=16, stride=2)";
  constexpr std::string_view kPadded =
      "(x: f32[1,18,10,16], k: f32[3,3,1,16]): f32 = "
      "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1, high=1), k, groups=16)";
  constexpr std::string_view kDense = "(x: f32[1,18,10,4], k: f32[3,3,4,32]): f32 = conv2d(x, k)";
  const std::vector<Row> rows = {
      {kDepthwise, "h:6,g:16 ", {}, 3},          // 3 * 8 * 8 * 3 of 18 * 10
      {kDepthwise, "h:6,g:16 ", {{"h", 6}}, 2},  // 8 * 8 * 3 of 8 * 10
      {kDepthwise, "h:6,g:16 ", {{"w", 1}}, 1},  // 3 * 8 * 3 of 18 * 3
      {kDepthwise, "h:6,g:16 ", {{"h", 6}, {"w", 1}}, 1, false},
      {kDepthwise, "h:6,g:16 ", {{"h", 6}, {"r", 1}, {"s", 1}}, 1, false},
      {kStrided, "h:6,g:16 ", {}, 1},  // 39 * 24 of 33 * 17
      {kDense, "h:6,f:16 ", {}, 6},    // as depthwise, by two leaves of filters
      {kDense, "h:6,f:16 ", {{"h", 6}, {"w", 1}}, 2},
      {kPadded, "h:6,g:16 ", {}, 3},  // 16 x 8 of its 18 x 10 outputs read no zeros, and all of x
  };
  const Machine machine = toy_machine();
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Computation c = computation_of(spec(row.text));
    const std::vector<Family> all = families(c, *find_isa("avx2"));
    const auto f = std::find_if(all.begin(), all.end(), [&](const Family& family) {
      return family.str(c).find(row.quantum) != std::string::npos;
    });
    REQUIRE(f != all.end());
    const Space space({&c, &machine, *f, 1});
    Spec s = space.problem().root();
    for (const auto& [name, extent] : row.extents)
      for (size_t d = 0; d < c.dims.size(); ++d)
        if (c.dims[d].name == name) s.extent[d] = extent;
    CAPTURE(str(s, c));
    CHECK(space.uses(s, 0) == row.uses);
    CHECK(space.reused(s, 0) == row.reused);
    CHECK(space.may_be_reused(0));
    if (row.extents.empty()) CHECK(space.region(s, 0).rows == 1);
    if (row.text == kPadded) CHECK(space.region(s, 0).row_bytes == 18 * 10 * 16 * 4);
  }
}

// Windows leave the menus of the other dims alone: no split divides a sum over three.
TEST_CASE("sums too short to be split do not make menus coarse") {
  const KernelSpec k =
      spec("(x: f32[1,114,114,64], k: f32[3,3,1,64] packed): f32 = conv2d(x, k, groups=64)");
  const Machine machine = toy_machine();
  const Space space(
      {&k.computation(), &machine, families(k.computation(), *find_isa("avx2"))[0], 1});
  for (size_t d = 0; d < k.computation().dims.size(); ++d)
    if (k.computation().dims[d].name == "w") CHECK(space.tiles(static_cast<int>(d)).size() >= 4);
}

// 2048 of each. Parts of 256 have the largest panels of 16 columns that L1 holds beside rows of the
// other operand; powers of four had 128 and 512.
TEST_CASE("long sums are split in powers of two, other long dims in powers of four") {
  const KernelSpec k = spec("(a: f32[2048,2048], b: f32[2048,2048]): f32 = matmul(a, b)");
  const Machine machine = toy_machine();
  const Space space(
      {&k.computation(), &machine,
       *parse_family(
           "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8",
           k.computation(), *find_isa("avx2")),
       1});
  const auto tiles = [&](int d) { return fmt::format("{}", fmt::join(space.tiles(d), " ")); };
  CHECK(tiles(0) == "6 48 384");
  CHECK(tiles(1) == "16 64 256 1024");
  CHECK(tiles(2) == "32 64 128 256 512 1024");
}

// Rows of 4, 6 and 4.06 KiB; L1 has twelve ways.
TEST_CASE("sums have a tile of as many rows as L1 keeps wherever they begin") {
  const auto tiles = [](i64 m, i64 n, const char* layout, i64 leaf_start) {
    const KernelSpec k =
        spec(fmt::format("(a: f32[{},1024], b: f32[1024,{}]{}): f32 = matmul(a, b)", m, n, layout));
    Machine machine = *load_machine("zen5");
    machine.levels[kL3].leaf_start_millicycles = leaf_start;
    const Family f = *parse_family(
        "fma_f32x8 lane=n quantum=n:64 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8",
        k.computation(), *find_isa("avx2"));
    return fmt::format("{}", fmt::join(Space({&k.computation(), &machine, f, 1}).tiles(2), " "));
  };
  const std::string all = "32 64 128 256 512";
  CHECK(tiles(1, 1024, "", 27'000) == "8 " + all);
  CHECK(tiles(2, 1024, "", 27'000) == "8 " + all);
  CHECK(tiles(1, 1536, "", 27'000) == "16 " + all);
  CHECK(tiles(1, 1040, "", 27'000) == all);
  // Where it is not known what it costs, where more rows of a use them, and where they are packed.
  CHECK(tiles(1, 1024, "", 0) == all);
  CHECK(tiles(3, 1024, "", 27'000) == all);
  CHECK(tiles(1, 1024, " packed", 27'000) == all);
}

TEST_CASE("a copy costs what its innermost loop takes: runs, rows of the ISA, elements") {
  struct Row {
    std::string_view text, family;
    int operand;
    i64 millicycles;  // an element
  };
  constexpr std::string_view kF32 = "(a: f32[96,64], b: f32[64,96]): f32 = matmul(a, b)";
  constexpr std::string_view kBf16 = "(a: bf16[96,64], b: bf16[64,96]): f32 = matmul(a, b)";
  const Row kRows[] = {
      {kF32, "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8", 1,
       137},
      {kF32, "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8", 0,
       200},
      // Panels of 12 columns hold rows of four, panels of 2 do not.
      {kF32, "dot_f32x8 lane=k quantum=n:12,k:8 a=load_f32x8 b=load_f32x8 out=store_f32", 1, 200},
      {kF32, "dot_f32x8 lane=k quantum=n:2,k:32 a=load_f32x8 b=load_f32x8 out=store_f32", 1, 700},
      {kF32, "dot_f32x8 lane=k quantum=n:2,k:32 a=load_f32x8 b=load_f32x8 out=store_f32", 0, 137},
      {kBf16, "fma_f32x8 lane=n quantum=m:5,n:16 a=broadcast_f32x8 b=load_bf16x8x2 out=store_f32x8",
       1, 120},
      {kBf16, "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8", 1,
       137},
      {kBf16, "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8", 0,
       700},
  };
  const Machine machine = toy_machine();
  for (const Row& row : kRows) {
    CAPTURE(row.family);
    CAPTURE(row.operand);
    const KernelSpec k = spec(row.text);
    const Result<Family> f = parse_family(row.family, k.computation(), *find_isa("avx2"));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    const Space space({&k.computation(), &machine, *f, 1});
    Spec s = space.problem().root();
    s.place[row.operand].level = kL1;
    const i64 elements = space.problem().root_address(row.operand).elements;
    const i64 copy = static_cast<i64>(space.copy(s, row.operand, kL1).value()) - 4000;
    CHECK(copy / elements == row.millicycles);
  }
}

TEST_CASE("shuffles wait for the pipes of multiply-adds where the machine says so") {
  const KernelSpec k = spec("(a: bf16[1,512], b: bf16[512,8] col): f32 = matmul(a, b)");
  Machine machine = *load_machine("zen4");
  const auto time = [&](std::string_view family) {
    const Result<Family> f = parse_family(family, k.computation(), *find_isa("avx2"));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    const Space space({&k.computation(), &machine, *f, 1});
    Spec s = space.problem().root();
    for (int o = 0; o < space.operands(); ++o) s.place[o].level = kL1;
    return space.leaf(s, {});
  };
  constexpr std::string_view kShuffled =
      "dot_f32x8 lane=k quantum=n:8,k:8 a=load_bf16x8 b=load_bf16x8 out=store_f32";
  constexpr std::string_view kShifted =
      "dot_f32x8 lane=k quantum=n:8,k:16 a=load_bf16x8x2 b=load_bf16x8x2 out=store_f32";
  const Cost shuffled = time(kShuffled), shifted = time(kShifted);
  CHECK(shuffled > shifted);
  machine.core.fma_and_shuffle = 0;
  CHECK(time(kShuffled) < shuffled);
  CHECK(time(kShifted) == shifted);
}

// Divisions alone, and beside a function that takes no longer. Of that: the call.
TEST_CASE("divisions take the divider, or as many multiply-adds") {
  struct Row {
    const char *isa, *text, *family;
    double unknown, known;  // cycles, with the divider's 3.2 (of 512 bits 6.1)
  };
  const Row rows[] = {
      {"avx2", "(x: f32[64], y: f32[64]): f32 = x / y",
       "map_f32x8 lane=i quantum=i:64 x=load_f32x8 y=load_f32x8 out=store_f32x8", 45, 30.6},
      {"avx512", "(x: f32[64], y: f32[64]): f32 = x / y",
       "map_f32x16 lane=i quantum=i:64 x=load_f32x16 y=load_f32x16 out=store_f32x16", 45, 29.4},
      {"avx512", "(x: f32[64]): f32 = exp(x) / 3",
       "map_f32x16 lane=i quantum=i:64 x=load_f32x16 out=store_f32x16", 59, 29.4},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CAPTURE(row.isa);
    Machine machine = toy_machine();
    const KernelSpec k = spec(row.text);
    const Result<Family> f = parse_family(row.family, k.computation(), *find_isa(row.isa));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    const auto time = [&] {
      const Space space({&k.computation(), &machine, *f, 1, Part::at(kL1)});
      return space.leaf(space.problem().root(), {}).as_cycles();
    };
    CHECK(time() == doctest::Approx(row.unknown));
    machine.core.divide_millicycles = 3'200;
    machine.core512 = machine.core;
    machine.core512->divide_millicycles = 6'100;
    CHECK(time() == doctest::Approx(row.known));
  }
}

TEST_CASE("no prefetch is proposed that a stream is too short for") {
  const Machine machine = toy_machine();
  for (const auto& [elements, proposed] : {std::pair{256, 0}, {512, 1}, {1024, 2}, {2048, 3}}) {
    CAPTURE(elements);
    const KernelSpec k = spec(fmt::format("(a: f32[1,{}], b: f32[{},8] packed): f32 = matmul(a, b)",
                                          elements / 8, elements / 8));
    const Result<Family> f = parse_family(
        "fma_f32x8 lane=n quantum=n:8,k:8 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8",
        k.computation(), *find_isa("avx2"));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    const Space space({&k.computation(), &machine, *f, 1});
    Spec s = space.problem().root();
    s.place[1].level = kMemory;
    int calls = 0;
    auto each = [&](const Candidate& c) { calls += c.cost.children == 0 && c.decision.value > 0; };
    expand(space, s, each);
    CHECK(calls == proposed);
  }
}

TEST_CASE("a leaf asks for an output that is far and whole, written or added to") {
  Machine machine = toy_machine();
  machine.levels[kMemory].line_millicycles = 4 * machine.levels[kMemory].prefetched_millicycles;
  const KernelSpec k = spec("(a: f32[6,32], b: f32[32,16]): f32 = matmul(a, b)");
  struct Row {
    std::string_view family;
    Place out;
    bool accumulate, asks;
  };
  constexpr std::string_view kVectors =
      "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8";
  for (const Row& row :
       {Row{kVectors, {kMemory, false}, false, true}, Row{kVectors, {kL2, false}, false, false},
        Row{kVectors, {kMemory, false}, true, true},
        Row{"dot_f32x8 lane=k quantum=m:6,n:2,k:8 a=load_f32x8 b=load_f32x8 out=store_f32",
            {kMemory, false},
            false,
            false}}) {
    const Result<Family> f = parse_family(row.family, k.computation(), *find_isa("avx2"));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    const Space space({&k.computation(), &machine, *f, 1});
    Spec s = space.problem().root();
    s.place.fill({kL1, false});
    s.place[2] = row.out;
    s.accumulate = row.accumulate;
    CHECK(space.asks_for_output(s) == row.asks);
    if (row.asks) CHECK(space.leaf(s, {.ahead_operand = 2}) < space.leaf(s, {}));
  }
}

TEST_CASE("programs plan with a part of each cache, and with half of what is kept") {
  Machine machine = toy_machine(1024, 4096, 10'000);
  machine.levels[kL3].shared_by = 2;
  const KernelSpec k = spec("(a: f32[6,32], b: f32[32,16]): f32 = matmul(a, b)");
  const std::vector<Family> all = families(k.computation(), *find_isa("avx2"));
  struct Row {
    int kept_percent, threads;
    i64 l1, l2, l3;
  };
  for (const Row& row :
       {Row{0, 1, 512, 2048, 7500}, Row{0, 2, 512, 2048, 3750}, Row{100, 1, 512, 2048, 5000},
        Row{40, 1, 512, 2048, 2000}, Row{40, 2, 512, 2048, 1000}}) {
    CAPTURE(row.kept_percent);
    machine.levels[kL3].kept_percent = row.kept_percent;
    const Limits room = Space({&k.computation(), &machine, all.front(), row.threads}).capacity();
    CHECK(room.at(kL1) == row.l1);
    CHECK(room.at(kL2) == row.l2);
    CHECK(room.at(kL3) == row.l3);
  }
}

TEST_CASE("rows that begin anywhere in a line have more of them") {
  struct Row {
    i64 width, columns, rows, lines;  // of b
  };
  for (const Row& row : {Row{64, 16, 32, 32},
                         {80, 16, 32, 32},
                         {72, 16, 32, 48},  // at 0 and 32
                         {68, 16, 32, 56},  // at 0, 16, 32 and 48
                         {65, 16, 32, 62},  // of 16 places each but one touches two lines
                         {65, 1, 32, 32},   // whatever the place
                         {65, 8, 32, 46},
                         {72, 8, 32, 32},
                         {65, 65, 32, 130},  // one run
                         {65, 64, 32, 158},
                         {4, 2, 32, 8}}) {
    CAPTURE(row.width);
    CAPTURE(row.columns);
    const KernelSpec k = spec(
        fmt::format("(a: f32[6,{0}], b: f32[{0},{1}]): f32 = matmul(a, b)", row.rows, row.width));
    const std::vector<Family> all = families(k.computation(), *find_isa("avx2"));
    const Machine machine = toy_machine();
    const Space space({&k.computation(), &machine, all.front(), 1});
    Spec s = space.problem().root();
    s.extent[1] = row.columns;
    CHECK(space.region(s, 1).lines == row.lines);
  }
}

TEST_CASE("a leaf may store past the caches what leaves them") {
  const Machine machine = streaming(toy_machine(1024, 4096, 1 << 20), 4096, 2000);
  struct Row {
    std::string_view text;
    Place out;
    bool streams;
  };
  for (const Row& row :
       {Row{"(x: f32[32,32], y: f32[32,32] col): f32 = x + y", {kMemory, false}, true},
        Row{"(x: f32[32,32], y: f32[32,32] col): f32 = x + y", {kL3, false}, true},
        Row{"(x: f32[32,32], y: f32[32,32] col): f32 = x + y", {kL2, false}, false},
        Row{"(x: f32[32,32], y: f32[32,32] col): f32 = x + y", {kMemory, true}, false},
        // Smaller; with rows that begin anywhere; by columns; a sum.
        Row{"(x: f32[31,32], y: f32[31,32] col): f32 = x + y", {kMemory, false}, false},
        Row{"(x: f32[32,33], y: f32[32,33] col): f32 = x + y", {kMemory, false}, false},
        Row{"(x: f32[64,32]): f32[64] = reduce_sum(x, axis=1)", {kMemory, false}, false},
        Row{"(a: f32[32,8], b: f32[8,64]): f32 = matmul(a, b)", {kMemory, false}, false}}) {
    CAPTURE(row.text);
    const KernelSpec k = spec(row.text);
    for (const Family& f : families(k.computation(), *find_isa("avx2"))) {
      if (f.kernel->lanes == 1) continue;
      CAPTURE(f.str(k.computation()));
      const Space space({&k.computation(), &machine, f, 1});
      Spec s = space.problem().root();
      s.place.fill({kL1, false});
      s.place[k.computation().inputs()] = row.out;
      // Lanes along columns of the result store one number each.
      const bool streams = row.streams && k.computation().dims[f.lane].name == "i1";
      CHECK(space.streams(s) == streams);
      if (streams) CHECK(space.leaf(s, {.streaming = true}) < space.leaf(s, {}));
      s.extent[f.lane] = 7;
      CHECK(!space.streams(s));
      // A part of a kernel: whoever knows all of it says so.
      Problem part = space.problem();
      part.part = Part::at(kMemory);
      CHECK(!part.output_leaves());
    }
  }
}

TEST_CASE("what is stored where it was read costs nothing more in the caches") {
  const Machine machine = toy_machine(1024, 4096, 1 << 20);
  const KernelSpec k = spec("(x: f32[64,32]): f32 = exp(x)");
  for (const Family& f : families(k.computation(), *find_isa("avx2"))) {
    CAPTURE(f.str(k.computation()));
    Problem p{&k.computation(), &machine, f, 1};
    p.part = Part::at(kL3);
    const Space apart(p);
    p.part.in_place = true;
    const Space in_place(p);
    Spec s = p.root();
    for (const Level out : {kL2, kL3, kMemory}) {
      s.place[k.computation().inputs()] = {out, false};
      CHECK((in_place.leaf(s, {}) < apart.leaf(s, {})) == (out <= kL3));
      CHECK(in_place.leaf(s, {}) <= apart.leaf(s, {}));
    }
  }
}

// Of a latency of L3, in halves, as often as there are rows.
TEST_CASE("shares pay for rows that they end in, for short ones where sums are added to") {
  const Machine machine = toy_machine(1024, 4096, 1 << 20);
  struct Row {
    std::string_view text;
    int dim;
    i64 tile;
    i64 halves;
  };
  for (const Row& row :
       {Row{"(x: f32[8,4096], y: f32[8,4096] col): f32 = x + y", 1, 2048, 8 * 16},
        Row{"(x: f32[8,4096], y: f32[8,4096] col): f32 = x + y", 1, 1024, 8 * 16},
        Row{"(x: f32[8,4096], y: f32[8,4096] col): f32 = x + y", 0, 4, 0},
        Row{"(x: f32[8,4096], y: f32[8,4096] col): f32 = x + y", 1, 1023, 0},
        Row{"(x: f32[8,4096], y: f32[8,4096] col): f32 col = x + y", 0, 4, 0},
        Row{"(x: f32[4096,8], y: f32[4096,8] col): f32 col = x + y", 0, 2048, 8 * 16},
        Row{"(x: f32[1,8192], y: f32[8192]): f32 = x + y", 1, 4096, 0},
        Row{"(a: f32[6,32], b: f32[32,4096]): f32 = matmul(a, b)", 1, 2048, 6 * 16},
        Row{"(a: f32[6,512], b: f32[512,64]): f32 = matmul(a, b)", 1, 32, 6},
        Row{"(a: f32[6,512], b: f32[512,64]): f32 = matmul(a, b)", 0, 3, 0},
        Row{"(a: f32[6,3], b: f32[3,64]): f32 = matmul(a, b)", 1, 32, 0}}) {
    CAPTURE(row.text);
    const KernelSpec k = spec(row.text);
    for (const Family& f : families(k.computation(), *find_isa("avx2"))) {
      CAPTURE(f.str(k.computation()));
      const Space space({&k.computation(), &machine, f, 2});
      Spec s = space.problem().root(), share = s;
      share.extent[row.dim] = row.tile;
      CHECK(16 * space.borders(s, share) == row.halves * border(machine));
    }
  }
}

TEST_CASE("one tile below the quantum divides a dim evenly, where no panel is cut") {
  constexpr std::string_view kSpec = "(a: f32[64,16], b: f32[16,96]): f32 = matmul(a, b)";
  const KernelSpec k = spec(kSpec);
  const Machine machine = toy_machine();
  struct Row {
    std::string_view family;
    int dim;
    i64 extent, tile;  // 0: none
  };
  constexpr std::string_view k6x16 =
      "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8";
  constexpr std::string_view k2x32 =
      "fma_f32x8 lane=n quantum=m:2,n:32 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8";
  for (const Row& row :
       {Row{k6x16, 0, 5, 0}, Row{k6x16, 0, 6, 0}, Row{k6x16, 0, 7, 4}, Row{k6x16, 0, 8, 4},
        Row{k6x16, 0, 12, 0}, Row{k6x16, 0, 13, 5}, Row{k6x16, 0, 32, 0}, Row{k6x16, 1, 20, 0},
        Row{k2x32, 1, 40, 24}, Row{k6x16, 2, 16, 0}}) {
    CAPTURE(row.family);
    CAPTURE(row.extent);
    const Result<Family> f = parse_family(row.family, k.computation(), *find_isa("avx2"));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    const Space space({&k.computation(), &machine, *f, 1});
    Spec s = space.problem().root();
    s.extent[row.dim] = row.extent;
    CHECK(space.even_tile(s, row.dim) == row.tile);
    s.place[row.dim == 0 ? 0 : 1].packed = true;
    CHECK(space.even_tile(s, row.dim) == 0);
  }
}

TEST_CASE("scalar code competes only where vectors cannot do it as it lies") {
  for (const auto& [text, scalar] : std::initializer_list<std::pair<std::string_view, bool>>{
           {"(x: f32[64]): f32 = convert(x)", false},
           {"(x: f32[5]): f32 = convert(x)", true},
           {"(x: f32[16,16], y: f32[16,16] col): f32 = add(x, y)", true},
           {"(x: f32[64]): f32 = reduce_sum(x, axis=0)", true}}) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    const std::vector<Family> all = families(k.computation(), *find_isa("avx2"));
    CHECK(std::any_of(all.begin(), all.end(),
                      [](const Family& f) { return f.kernel->lanes == 1; }) == scalar);
  }
}

}  // namespace
}  // namespace morello
