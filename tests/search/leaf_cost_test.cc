// What leaves take: instructions that overlap, and those that do not.

#include "toy.h"

namespace morello {
namespace {

struct LeafOf {
  std::string_view spec, family, isa;
  Extents extent;
  int copied = -1;  // an operand that is in a copy
};

// Of a leaf on a Zen 4, all operands at a level.
double cycles(const LeafOf& leaf, Level level, const Machine& machine = *load_machine("zen4")) {
  const KernelSpec k = spec(leaf.spec);
  const Result<Family> f = parse_family(leaf.family, k.computation(), *find_isa(leaf.isa));
  REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
  const Space space({&k.computation(), &machine, *f, 1});
  Spec s = space.problem().root();
  for (size_t d = 0; d < k.computation().dims.size(); ++d)
    if (leaf.extent[d] > 0) s.extent[d] = leaf.extent[d];
  for (int o = 0; o < space.operands(); ++o) s.place[o].level = level;
  if (leaf.copied >= 0) s.place[leaf.copied].packed = true;
  REQUIRE(space.leaf_covers(s));
  return space.leaf(s, {}).as_cycles();
}

TEST_CASE("where nothing is summed vectors are loaded, computed and stored at once") {
  constexpr std::string_view kNarrow = "map_f32x8 lane=i quantum=i:96 x=load_f32x8 out=store_f32x8";
  constexpr std::string_view kWide =
      "map_f32x16 lane=i quantum=i:96 x=load_f32x16 out=store_f32x16";
  constexpr std::string_view kRows =
      "map_f32x16 lane=i1 quantum=i1:96 x=load_f32x16 out=store_f32x16";
  struct Row {
    LeafOf leaf;
    double cycles;  // 5 of them the call's
  };
  const Row kTable[] = {
      // Twelve stores, one a cycle; six of 512 bits one in two.
      {{"(x: f32[4096]): f32 = x * 2", kNarrow, "avx2", {96}}, 17},
      {{"(x: f32[4096]): f32 = x * 2", kWide, "avx512", {96}}, 17},
      // Beside them 18 loads of 512 bits, one a cycle.
      {{"(x: f32[8,4096], y: f32[4096], z: f32[4096]): f32 = x * y + z", kRows, "avx512", {1, 96}},
       23},
      // What all vectors share is loaded once: of the leaf, or of its row.
      {{"(x: f32[4096], y: f32[1], z: f32[1]): f32 = x * y + z", kWide, "avx512", {96}}, 17},
      {{"(x: f32[8,4096], y: f32[8], z: f32[8]): f32 = x * broadcast(y, axis=1) + "
        "broadcast(z, axis=1)",
        "map_f32x16 lane=i1 quantum=i1:96 x=load_f32x16 out=store_f32x16",
        "avx512",
        {1, 96}},
       17},
  };
  for (const Row& row : kTable) {
    CAPTURE(row.leaf.spec);
    CAPTURE(row.leaf.family);
    CHECK(cycles(row.leaf, kL1) == doctest::Approx(row.cycles));
  }
}

// Where a load takes two cycles: windows that overlap have an element in common, which is loaded
// once for the taps that a leaf takes at once; of vectors along which windows move 28 in 64 are in
// two lines, for 0.65 cycles more. So few stores cost nothing beside.
TEST_CASE("loads of windows") {
  constexpr std::string_view k3x3 =
      "(x: f32[1,9,9,64], k: f32[3,3,1,64]): f32 = conv2d(x, k, groups=64)";
  constexpr std::string_view k5x5 =
      "(x: f32[1,9,9,64], k: f32[5,5,1,64]): f32 = conv2d(x, k, groups=64)";
  constexpr std::string_view kFirst =
      "(x: f32[1,9,18,64] order(0, 3, 1, 2), k: f32[3,3,1,64]): f32 order(0, 3, 1, 2) = "
      "conv2d(x, k, groups=64)";
  struct Row {
    std::string_view spec, lanes;
    Extents extent;  // of h, w and g
    int of_x, of_k;
  };
  Machine machine = *load_machine("zen4");
  machine.core.load = 500;
  for (const Row& row : {Row{k3x3,
                             "lane=g quantum=h:6,g:16 x=load_f32x8 k=load_f32x8",
                             {6, 1, 16},
                             6 * 2 * 9,
                             2 * 9},
                         {k3x3,
                          "lane=g quantum=h:4,g:16 taps=r:3 x=load_f32x8 k=load_f32x8",
                          {4, 1, 16},
                          6 * 2 * 3,
                          2 * 9},
                         {k3x3,
                          "lane=g quantum=h:4,g:16 taps=r:3 x=load_f32x8 k=load_f32x8",
                          {1, 1, 16},
                          3 * 2 * 3,
                          2 * 9},
                         {k5x5,
                          "lane=g quantum=w:5,g:16 taps=s:2 x=load_f32x8 k=load_f32x8",
                          {1, 5, 16},
                          (6 + 6 + 5) * 2 * 5,
                          2 * 25},
                         {kFirst,
                          "lane=w quantum=h:4,w:16 taps=r:3 x=load_f32x8 k=broadcast_f32x8",
                          {4, 16, 1},
                          6 * 2 * 3 + 6 * 2 * 3 * 28 / 64 * 65 / 200,
                          9}}) {
    CAPTURE(row.lanes);
    const Computation c = computation_of(spec(row.spec));
    LeafOf leaf{row.spec, row.lanes, "avx2", {}};
    const std::string family = fmt::format("fma_f32x8 {} out=store_f32x8", row.lanes);
    leaf.family = family;
    for (size_t d = 0; d < c.dims.size(); ++d) {
      const size_t at = std::string_view("hwg").find(c.dims[d].name);
      if (at != std::string_view::npos) leaf.extent[d] = row.extent[at];
    }
    CHECK(cycles(leaf, kL1, machine) == doctest::Approx(2 * (row.of_x + row.of_k) + 5));
  }
}

// 256 vectors of eight or 128 of sixteen, rows of n elements apart: those that end in the next line
// take 0.65 cycles more, in whole loads of two cycles, where these are what a leaf waits for; not
// in a copy.
TEST_CASE("loads of two lines") {
  struct Row {
    std::string_view isa, lanes;
    int n, crossing;
  };
  Machine machine = *load_machine("zen4");
  machine.core.load = machine.core512->load = 500;
  constexpr int kAligned = 96;
  for (const Row& row :
       {Row{"avx2", "8", 97, 112}, Row{"avx2", "8", 98, 96}, Row{"avx2", "8", 100, 64},
        Row{"avx2", "8", 104, 0}, Row{"avx2", "8", 112, 0}, Row{"avx512", "16", 97, 120},
        Row{"avx512", "16", 104, 64}, Row{"avx512", "16", 112, 0}}) {
    CAPTURE(row.isa);
    CAPTURE(row.n);
    const auto leaf = [&](int n, int copied) {
      const std::string text =
          fmt::format("(a: f32[8,128], b: f32[128,{}]): f32 = matmul(a, b)", n);
      const std::string family = fmt::format(
          "fma_f32x{0} lane=n quantum=m:{1},n:16 a=broadcast_f32x{0} b=load_f32x{0} "
          "out=store_f32x{0}",
          row.lanes, row.isa == "avx2" ? 4 : 8);
      return cycles({text, family, row.isa, {4, 16, 128}, copied}, kL1, machine);
    };
    CHECK(leaf(row.n, -1) - leaf(kAligned, -1) == doctest::Approx(2 * (row.crossing * 65 / 200)));
    CHECK(leaf(row.n, 1) == leaf(kAligned, 1));
  }
}

// Leaves of 28 x 16 read 64 of every 768 bytes of x.
TEST_CASE("lines that come alone cost more") {
  constexpr std::string_view kDepthwise =
      "(x: f32[1,60,60,192], k: f32[5,5,1,192] packed): f32 = conv2d(x, k, groups=192)";
  struct Row {
    std::string_view family;
    i64 columns, channels;
    bool alone;
  };
  const Machine machine = *load_machine("graniterapids");
  Machine alike = machine;
  alike.levels[kL3].lone_millicycles = 0;
  REQUIRE(machine.levels[kL3].lone_millicycles > machine.levels[kL3].line_millicycles);
  for (const Row& row :
       {Row{"w:28,g:16 taps=s:2", 28, 16, true}, Row{"w:10,g:32 taps=s:5", 10, 32, false}}) {
    CAPTURE(row.family);
    const std::string family = fmt::format(
        "fma_f32x16 lane=g quantum={} x=load_f32x16 k=load_f32x16 out=store_f32x16", row.family);
    LeafOf leaf{kDepthwise, family, "avx512", {}};
    const Computation c = computation_of(spec(kDepthwise));
    for (size_t d = 0; d < c.dims.size(); ++d)
      leaf.extent[d] = c.dims[d].name == "h"   ? 1
                       : c.dims[d].name == "w" ? row.columns
                       : c.dims[d].name == "g" ? row.channels
                                               : 0;
    CHECK((cycles(leaf, kL3, machine) > cycles(leaf, kL3, alike)) == row.alone);
  }
}

// Seven shuffles and four joins, two a cycle, for four registers or three; three of each for one by
// itself. Maxima are looked at for NaN before. Results of another type are stored one by one. All
// of it overlaps with the sums of the next leaf, of products half: there every other shuffle takes
// the place of a multiply-add. The call takes 5 cycles.
TEST_CASE("sums of lanes cost their part of a fold") {
  constexpr std::string_view kSum = "(x: f32[64,8]): f32 = reduce_sum(x, axis=1)";
  constexpr std::string_view kMost = "(x: f32[64,8]): f32 = reduce_max(x, axis=1)";
  constexpr std::string_view kBf16 = "(x: f32[64,8]): bf16 = reduce_sum(x, axis=1)";
  constexpr std::string_view kLong = "(x: f32[64,128]): f32 = reduce_sum(x, axis=1)";
  struct Row {
    std::string_view spec, family;
    i64 rows, columns;
    double cycles;
  };
  constexpr std::string_view kSums = "hsum_f32x8 lane=k quantum=i:8,k:8 x=load_f32x8 out=store_f32";
  constexpr Row kTable[] = {
      {kSum, kSums, 8, 8, 5 + (9 + 22) / 2.0},
      {kSum, kSums, 4, 8, 5 + (5 + 11) / 2.0},
      {kSum, kSums, 3, 8, 5 + (4 + 11) / 2.0},
      {kSum, kSums, 2, 8, 5 + (3 + 12) / 2.0},
      {kSum, kSums, 1, 8, 5 + 4.5},  // latency
      {kMost, "hmax_f32x8 lane=k quantum=i:8,k:8 x=load_f32x8 out=store_f32", 8, 8,
       5 + (17 + 30) / 2.0},
      {kBf16, "hsum_f32x8 lane=k quantum=i:8,k:8 x=load_f32x8 out=store_bf16", 8, 8,
       5 + (9 + 86) / 2.0},
      {kLong, "hsum_f32x8 lane=k quantum=i:4,k:16 x=load_f32x8 out=store_f32", 4, 128,
       5 + 80 / 2.0 + 11 / 2.0},
  };
  for (const Row& row : kTable) {
    CAPTURE(row.spec);
    CAPTURE(row.rows);
    CHECK(cycles({row.spec, row.family, "avx2", {row.rows, row.columns}}, kL1) ==
          doctest::Approx(row.cycles));
  }
  constexpr std::string_view kProduct =
      "(a: f32[8,128], b: f32[12,128]): f32 = matmul(a, transpose(b))";
  constexpr double kSumsOfTwelve = 12 * 16 / 2, kFolds = 3 * 11 / 2.0, kShuffles = 3 * 7 / 2;
  CHECK(cycles({kProduct,
                "dot_f32x8 lane=k quantum=m:2,n:6,k:8 a=load_f32x8 b=load_f32x8 out=store_f32",
                "avx2",
                {2, 6, 128}},
               kL1) ==
        doctest::Approx(5 + kSumsOfTwelve + (kFolds + kShuffles / 2) / 2).epsilon(0.002));
}

// A store of 512 bits takes two cycles: those of a tile that are over in 24 are not seen, of longer
// ones three times what is longer, up to all of it, as is what stores take longer than a short sum.
// It is the same where the output is in a copy.
TEST_CASE("short stores of a tile overlap with the next leaf") {
  struct Row {
    std::string_view isa, lanes;
    i64 m, n, k;
    double sums, seen;
  };
  constexpr Row kTable[] = {
      {"avx2", "8", 6, 16, 64, 0.65 * 384 + 0.47 * 288, 0},
      {"avx2", "8", 8, 8, 64, 0.65 * 256 + 0.47 * 288, 0},
      {"avx512", "16", 12, 16, 64, 64 * 12, 0},
      {"avx512", "16", 13, 16, 64, 64 * 13, 3 * 2},
      {"avx512", "16", 15, 16, 64, 64 * 15, 3 * 6},
      {"avx512", "16", 9, 32, 64, 64 * 18, 36},
      {"avx512", "16", 12, 32, 64, 64 * 24, 48},
      {"avx512", "16", 12, 32, 4, 4 * 24, 48},
      {"avx512", "16", 12, 16, 1, 12, 24 - 12},
  };
  for (const Row& row : kTable) {
    CAPTURE(row.isa);
    CAPTURE(row.m);
    CAPTURE(row.k);
    const std::string text = fmt::format("(a: f32[{},{}], b: f32[{},{}]): f32 = matmul(a, b)",
                                         row.m, row.k, row.k, row.n);
    const std::string family = fmt::format(
        "fma_f32x{0} lane=n quantum=m:{1},n:{2} a=broadcast_f32x{0} b=load_f32x{0} "
        "out=store_f32x{0}",
        row.lanes, row.m, row.n);
    for (const int copied : {-1, 2})
      CHECK(cycles({text, family, row.isa, {row.m, row.n, row.k}, copied}, kL1) ==
            doctest::Approx(row.sums + row.seen + 5));
  }
}

// Eight rows whose lines come in turn where nobody asks: a leaf that sums for longer than L3 takes
// waits for 4 percent of its latency each, in what does not overlap with the sums. Not a single
// row, nor one that asks, nor one so short that stores of the next ones overlap.
TEST_CASE("rows that a leaf stores and did not ask for cost a part of the latency") {
  const KernelSpec k = spec("(a: f32[1000,512], b: f32[512,1000]): f32 = matmul(a, b)");
  const auto unasked = [&](std::string_view quantum, Extents extent, Level to) {
    const Family f = *parse_family(
        fmt::format(
            "fma_f32x16 lane=n quantum={} a=broadcast_f32x16 b=load_f32x16 out=store_f32x16",
            quantum),
        k.computation(), *find_isa("avx512"));
    const auto more = [&](i64 latency) {
      Machine machine = *load_machine("graniterapids");
      machine.levels[to].latency_millicycles = latency * 1000;
      const Space space({&k.computation(), &machine, f, 1});
      Spec s = space.problem().root();
      s.extent = extent;
      s.place[0].level = s.place[1].level = kL1;
      s.place[2].level = to;
      REQUIRE(space.leaf_covers(s));
      REQUIRE(space.asks_for_output(s));
      return std::pair(space.leaf(s, {}).as_cycles(),
                       space.leaf(s, {.ahead_operand = 2}).as_cycles());
    };
    const auto low = more(100), high = more(200);
    CHECK(low.second == high.second);
    return high.first - low.first;
  };
  CHECK(unasked("m:8,n:48", {8, 48, 64, 1, 1, 1}, kL3) == doctest::Approx(8 * 0.04 * 100));
  CHECK(unasked("m:8,n:48", {5, 48, 64, 1, 1, 1}, kL3) == doctest::Approx(5 * 0.04 * 100));
  CHECK(unasked("m:8,n:48", {8, 48, 4, 1, 1, 1}, kL3) == 0);
  CHECK(unasked("m:8,n:48", {8, 48, 64, 1, 1, 1}, kL2) == 0);
  CHECK(unasked("n:192", {1, 192, 64, 1, 1, 1}, kL3) == 0);
}

// Eight lines of L2 that stores wait for where nobody asks, if the machine says for how long:
// beside sums they do so while the next leaf computes, and to ask is not worth it. So do they where
// a view brings them nearer.
TEST_CASE("lines of L2 that a leaf stores and did not ask for") {
  const KernelSpec k = spec("(a: f32[206,64], b: f32[64,1164]): f32 = matmul(a, b)");
  const Family f = *parse_family(
      "fma_f32x8 lane=n quantum=m:2,n:48 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8",
      k.computation(), *find_isa("avx2"));
  const auto leaf = [&](i64 stored, i64 sum, bool asks) {
    Machine machine = *load_machine("graniterapids");
    machine.levels[kL2].stored_millicycles = stored;
    const Space space({&k.computation(), &machine, f, 1});
    Spec s = space.problem().root();
    s.extent = {2, 48, sum, 1, 1, 1};
    s.place[0].level = s.place[1].level = kL1;
    s.place[2].level = kL2;
    REQUIRE(space.region(s, 2).lines == 8);
    CHECK(space.view(s, 2).as_cycles() ==
          doctest::Approx(stored > 0 ? 8 * stored / 1000 : 8 * 1.6));
    REQUIRE(space.asks_for_output(s) == (stored > 0));
    return space.leaf(s, asks ? Call{.ahead_operand = 2} : Call{}).as_cycles();
  };
  CHECK(leaf(10'000, 1, false) == doctest::Approx(leaf(9000, 1, false) + 8));
  CHECK(leaf(10'000, 64, false) == doctest::Approx(leaf(9000, 64, false) + 0.4));
  CHECK(leaf(10'000, 1, true) == leaf(9000, 1, true));
  CHECK(leaf(0, 1, false) < leaf(4000, 1, true));
  CHECK(leaf(4000, 1, true) < leaf(4000, 1, false));
  CHECK(leaf(4000, 64, true) > leaf(4000, 64, false));
}

// Six rows of 1 KiB, each of which begins with 40 percent of the latency: apart, or one behind the
// other, which run on into each other.
TEST_CASE("arithmetic does not hide where rows that lie apart begin") {
  const auto leaf = [](i64 columns, i64 latency) {
    Machine machine = *load_machine("zen4");
    machine.levels[kL3].latency_millicycles = latency * 1000;
    const KernelSpec k =
        spec(fmt::format("(a: f32[6,{0}], b: f32[{0},16]): f32 = matmul(a, b)", columns));
    const Family f = *parse_family(
        "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8",
        k.computation(), *find_isa("avx2"));
    const Space space({&k.computation(), &machine, f, 1});
    Spec s = space.problem().root();
    s.extent = {6, 16, 256, 1, 1, 1};
    for (int o = 0; o < space.operands(); ++o) s.place[o].level = kL1;
    s.place[0].level = kL3;
    return space.leaf(s, {}).as_cycles();
  };
  CHECK(leaf(1024, 100) - leaf(1024, 50) == doctest::Approx(6 * 20));
  CHECK(leaf(256, 100) - leaf(256, 50) == doctest::Approx(6 * 20 / 5));
}

// 210 may wait: of eight steps of 12 and of 24 multiply-adds and one more, of rows of 4160 bytes,
// and of 32 steps.
TEST_CASE("leaves wait where rows begin that they sum, the more the more of them wait") {
  const auto waits = [](std::string_view family, i64 m, i64 n, i64 k, i64 columns = 1040) {
    Machine machine = *load_machine("zen5");
    const std::string spec =
        fmt::format("(a: f32[{},512], b: f32[512,{}]): f32 = matmul(a, b)", m, columns);
    const LeafOf leaf{spec, family, "avx512", {m, n, k}};
    const double with = cycles(leaf, kL3, machine);
    machine.levels[kL3].leaf_start_millicycles = 0;
    return with - cycles(leaf, kL3, machine);
  };
  constexpr std::string_view kRow =
      "fma_f32x16 lane=n quantum=n:192 a=broadcast_f32x16 b=load_f32x16 out=store_f32x16";
  constexpr std::string_view kTwo =
      "fma_f32x16 lane=n quantum=m:2,n:192 a=broadcast_f32x16 b=load_f32x16 out=store_f32x16";
  const auto part = [](double waiting) { return waiting * waiting / 210 / 210; };
  CHECK(waits(kRow, 1, 192, 8) == doctest::Approx(27 * part(8 * 13)).epsilon(0.0001));
  CHECK(waits(kTwo, 2, 192, 8) == doctest::Approx(27 * part(8 * 25)).epsilon(0.0001));
  CHECK(waits(kTwo, 2, 192, 32) == doctest::Approx(27));
  // Rows that crowd one another out of L1 wait for that meanwhile.
  CHECK(waits(kTwo, 2, 192, 32, 1024) == doctest::Approx(0));
}

// Four of bf16, of 4 and of 16 KiB, far apart and side by side.
TEST_CASE("long rows that lie far apart take as long as one stream") {
  Machine machine = *load_machine("zen4");
  const auto longer = [&](std::string_view apart, i64 k, i64 far_row_bytes) {
    const std::string spec =
        fmt::format("(a: bf16[1,{0}], b: bf16[{0},64] col): f32 = matmul(a, b)", k);
    const std::string family = fmt::format(
        "dot_f32x8 lane=k quantum=n:4,k:32{} a=load_bf16x8x2 b=load_bf16x8x2 out=store_f32", apart);
    const LeafOf leaf{spec, family, "avx2", {0, 4, k}};
    machine.far_row_bytes = 0;
    const double before = cycles(leaf, kMemory, machine);
    machine.far_row_bytes = far_row_bytes;
    return cycles(leaf, kMemory, machine) > before;
  };
  CHECK(!longer(" apart=n", 2048, 4097));
  CHECK(longer(" apart=n", 2048, 4096));
  CHECK(!longer(" apart=n", 8192, 16385));
  CHECK(longer(" apart=n", 8192, 8192));
  CHECK(!longer("", 8192, 8192));
}

// What rows of the ISA move, and what they leave; 5 for the call.
TEST_CASE("leaves that move") {
  struct Row {
    std::string_view spec, family;
    Extents extent;
    double cycles;
  };
  const Row kTable[] = {
      // By 8 x 4 elements, of what is left by 4 x 4 and by 2 x 4, three one by one.
      {"(x: f32[100,100]): f32 col = convert(x)",
       "i0:64,i1:64 x=load_f32 out=store_f32",
       {64, 64},
       5 + 4096 * 0.2},
      {"(x: f32[100,100]): f32 col = convert(x)",
       "i0:64,i1:64 x=load_f32 out=store_f32",
       {15, 4},
       5 + 56 * 0.2 + 4 * 0.7},
      {"(x: f32[100,100]): f32 col = convert(x)",
       "i0:64,i1:64 x=load_f32 out=store_f32",
       {8, 7},
       5 + 32 * 0.2 + 24 * 0.7},
      // Rows of three, whole and in part.
      {"(x: f32[4000,3]): f32 col = convert(x)",
       "i0:1344,i1:3 x=load_f32 out=store_f32",
       {96, 3},
       5 + 288 * 0.12},
      {"(x: f32[4000,3]): f32 col = convert(x)",
       "i0:1344,i1:3 x=load_f32 out=store_f32",
       {96, 2},
       5 + 192 * 0.7},
      // Runs of 80 bytes.
      {"(x: bf16[8,9,40]): bf16 order(1, 0, 2) = convert(x)",
       "i0:8,i1:9,i2:40 x=load_bf16 out=store_bf16",
       {8, 9, 40},
       5 + 72 * 3 * 1.1},
  };
  for (const Row& row : kTable) {
    CAPTURE(row.spec);
    CAPTURE(row.extent[0]);
    CAPTURE(row.extent[1]);
    const std::string family = fmt::format("move_f32 quantum={}", row.family);
    CHECK(cycles({row.spec, family, "avx2", row.extent}, kL1) == doctest::Approx(row.cycles));
  }
}

// A tile of a matrix of so many rows and columns, to columns.
double moved(int rows, int columns, Extents tile, Level level) {
  const std::string spec = fmt::format("(x: f32[{},{}]): f32 col = convert(x)", rows, columns);
  constexpr std::string_view kFamily = "move_f32 quantum=i0:64,i1:64 x=load_f32 out=store_f32";
  return cycles({spec, kFamily, "avx2", tile}, level);
}

// Sixteen lines that rows of 4 KiB put into one place of L1, in the source or the result.
TEST_CASE("leaves that move pay for rows that crowd one another out of L1") {
  const auto crowded = [](int rows, int columns, i64 side = 16) {
    return moved(rows, columns, {side, side}, kL2);
  };
  const double apart = crowded(1040, 1040), more = 16 * 14 / 2.0;
  CHECK(crowded(1024, 1040) == doctest::Approx(apart + more));
  CHECK(crowded(1040, 1024) == doctest::Approx(apart + more));
  CHECK(crowded(1024, 1024) == doctest::Approx(apart + 2 * more));
  CHECK(crowded(512, 512) == doctest::Approx(apart));
  // Rows of 2 KiB begin in two places, of 1 KiB in four.
  CHECK(crowded(512, 512, 64) == doctest::Approx(crowded(528, 528, 64) + 2 * 256 * 14 / 2.0 / 4));
  CHECK(crowded(256, 256, 64) == doctest::Approx(crowded(272, 272, 64) + 2 * 256 * 0.437));
}

// Rows of several lines: a core asks for those of many rows at once, as it computes nothing.
TEST_CASE("leaves that move wait less for rows in L3") {
  const auto a_line = [](Extents tile) {
    const i64 lines = 2 * tile[0] * tile[1] / 16;
    return (moved(1000, 1000, tile, kL3) - moved(1000, 1000, tile, kL1)) / lines;
  };
  CHECK(a_line({64, 64}) == doctest::Approx(3.72).epsilon(0.01));   // 9.85 if it computed
  CHECK(a_line({16, 16}) == doctest::Approx(13.45).epsilon(0.01));  // rows of one line
}

}  // namespace
}  // namespace morello
