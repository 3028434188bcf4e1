// What copies take.

#include <utility>

#include "toy.h"

namespace morello {
namespace {

Family avx2_family(const KernelSpec& k, const std::string& text) {
  Result<Family> f = parse_family(text, k.computation(), *find_isa("avx2"));
  REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
  return std::move(*f);
}

// In L1, of x. Rows of a few elements that follow one another are one run, of which rows of the ISA
// make columns; a part of each row is none. Of long rows they take four columns at least.
TEST_CASE("copies of rows of a few elements") {
  struct Row {
    int columns;
    Extents tile;
    double element;
  };
  for (const Row& row : {Row{2, {96, 2}, 0.12},
                         {2, {96, 1}, 0.7},
                         {3, {96, 3}, 0.12},
                         {3, {96, 2}, 0.7},
                         {4, {96, 4}, 0.12},
                         {4, {96, 3}, 0.7},
                         {20, {96, 20}, 0.2},
                         {20, {96, 4}, 0.2},
                         {20, {96, 3}, 0.7}}) {
    CAPTURE(row.columns);
    CAPTURE(row.tile[1]);
    const Machine machine = *load_machine("zen4");
    const KernelSpec k = spec(
        fmt::format("(x: f32[4000,{0}], y: f32[{0},4000]): f32 = x + transpose(y)", row.columns));
    const Family f =
        avx2_family(k, "map_f32x8 lane=i0 quantum=i0:96 x=load_f32x8 y=load_f32x8 out=store_f32x8");
    const Space space({&k.computation(), &machine, f, 1});
    Spec s = space.problem().root();
    for (int d = 0; d < 2; ++d) s.extent[d] = row.tile[d];
    for (int o = 0; o < space.operands(); ++o) s.place[o].level = kL1;
    const double elements = static_cast<double>(row.tile[0] * row.tile[1]);
    CHECK(space.copy(s, 0, kL1).as_cycles() == doctest::Approx(4 + elements * row.element));
  }
}

// In L1, of x, channels first. In steps of one windows are runs, in steps of two an even/odd split,
// which rows of the ISA do, but for windows of one and of three elements.
TEST_CASE("copies of windows, by rows or element by element") {
  struct Row {
    int step, taps;
    double element;
  };
  for (const Row& row :
       {Row{1, 3, 1.1 / 8}, {2, 1, 0.7}, {2, 2, 0.12}, {2, 3, 0.7}, {2, 5, 0.12}, {3, 3, 0.12}}) {
    CAPTURE(row.step);
    CAPTURE(row.taps);
    const Machine machine = *load_machine("zen3");
    const KernelSpec k = spec(
        fmt::format("(x: f32[1,117,117,96] order(0, 3, 1, 2), k: f32[5,5,1,96] packed): "
                    "f32[1,{0},{0},96] order(0, 3, 1, 2) = conv2d(x, k, stride={1}, groups=96)",
                    (117 - 5) / row.step + 1, row.step));
    const Family f = avx2_family(
        k,
        "fma_f32x8 lane=w quantum=h:8,w:8 taps=r:5 x=load_f32x8 k=broadcast_f32x8 out=store_f32x8");
    const Space space({&k.computation(), &machine, f, 1});
    Spec s = space.problem().root();
    i64 elements = 1;
    for (int d = 0; d < space.dims(); ++d) {
      const std::string& name = space.computation().dims[static_cast<size_t>(d)].name;
      s.extent[d] = name == "h" || name == "w" ? 8 : name == "s" ? row.taps : 1;
      elements *= s.extent[d];
    }
    for (int o = 0; o < space.operands(); ++o) s.place[o].level = kL1;
    const double all = static_cast<double>(elements);
    CHECK(space.copy(s, 0, kL1).as_cycles() == doctest::Approx(4 + all * row.element));
  }
}

// Whole rows of a matrix are a stream where the machine says what short ones cost; of windows the
// parts of a copy are far apart in as long rows.
TEST_CASE("copies of windows wait for their lines") {
  const Machine machine = *load_machine("zen3");
  const KernelSpec k = spec(
      "(x: f32[1,75,75,96], k: f32[3,3,1,96] packed): f32[1,37,37,96] = conv2d(x, k, stride=2, "
      "groups=96)");
  const Family f = avx2_family(
      k, "fma_f32x8 lane=g quantum=w:4,g:16 taps=s:3 x=load_f32x8 k=load_f32x8 out=store_f32x8");
  const Space space({&k.computation(), &machine, f, 1});
  Spec s = space.problem().root();
  for (int d = 0; d < space.dims(); ++d)
    if (const std::string& name = space.computation().dims[static_cast<size_t>(d)].name;
        name == "h" || name == "w")
      s.extent[d] = name == "h" ? 1 : 4;
  const auto from = [&](Level level) {
    s.place[0].level = level;
    return space.copy(s, 0, kL1).as_cycles();
  };
  const Region r = space.region(s, 0);
  REQUIRE(r.row_bytes == 9 * 96 * 4);
  CHECK(from(kL3) - from(kL1) ==
        doctest::Approx(static_cast<double>(r.lines * machine.levels[kL3].line_millicycles) / 1e3));
}

// In L1, of the result, whose columns the copy has as rows. What is rounded on the way goes by
// itself.
TEST_CASE("copies of results that are rounded") {
  for (const auto& [type, element] :
       {std::pair{"f32", 0.2}, std::pair{"f16", 0.7}, std::pair{"bf16", 2.4}}) {
    CAPTURE(type);
    const Machine machine = *load_machine("zen4");
    const KernelSpec k = spec(fmt::format("(x: f32[64,48]): {} col = convert(x)", type));
    const Family f = avx2_family(
        k, fmt::format("map_f32x8 lane=i1 quantum=i1:48 x=load_f32x8 out=store_{}x8", type));
    const Space space({&k.computation(), &machine, f, 1});
    Spec s = space.problem().root();
    for (int o = 0; o < space.operands(); ++o) s.place[o].level = kL1;
    CHECK(space.copy(s, 1, kL1).as_cycles() == doctest::Approx(4 + 64 * 48 * element));
  }
}

TEST_CASE("what leaves ask for comes beside arithmetic, as far as there is any") {
  // 32 rows of 2 lines of b, 8 KiB apart in memory; leaves of 2 cycles a row of `a` and row of b.
  Machine machine = toy_machine();
  LevelDesc& memory = machine.levels[kMemory];
  memory.line_millicycles = 20'000;
  memory.prefetched_millicycles = 14'000;
  memory.shared_line_millicycles = 9'000;
  memory.shared_by = 2;
  memory.asked_by_leaves_millicycles = 4'000;
  const auto asked = [&](i64 m, int threads) {
    const KernelSpec k = spec("(a: f32[60,64], b: f32[64,2048]): f32 = matmul(a, b)");
    const Family f = avx2_family(
        k, "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8");
    const Space space({&k.computation(), &machine, f, threads});
    Spec s = space.problem().root();
    s.extent[0] = m;
    s.extent[1] = s.extent[2] = 32;
    s.place[1] = {kMemory, false};
    return static_cast<i64>(space.asked_copy(s, 1, kL2).value());
  };
  const i64 plenty = asked(60, 1);
  CHECK(asked(1, 1) - plenty == (64 * 14'500 - 64'000) - 64 * 4'500);
  CHECK(asked(60, 2) == plenty);  // two share what is less than the arithmetic
  CHECK(asked(1, 2) - asked(1, 1) == 64 * (2 * 9'000 - 14'000));
  memory.row_millicycles = 30'000;
  CHECK(asked(60, 1) - plenty == 32 * 30'000);
  memory.row_millicycles = 0;
  const i64 bare = asked(1, 1);
  memory.asked_copy_millicycles = 4'000;
  memory.asked_by_leaves_millicycles = 0;  // the copy asks, beside the same arithmetic
  CHECK(asked(60, 1) == plenty);
  CHECK(asked(1, 1) == bare);
  memory.asked_copy_millicycles = 17'000;  // more than a stream takes
  memory.asked_by_leaves_millicycles = 4'000;
  CHECK(asked(60, 1) == plenty);
  CHECK(asked(1, 1) == bare + 64 * 3'000);
}

TEST_CASE("leaves ask where their loads leave room for it, and pay for no rows") {
  constexpr struct {
    std::string_view family;
    i64 loads;  // per cycle, in thousandths
    bool want;
  } kRows[] = {
      // Of so many loads a step, beside multiply-adds of 6, 4, 4, 6, 6 and 4 cycles: 8, 6, 6, 13,
      // 13, 9.
      {"fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8", 2000, true},
      {"fma_f32x8 lane=n quantum=m:4,n:16 a=broadcast_f32x8 b=load_f32x8", 2000, true},
      {"fma_f32x8 lane=n quantum=m:2,n:32 a=broadcast_f32x8 b=load_f32x8", 2000, true},
      {"fma_f32x8 lane=n quantum=n:96 a=broadcast_f32x8 b=load_f32x8", 2000, false},
      {"fma_f32x8 lane=n quantum=m:12,n:8 a=broadcast_f32x8 b=load_f32x8", 2000, false},
      {"fma_f32x8 lane=n quantum=m:8,n:8 a=broadcast_f32x8 b=load_f32x8", 2000, false},
      {"fma_f32x8 lane=n quantum=n:96 a=broadcast_f32x8 b=load_f32x8", 3000, true},
      {"fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8", 1000, false},
  };
  for (const auto& row : kRows) {
    CAPTURE(row.family);
    Machine machine = toy_machine();
    machine.core.load = row.loads;
    LevelDesc& memory = machine.levels[kMemory];
    memory.asked_by_leaves_millicycles = memory.asked_view_millicycles = 4'000;
    memory.line_millicycles = memory.prefetched_millicycles = 20'000;
    const KernelSpec k = spec("(a: f32[60,64], b: f32[64,2048]): f32 = matmul(a, b)");
    const Family f = avx2_family(k, std::string(row.family) + " out=store_f32x8");
    const Space space({&k.computation(), &machine, f, 1});
    Spec s = space.problem().root();
    s.place[1] = {kMemory, false};
    CHECK(space.leaves_ask(s, 1) == row.want);
    const Cost view = space.asked_view(s, 1);
    memory.row_millicycles = 30'000;
    CHECK(space.asked_view(s, 1) == view);
  }
}

// Of sizes of one computation, each after the others. Rows of a few elements are copied in other
// ways than those that lie a line apart.
TEST_CASE("what is known of copies holds for all parts of a computation") {
  const Machine machine = *load_machine("zen4");
  for (const auto& [text, sizes] : std::initializer_list<std::pair<std::string, std::vector<i64>>>{
           {"(x: f32[4000,{0}], y: f32[{0},4000]): f32 = x + transpose(y)", {20, 2, 3, 4, 20, 2}},
           {"(a: f32[96,{0}], b: f32[{0},70]): f32 = matmul(a, b)", {3, 300, 16, 3}},
           {"(a: bf16[{0},96], b: bf16[70,96]): bf16 = matmul(a, transpose(b))", {2, 48, 5, 2}},
           {"(x: f32[2,9,9,{0}], k: f32[3,3,{0},24]): f32 = conv2d(x, k)", {8, 3, 64, 8}}}) {
    Space::Copies known;
    for (const i64 size : sizes) {
      const KernelSpec k = spec(fmt::format(fmt::runtime(text), size));
      const Computation& c = k.computation();
      CAPTURE(k.str());
      for (const Family& f : families(c, *find_isa("avx2"))) {
        if (f.apart >= 0) continue;
        CAPTURE(f.str(c));
        const Problem problem{&c, &machine, f, 1};
        const Space alone(problem), others(problem, {}, &known);
        for (int o = 0; o < alone.operands(); ++o)
          if (alone.packs(o) && !problem.root().place[o].packed)
            CHECK(others.copy(problem.root(), o, kL2) == alone.copy(problem.root(), o, kL2));
        CHECK(others.lower_bound() == alone.lower_bound());
      }
    }
  }
}

}  // namespace
}  // namespace morello
