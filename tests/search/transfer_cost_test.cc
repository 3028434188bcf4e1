// What leaves pay for operands that are not near: lines that come again, streams, rows, prefetches.

#include <array>
#include <tuple>
#include <utility>

#include "toy.h"

namespace morello {
namespace {

// What a leaf takes whose operands but one lie in L1, over what it takes if all do.
double slowed(std::string_view text, std::string_view family, std::string_view isa,
              const Machine& machine, int operand, Level level, const Extents& extent, Call call) {
  const KernelSpec k = spec(text);
  const Result<Family> f = parse_family(family, k.computation(), *find_isa(isa));
  REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
  const Space space({&k.computation(), &machine, *f, 1});
  Spec s = space.problem().root();
  for (size_t d = 0; d < k.computation().dims.size(); ++d)
    if (extent[d] > 0) s.extent[d] = extent[d];
  for (int o = 0; o < space.operands(); ++o) s.place[o].level = kL1;
  const double near = space.leaf(s, {}).as_cycles();
  s.place[operand].level = level;
  REQUIRE(space.leaf_covers(s));
  return space.leaf(s, call).as_cycles() / near;
}

// 14 rows and a stride of a page: all lines that a step needs are in one set, of 8 or 12 lines.
TEST_CASE("rows side by side in one set of L1 are brought again at every step") {
  struct Row {
    std::string_view machine;
    int columns, rows;
    bool again;
  };
  constexpr Row kRows[] = {
      {"zen4", 1024, 14, true},
      {"zen4", 1024, 7, false},
      {"zen4", 1024, 8, true},
      {"zen4", 1008, 14, false},
      {"zen4", 512, 14, false},
      {"zen4", 2048, 14, true},
      {"zen4", 16, 14, false},
      {"graniterapids", 1024, 14, true},
      {"graniterapids", 1024, 11, false},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.machine);
    CAPTURE(row.columns);
    CAPTURE(row.rows);
    Machine machine = *load_machine(std::string(row.machine));
    machine.core512->l2_overlap_percent = 95;  // hides what is prefetched, not these
    const double slower = slowed(
        fmt::format("(a: f32[14,{0}], b: f32[{0},32] packed): f32 = matmul(a, b)", row.columns),
        "fma_f32x16 lane=n quantum=m:14,n:32 a=broadcast_f32x16 b=load_f32x16 out=store_f32x16",
        "avx512", machine, 0, kL2, {row.rows}, {});
    CHECK(slower >= 1);
    CHECK((slower > 1.15) == row.again);
  }
}

TEST_CASE("what a leaf reads in one piece is followed, and what it asks for ahead of rows is not") {
  Machine machine = *load_machine("zen4");
  const auto panel = [&](i64 m, int k, Call call) {
    return slowed(
        fmt::format("(a: f32[6,{0}], b: f32[{0},16] packed): f32 = matmul(a, b)", k),
        "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8", "avx2",
        machine, 1, kL3, {m}, call);
  };
  const Call ahead = {.ahead_operand = 1, .ahead_bytes = 8192};
  CHECK(panel(1, 48, {}) > 1.5 * panel(1, 64, {}));  // 3072 and 4096 bytes
  CHECK(panel(1, 1024, {}) < panel(1, 1024, ahead));
  CHECK(panel(6, 1024, {}) > panel(6, 1024, ahead));  // twelve multiply-adds a line
  machine.levels[kL3].stream_millicycles = 0;
  CHECK(panel(1, 1024, {}) > panel(1, 1024, ahead));
  const auto rows = [&](i64 n, Call call) {
    return slowed("(a: f32[1,1024], b: f32[8,1024]): f32 = matmul(a, transpose(b))",
                  "dot_f32x8 lane=k quantum=n:6,k:16 a=load_f32x8 b=load_f32x8 out=store_f32",
                  "avx2", machine, 1, kMemory, {0, n}, call);
  };
  // Rows of 4 KiB, one after the other, two rows ahead; six at once, each a part of a row ahead;
  // and as many as are read at once, or other rows that are being read.
  const auto asked = [](i64 bytes) { return Call{.ahead_operand = 1, .ahead_bytes = bytes}; };
  CHECK(rows(1, asked(8192)) > rows(1, {}));  // which comes by itself
  machine.levels[kMemory].stream_millicycles = 0;
  CHECK(rows(1, asked(8192)) < rows(1, {}));
  CHECK(rows(1, asked(8192)) < rows(1, asked(4096)));
  CHECK(rows(6, asked(1344)) < rows(6, {}));
  CHECK(rows(6, asked(1344)) < rows(6, asked(448)));
  CHECK(rows(6, asked(8192)) > rows(6, {}));
  CHECK(rows(6, asked(4096)) > rows(6, asked(8192)));
}

TEST_CASE("rows that crowd each other out of L1 cost more than rows that do not") {
  // The stride of b, elements: of rows that a leaf reads one after the other along the reduction.
  struct Row {
    i64 stride, k;
    bool crowded;
  };
  for (const Row& row : {Row{2064, 32, false},
                         {2048, 12, false},
                         {2048, 16, true},
                         {2048, 32, true},
                         {512, 16, false},
                         {512, 32, true}}) {
    CAPTURE(row.stride);
    CAPTURE(row.k);
    const auto leaf = [&](i64 stride) {
      return slowed(fmt::format("(a: f32[4,256], b: f32[256,{}]): f32 = matmul(a, b)", stride),
                    "fma_f32x8 lane=n quantum=m:4,n:16 a=broadcast_f32x8 b=load_f32x8 "
                    "out=store_f32x8",
                    "avx2", *load_machine("zen5"), 1, kL2, {4, 16, row.k}, {});
    };
    CHECK((leaf(row.stride) > leaf(row.stride + 16)) == row.crowded);
  }
}

// 32 rows, a page apart and one line more.
TEST_CASE("long rows of L2 and L3 crowd each other out for less than short ones") {
  Machine machine = *load_machine("zen5");
  for (LevelDesc& level : machine.levels) level.leaf_start_millicycles = 0;
  const auto more = [&](int vectors, Level from) {
    const auto leaf = [&](i64 stride) {
      return slowed(fmt::format("(a: f32[1,256], b: f32[256,{}]): f32 = matmul(a, b)", stride),
                    "fma_f32x16 lane=n quantum=n:192 a=broadcast_f32x16 b=load_f32x16 "
                    "out=store_f32x16",
                    "avx512", machine, 1, from, {1, 16 * vectors, 32}, {});
    };
    return leaf(1024) / leaf(1040);
  };
  for (Level from : {kL2, kL3}) {
    CHECK(more(2, from) > more(4, from));
    CHECK(more(4, from) > more(8, from));
    CHECK(more(12, from) < 1.1);
  }
  CHECK(more(12, kMemory) > 1.2);
}

// Shares of the default costs, for machines whose arithmetic hides more.
TEST_CASE("lines from L2 and crowded rows cost less where a machine says so") {
  const auto leaf = [](i64 stride, Level from, int overlap, int crowded) {
    Machine machine = *load_machine("zen5");
    machine.core.l2_overlap_percent = overlap;
    machine.crowded_percent = crowded;
    return slowed(fmt::format("(a: f32[4,256], b: f32[256,{}]): f32 = matmul(a, b)", stride),
                  "fma_f32x8 lane=n quantum=m:4,n:16 a=broadcast_f32x8 b=load_f32x8 "
                  "out=store_f32x8",
                  "avx2", machine, 1, from, {4, 16, 64}, {});
  };
  CHECK(leaf(2064, kL2, 80, 0) == leaf(2064, kL2, 0, 0));
  CHECK(leaf(2064, kL2, 90, 0) < leaf(2064, kL2, 80, 0));
  CHECK(leaf(2064, kL2, 100, 0) < leaf(2064, kL2, 90, 0));
  CHECK(leaf(2064, kL3, 100, 0) == leaf(2064, kL3, 0, 0));
  CHECK(leaf(2064, kL2, 0, 25) == leaf(2064, kL2, 0, 0));
  CHECK(leaf(2048, kL2, 0, 100) == leaf(2048, kL2, 0, 0));
  CHECK(leaf(2048, kL2, 0, 50) < leaf(2048, kL2, 0, 0));
  CHECK(leaf(2048, kL2, 0, 25) < leaf(2048, kL2, 0, 50));
  CHECK(leaf(2048, kL2, 0, 1) >= leaf(2064, kL2, 0, 0));
}

// Of what comes as a stream; the other key says nothing of that, nor this one of what comes from
// elsewhere.
TEST_CASE("streams from L3 hide more where a machine says so") {
  const auto leaf = [](std::string_view b, Level from, int overlap, int l2_overlap = 0) {
    Machine machine = *load_machine("zen4");
    machine.core.l3_overlap_percent = machine.core.l2_overlap_percent = 0;
    machine.core512->l3_overlap_percent = overlap;
    machine.core512->l2_overlap_percent = l2_overlap;
    return slowed(fmt::format("(a: f32[8,512], b: {}): f32 = matmul(a, b)", b),
                  "fma_f32x16 lane=n quantum=m:8,n:48 a=broadcast_f32x16 b=load_f32x16 "
                  "out=store_f32x16",
                  "avx512", machine, 1, from, {8, 48, 512}, {});
  };
  const std::string_view packed = "f32[512,48] packed", rows = "f32[512,1072]";
  CHECK(leaf(packed, kL3, 80) == leaf(packed, kL3, 0));
  CHECK(leaf(packed, kL3, 90) < leaf(packed, kL3, 80));
  CHECK(leaf(packed, kL3, 100) < leaf(packed, kL3, 90));
  CHECK(leaf(packed, kL3, 100) == doctest::Approx(1));  // it takes less than the arithmetic
  CHECK(leaf(packed, kL3, 0, 100) == leaf(packed, kL3, 0));
  CHECK(leaf(packed, kL2, 100) == leaf(packed, kL2, 0));
  CHECK(leaf(packed, kMemory, 100) == leaf(packed, kMemory, 0));
  CHECK(leaf(rows, kL3, 100) == leaf(rows, kL3, 0));
}

// Rows of the output one below the other: a leaf that sums for so long has asked for them in time.
TEST_CASE("where the output begins anew, leaves that ask for it wait for what they do not last") {
  const KernelSpec k = spec("(a: f32[2048,2048], b: f32[2048,2048]): f32 = matmul(a, b)");
  const Family f = *parse_family(
      "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8",
      k.computation(), *find_isa("avx2"));
  const auto step = [&](i64 sum, Level to, bool asks) {
    Machine machine = *load_machine("zen4");
    if (!asks) machine.prefetch_bytes = 0;
    const Space space({&k.computation(), &machine, f, 1});
    Spec s = space.problem().root();
    s.extent = {48, 16, sum, 1, 1, 1};
    s.place[0].level = s.place[1].level = kL1;
    s.place[2].level = to;
    REQUIRE(space.asks_for_output(s) == asks);
    return Steps(space, s).at(0, 6).as_cycles();
  };
  for (const Level to : {kL3, kMemory}) CHECK(step(256, to, true) == 0);
  CHECK(step(32, kL3, true) == 0);
  CHECK(step(32, kMemory, true) > 0);  // 192 cycles, of which memory takes twice as many
  CHECK(step(32, kMemory, true) < step(16, kMemory, true));
  CHECK(step(1, kL3, true) > 0.8 * step(1, kL3, false));
  CHECK(step(1, kL3, true) < step(1, kL3, false));
  CHECK(step(256, kMemory, false) == step(1, kMemory, false));
}

// What the leaf reads of b is one piece of memory in each case.
TEST_CASE("what lies in memory comes by itself in whole rows, and not too fast for it") {
  struct Row {
    std::string_view spec, family, isa;
    i64 n, k;  // of a leaf
    bool by_itself;
  };
  constexpr std::string_view kRow =
      "dot_f32x8 lane=k quantum=k:64 a=load_f32x8 b=load_f32x8 out=store_f32";
  constexpr std::string_view kPanel =
      "dp_bf16x32 lane=n quantum=n:128,k:2 a=broadcast_pair_bf16x16x2 b=load_pairs_bf16x16x2 "
      "out=store_f32x16";
  constexpr std::string_view kWidened =
      "fma_f32x16 lane=n quantum=n:128 a=broadcast_bf16x16 b=load_bf16x16x2 out=store_f32x16";
  constexpr Row kRows[] = {
      {"(a: f32[1,4096], b: f32[8,4096]): f32 = matmul(a, transpose(b))", kRow, "avx2", 1, 4096,
       true},
      {"(a: f32[1,8192], b: f32[8,8192]): f32 = matmul(a, transpose(b))", kRow, "avx2", 1, 4096,
       false},
      {"(a: f32[1,65536], b: f32[8,65536]): f32 = matmul(a, transpose(b))", kRow, "avx2", 1, 32768,
       true},
      {"(a: f32[1,512], b: f32[8,512]): f32 = matmul(a, transpose(b))", kRow, "avx2", 1, 512,
       false},
      // A line for every instruction, and for two.
      {"(a: bf16[1,512], b: bf16[512,512] packed): f32 = matmul(a, b)", kPanel, "avx512_bf16", 128,
       512, false},
      {"(a: bf16[1,512], b: bf16[512,512] packed): f32 = matmul(a, b)", kWidened, "avx512_bf16",
       128, 512, true},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.spec);
    Machine machine = *load_machine("zen4");
    const auto time = [&] {
      return slowed(row.spec, row.family, row.isa, machine, 1, kMemory, {0, row.n, row.k}, {});
    };
    const double streamed = time();
    machine.levels[kMemory].stream_millicycles = 0;
    CHECK((time() > streamed) == row.by_itself);
  }
}

TEST_CASE("few long rows side by side are followed, and pieces of what is not summed") {
  constexpr std::string_view kRows =
      "(a: f32[1,8192], b: f32[16,8192]): f32 = matmul(a, transpose(b))";
  constexpr std::string_view kElements = "(x: f32[4096]): f32 = max(x, 0)";
  struct Row {
    std::string_view spec, family;
    int operand;
    Level from;
    Extents leaf;
    bool followed;
  };
  constexpr std::string_view kEight =
      "dot_f32x8 lane=k quantum=n:8,k:8 a=load_f32x8 b=load_f32x8 out=store_f32";
  constexpr std::string_view kTwelve =
      "dot_f32x8 lane=k quantum=n:12,k:8 a=load_f32x8 b=load_f32x8 out=store_f32";
  constexpr std::string_view kMap = "map_f32x8 lane=i quantum=i:96 x=load_f32x8 out=store_f32x8";
  const Row kTable[] = {
      {kRows, kEight, 1, kL3, {0, 8, 256}, true},
      {kRows, kEight, 1, kL3, {0, 8, 248}, false},
      {kRows, kEight, 1, kL3, {0, 2, 256}, true},
      {kRows, kTwelve, 1, kL3, {0, 12, 256}, false},
      {kRows, kTwelve, 1, kL3, {0, 8, 256}, true},
      {kRows, kEight, 1, kMemory, {0, 8, 4096}, true},
      {kRows, kEight, 1, kMemory, {0, 8, 4088}, false},
      {kElements, kMap, 0, kL3, {96}, true},
      {kElements, kMap, 0, kMemory, {64}, true},
      {kElements, kMap, 0, kL3, {56}, false},
  };
  for (const Row& row : kTable) {
    CAPTURE(row.family);
    CAPTURE(row.leaf[0]);
    CAPTURE(row.leaf[1]);
    CAPTURE(row.leaf[2]);
    Machine machine = *load_machine("zen4");
    const auto time = [&] {
      return slowed(row.spec, row.family, "avx2", machine, row.operand, row.from, row.leaf, {});
    };
    const double followed = time();
    machine.levels[row.from].stream_millicycles = 0;
    CHECK((time() > followed) == row.followed);
  }
}

// 74 KiB of b from memory, which take less than six rows of multiply-adds and more than one.
TEST_CASE("what is asked for ahead from memory overlaps as far as the machine says") {
  Machine machine = *load_machine("zen4");
  const auto panel = [&](int rows, Level level, int percent) {
    machine.asked_overlap_percent = percent;
    return slowed(
        "(a: f32[6,2304], b: bf16[2304,16] packed): f32 = matmul(a, b)",
        "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_bf16x8_crowded out=store_f32x8",
        "avx2", machine, 1, level, {rows},
        {.ahead_operand = 1, .ahead_bytes = 8192, .ahead_to = kL2});
  };
  const auto shown = [&](int rows, int percent) {
    return panel(rows, kMemory, percent) - panel(rows, kMemory, 98);
  };
  CHECK(panel(6, kMemory, 98) < 1.05);
  CHECK(panel(6, kMemory, 0) == panel(6, kMemory, 98));
  CHECK(panel(6, kMemory, 75) > 1.1);
  for (const int rows : {1, 6})
    CHECK(shown(rows, 50) / shown(rows, 74) == doctest::Approx(2).epsilon(0.01));
  CHECK(panel(6, kL3, 50) == panel(6, kL3, 98));
}

// Eight rows of 288 lines from memory, which overlap with arithmetic where they are asked for.
TEST_CASE("rows side by side cost what the machine says, asked for or not") {
  Machine machine = *load_machine("zen4");
  machine.four_streams_percent = 0;
  LevelDesc& memory = machine.levels[kMemory];
  const KernelSpec k = spec("(a: bf16[1,9216], b: bf16[2304,9216]): f32 = matmul(a, transpose(b))");
  const Result<Family> f = parse_family(
      "dot_f32x8 lane=k quantum=n:8,k:16 a=load_bf16x8x2 b=load_bf16x8x2 out=store_f32",
      k.computation(), *find_isa("avx2"));
  REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
  const auto leaf = [&](i64 ahead) {
    const Space space({&k.computation(), &machine, *f, 1});
    Spec s = space.problem().root();
    s.extent[1] = 8;
    for (int o = 0; o < space.operands(); ++o) s.place[o].level = kL1;
    s.place[1].level = kMemory;
    const Call call{.ahead_operand = ahead > 0 ? 1 : -1,
                    .ahead_bytes = ahead,
                    .ahead_to = ahead > 0 ? kL2 : kL1};
    return static_cast<i64>(space.leaf(s, call).value());
  };
  constexpr i64 kNext = 8 * 9216 * 2, kLines = 8 * 288;
  memory.rows_millicycles = 0;
  const i64 streams = leaf(0);
  memory.rows_millicycles = memory.stream_millicycles + 2'000;
  CHECK(leaf(0) - streams == kLines * 2'000);
  memory.rows_millicycles = memory.stream_millicycles - 1'000;  // no less than streams
  CHECK(leaf(0) == streams);
  memory.next_rows_millicycles = 8'000;
  const i64 next = leaf(kNext);
  memory.next_rows_millicycles = 10'000;
  CHECK(leaf(kNext) - next == kLines * 2'000);
  machine.asked_overlap_percent = 50;  // is of what is asked for within a row
  CHECK(leaf(kNext) - next == kLines * 2'000);
  machine.asked_overlap_percent = 0;
  const i64 elsewhere = leaf(kNext / 2);
  memory.next_rows_millicycles = 0;
  CHECK(leaf(kNext / 2) == elsewhere);  // no other distance is meant
  memory.next_rows_millicycles = 8'000;
  memory.latency_millicycles += 100'000;
  CHECK(leaf(kNext) - next == 8 * 50'000);  // half of it for every row
}

// Rows apart run on from leaf to leaf, however short they are; parts of them do not.
TEST_CASE("rows far apart are streams that go on") {
  Machine machine = *load_machine("zen3");
  for (const Level from : {kL3, kMemory})
    for (const i64 k : {128, 1024, 16384}) {
      CAPTURE(from);
      CAPTURE(k);
      const std::string text =
          fmt::format("(a: f32[1,{0}], b: f32[32,{0}]): f32 = matmul(a, transpose(b))", k);
      const auto time = [&](std::string_view apart, i64 part, i64 ahead) {
        return slowed(text,
                      fmt::format("dot_f32x8 lane=k quantum=n:4,k:16{} a=load_f32x8 b=load_f32x8 "
                                  "out=store_f32",
                                  apart),
                      "avx2", machine, 1, from, {0, 4, part},
                      {.ahead_operand = ahead > 0 ? 1 : -1, .ahead_bytes = ahead});
      };
      CHECK(time(" apart=n", k, 0) < time("", k, 0));
      CHECK(time(" apart=n", k, 1024) <= time("", k, 1024));
      CHECK(time(" apart=n", k / 2, 0) == time("", k / 2, 0));
    }
}

// Eight rows of b along the reduction, a piece of each: the loop along them goes on, one to other
// rows begins anew unless all of them is read before.
TEST_CASE("pieces of few rows are streams that loops break off") {
  Machine machine = *load_machine("zen3");
  const KernelSpec k = spec("(a: f32[1,512], b: f32[512,8192]): f32 = matmul(a, b)");
  const Family f =
      *parse_family("fma_f32x8 lane=n quantum=n:64 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8",
                    k.computation(), *find_isa("avx2"));
  const Level from = kMemory;
  LevelDesc& level = machine.levels[from];
  SUBCASE("which cost what rows do") {}
  SUBCASE("which have a cost of their own")
  std::swap(level.row_millicycles, level.piece_millicycles);
  i64& row = level.row_millicycles > 0 ? level.row_millicycles : level.piece_millicycles;
  const auto leaf = [&](i64 n, i64 rows) {
    const Space space({&k.computation(), &machine, f, 1});
    Spec s = space.problem().root();
    s.extent = {1, n, rows, 1, 1, 1};
    s.place[0].level = s.place[2].level = kL1;
    return space.leaf(s, {}).as_cycles();
  };
  const auto step = [&](i64 n, i64 rows, int dim, i64 tile) {
    const Space space({&k.computation(), &machine, f, 1});
    Spec s = space.problem().root();
    s.extent = {1, n, rows, 1, 1, 1};
    s.place[0].level = s.place[2].level = kL1;
    return Steps(space, s).at(dim, tile).as_cycles();
  };
  const int n = 1, sum = 2;
  REQUIRE(k.computation().dims[n].name == "n");
  REQUIRE(k.computation().dims[sum].name == "k");
  struct Row {
    i64 columns, rows;
    bool streams;
  };
  for (const Row& r : {Row{64, 8, true},
                       {16, 8, true},
                       {64, 2, true},
                       {64, 1, false},
                       {8, 8, false},
                       {64, 16, false}}) {
    CAPTURE(r.columns);
    CAPTURE(r.rows);
    const double streams = leaf(r.columns, r.rows);
    const i64 before = std::exchange(row, 0);  // it is not known that they are
    CHECK((streams < leaf(r.columns, r.rows)) == r.streams);
    row = before;
  }
  const auto broken = [&](i64 columns, i64 rows, int dim, i64 tile) {
    const double all = step(columns, rows, dim, tile);
    const i64 before = std::exchange(row, 0);
    const double begins = step(columns, rows, dim, tile);
    row = before;
    return all - begins;
  };
  CHECK(broken(8192, 8, n, 64) == 0);
  CHECK(broken(8192, 512, sum, 8) == 0);
  CHECK(broken(64, 512, sum, 8) == doctest::Approx(8 * 30));
  CHECK(broken(64, 512, sum, 32) == 0);  // no streams in any case
}

TEST_CASE("a row-major matrix that few rows meet is read in pieces of its rows") {
  const Machine machine = *load_machine("zen3");
  const auto program = [&](std::string_view text) {
    const KernelSpec k = spec(text);
    const Optimum o = found(optimize(k, machine, *find_isa("avx2"), {}));
    return print(o.problem, *o.impl);
  };
  for (const char* text : {"(a: f32[1,2048], b: f32[2048,4096]): f32 = matmul(a, b)",
                           "(a: bf16[4,2048], b: bf16[2048,4096]): f32 = matmul(a, b)",
                           "(x: f32[4096,4096]): f32 = reduce_sum(x, axis=0)"}) {
    const std::string nest = program(text);
    CAPTURE(nest);
    CHECK(nest.find("split k by 8\n") != std::string::npos);
    CHECK(nest.find("copy b") == std::string::npos);
    CHECK(nest.find("copy x") == std::string::npos);
  }
  // Many rows share a copy of it, and there is no such tile.
  const KernelSpec many = spec("(a: f32[64,2048], b: f32[2048,4096]): f32 = matmul(a, b)");
  for (const Family& f : families(many.computation(), *find_isa("avx2"))) {
    const Space space({&many.computation(), &machine, f, 1});
    const std::vector<i64>& tiles = space.tiles(2);
    CAPTURE(f.str(many.computation()));
    if (f.quantum[2] < 8 && f.quantum[0] < 32) CHECK(tiles.front() >= 32);
  }
}

TEST_CASE("rows are read far apart where streams are known to be faster") {
  const auto family = [](std::string_view text, const Machine& machine) {
    const KernelSpec k = spec(text);
    const Optimum o = found(optimize(k, machine, *find_isa("avx2"), {}));
    return o.problem.family.str(k.computation());
  };
  const std::string_view far = "(a: bf16[1,1152], b: bf16[1152,6912] col): f32 = matmul(a, b)";
  const std::string_view near = "(a: bf16[1,64], b: bf16[64,256] col): f32 = matmul(a, b)";
  Machine machine = *load_machine("zen3");
  CHECK(family(far, machine).find(" apart=n") != std::string::npos);
  CHECK(family(near, machine).find(" apart=n") == std::string::npos);
  machine.four_streams_percent = 0;
  CHECK(family(far, machine).find(" apart=n") == std::string::npos);
}

// 128 rows of b, in so many columns, copied to panels of 16.
TEST_CASE("copies read whole rows as a stream, and short rows one after the other") {
  const KernelSpec k = spec("(a: f32[6,128], b: f32[128,2048]): f32 = matmul(a, b)");
  const Result<Family> f = parse_family(
      "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8",
      k.computation(), *find_isa("avx2"));
  REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
  struct Row {
    Level from;
    i64 columns;
    bool streams, starts;
  };
  for (const Row& row : {Row{kMemory, 2048, true, false},
                         {kMemory, 1024, false, true},
                         {kMemory, 16, false, true},
                         {kL3, 2048, true, false},
                         {kL3, 256, true, false},
                         {kL3, 128, false, true}}) {
    CAPTURE(row.from);
    CAPTURE(row.columns);
    Machine machine = *load_machine("zen3");
    LevelDesc& level = machine.levels[row.from];
    const auto time = [&](bool copy) {
      const Space space({&k.computation(), &machine, *f, 1});
      Spec s = space.problem().root();
      s.extent[1] = row.columns;
      s.place[1].level = row.from;
      return (copy ? space.copy(s, 1, kL2) : space.view(s, 1)).as_cycles();
    };
    level.row_millicycles = 1;
    const std::array before = {time(true), time(false)};
    level.row_millicycles = 100'000;
    CHECK(time(true) - before[0] == doctest::Approx(row.starts ? 128 * 100 : 0));
    // By the rows of leaves, whatever its own are.
    CHECK(time(false) - before[1] == doctest::Approx(row.columns / 16 * 128 * 100));
    level.row_millicycles = 1;
    level.stream_millicycles = 1;
    CHECK((time(true) < before[0]) == row.streams);
    CHECK(time(false) == before[1]);
    level.row_millicycles = 0;  // where that is not known, no copy is
    CHECK((time(true) > before[0]) == row.streams);
  }
}

// What is packed ahead of time, whether asked for or not, and rows of which several are read at
// once.
TEST_CASE("several streams take what the machine says of one") {
  Machine machine = *load_machine("zen3");
  REQUIRE(machine.four_streams_percent > 0);
  machine.levels[kL3].streams_percent = 0;
  const auto panel = [&](int streams, Level from, i64 ahead) {
    return slowed("(a: bf16[1,4096], b: bf16[4096,256] packed): f32 = matmul(a, b)",
                  fmt::format("fma_f32x8 lane=n quantum=n:64{} a=broadcast_bf16x8 b=load_bf16x8x2 "
                              "out=store_f32x8",
                              streams > 1 ? fmt::format(" streams={}", streams) : ""),
                  "avx2", machine, 1, from, {0, 64, 4096},
                  {.ahead_operand = ahead > 0 ? 1 : -1, .ahead_bytes = ahead});
  };
  const auto rows = [&](i64 n) {
    return slowed("(a: f32[1,65536], b: f32[8,65536]): f32 = matmul(a, transpose(b))",
                  "dot_f32x8 lane=k quantum=n:8,k:8 a=load_f32x8 b=load_f32x8 out=store_f32",
                  "avx2", machine, 1, kMemory, {0, n, 65536}, {});
  };
  const auto falls = [&](auto time, int two, int four) {
    const std::array before = {machine.two_streams_percent, machine.four_streams_percent};
    const double all = time();
    machine.two_streams_percent = two;
    machine.four_streams_percent = four;
    const double fewer = time();
    std::tie(machine.two_streams_percent, machine.four_streams_percent) =
        std::tie(before[0], before[1]);
    return fewer < all;
  };
  for (const Level from : {kL3, kMemory})
    for (const i64 ahead : {0, 1024}) {
      CAPTURE(from);
      CAPTURE(ahead);
      i64& shared = machine.levels[from].shared_line_millicycles;
      shared = 1;
      CHECK(!falls([&] { return panel(1, from, ahead); }, 40, 30));
      CHECK(falls([&] { return panel(2, from, ahead); }, 40, 65));
      CHECK(!falls([&] { return panel(2, from, ahead); }, 80, 30));
      CHECK(falls([&] { return panel(4, from, ahead); }, 80, 30));
      int& least = machine.levels[from].streams_percent;
      const int before = std::exchange(least, 80);  // no more than this is gained from there
      CHECK(!falls([&] { return panel(4, from, ahead); }, 80, 30));
      least = before;
      shared = 1'000'000;  // what cores share bounds many streams as it does one
      CHECK(!falls([&] { return panel(4, from, ahead); }, 80, 30));
      shared = 1;
    }
  CHECK(falls([&] { return rows(2); }, 40, 65));
  CHECK(falls([&] { return rows(8); }, 80, 30));
  machine.four_streams_percent = 0;  // rows side by side are no streams then
  CHECK(!falls([&] { return rows(2); }, 40, 0));
}

}  // namespace
}  // namespace morello
