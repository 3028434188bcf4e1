// What each rewrite proposes, one candidate per line. Rows that must not fire matter as much.

#include "impl/text.h"
#include "toy.h"

namespace morello {
namespace {

const Family& family(const Computation& c, std::string_view text, Family& storage) {
  Result<Family> f = parse_family(text, c, *find_isa("avx2"));
  REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
  storage = *f;
  return storage;
}

// "split k by 32: first + 2 body + rest" in the vocabulary of Impl, own cost left out.
std::string proposals(const Space& space, const Spec& s, std::string_view rewrite) {
  std::string out;
  std::int16_t row = 0;
  while (rewrite_table()[row]->name != rewrite) ++row;
  auto each = [&](const Candidate& c) {
    if (c.decision.rewrite != row) return;
    const ImplPtr impl = build_open(space, s, c);
    out += headline(space.problem(), *impl);
    if (const Move* copy = asking_move(*impl)) out += ", " + headline(space.problem(), {*copy});
    for (int i = 0; i < c.cost.children; ++i)
      out += fmt::format(" | {} x {}", c.cost.weight[i], str(c.child[i], space.computation()));
    for (Level l = kL1; l <= kL3; ++l)
      if (c.takes.at(l) > 0) out += fmt::format(" | {} bytes of {}", c.takes.at(l), level_name(l));
    out += "\n";
  };
  expand(space, s, each);
  return out;
}

constexpr std::string_view kMatmul = "(a: f32[14,600], b: f32[600,40]): f32 = matmul(a, b)";
constexpr std::string_view kFamily =
    "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8";

struct Row {
  std::string_view rewrite;
  void (*change)(Spec&);
  std::string_view want;
};

void small(Spec& s) { s.extent = {6, 16, 64, 1, 1, 1}; }
void reduced(Spec& s) { s.extent[2] = 8; }
void summing(Spec& s) {
  small(s);
  s.accumulate = true;
}
void threaded(Spec& s) { s.threads = 2; }
// As the steps of `parallel m by 6 leaving 2` are, with four threads.
void inside(Spec& s) {
  s.threads = 2;
  s.extent[0] = 6;
}
void as_is(Spec&) {}

TEST_CASE("clip proposes segments, and nothing else divides what they cut") {
  const Computation c =
      computation_of(spec("(x: f32[1,14,9,8], k: f32[3,3,8,16]): f32 = "
                          "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1), k)"));
  const Machine machine = toy_machine(4096, 65536);
  Family storage;
  const Space space({&c, &machine,
                     family(c,
                            "fma_f32x8 lane=f quantum=h:6,f:16 x=broadcast_f32x8 k=load_f32x8 "
                            "out=store_f32x8",
                            storage),
                     2});
  Spec s = space.problem().root();
  // By threads: a region for each segment, which is whole.
  CHECK(proposals(space, s, "clip") ==
        "clip h | 2 x b=1 h=1 w=8 f=16 r=2 s=3 c=8 x@L2 k@L2 out@L2 threads=2 uncut w | 1 x b=1 "
        "h=12 w=8 f=16 r=3 s=3 c=8 x@L2 k@L2 out@L2 threads=2 uncut w\n");
  CHECK(proposals(space, s, "parallel") == "");
  s.extent[1] = 12;
  s.uncut = 1 << 2;
  CHECK(proposals(space, s, "parallel") ==
        "parallel h by 6 | 1 x b=1 h=6 w=8 f=16 r=3 s=3 c=8 x@L2 k@L2 out@L2 uncut w\n");
  CHECK(proposals(space, s, "parallel_split") == "");
  s = space.problem().root();
  s.threads = 1;
  s.place.fill({kL2, false});
  CHECK(
      proposals(space, s, "clip") ==
      "clip h | 2 x b=1 h=1 w=8 f=16 r=2 s=3 c=8 x@L2 k@L2 out@L2 uncut w | 1 x b=1 h=12 w=8 f=16 "
      "r=3 s=3 c=8 x@L2 k@L2 out@L2 uncut w\n");
  for (const char* rewrite : {"tile", "split_reduction", "select_kernel", "pack", "to_accumulate"})
    CHECK(proposals(space, s, rewrite) == "");
  // Rows, and what lies near them.
  s.extent = {1, 12, 8, 16, 3, 3, 8, 1};
  s.uncut = 1 << 2;
  CHECK(
      proposals(space, s, "clip") ==
      "clip w | 1 x b=1 h=12 w=1 f=16 r=3 s=2 c=8 x@L2 k@L2 out@L2 | 1 x b=1 h=12 w=7 f=16 r=3 s=3 "
      "c=8 x@L2 k@L2 out@L2\n");
  CHECK(proposals(space, s, "tile").starts_with("loop h by 6 | 2 x b=1 h=6 w=8 "));
  CHECK(proposals(space, s, "tile").find("loop w") == std::string::npos);
  CHECK(proposals(space, s, "view") != "");
  for (const char* rewrite : {"split_reduction", "select_kernel", "pack", "to_accumulate"})
    CHECK(proposals(space, s, rewrite) == "");
  s.uncut = 0;
  CHECK(proposals(space, s, "clip") == "");
  CHECK(proposals(space, s, "tile") != "");
}

TEST_CASE("rewrites propose what their headers say") {
  const KernelSpec k = spec(kMatmul);
  const Machine machine = toy_machine(4096, 65536);
  Family storage;
  const Space space({&k.computation(), &machine, family(k.computation(), kFamily, storage), 2});
  Spec base = space.problem().root();
  base.threads = 1;
  base.place.fill({kL2, false});
  const Row rows[] = {
      {"tile", as_is,
       "loop m by 6 | 2 x m=6 n=40 k=600 a@L2 b@L2 out@L2 | 1 x m=2 n=40 k=600 a@L2 "
       "b@L2 "
       "out@L2\n"
       "loop m by 12 | 1 x m=12 n=40 k=600 a@L2 b@L2 out@L2 | 1 x m=2 n=40 k=600 a@L2 "
       "b@L2 "
       "out@L2\n"
       "loop m by 5 | 2 x m=5 n=40 k=600 a@L2 b@L2 out@L2 | 1 x m=4 n=40 k=600 a@L2 b@L2 out@L2\n"
       "loop n by 16 | 2 x m=14 n=16 k=600 a@L2 b@L2 out@L2 | 1 x m=14 n=8 k=600 a@L2 "
       "b@L2 "
       "out@L2\n"
       "loop n by 32 | 1 x m=14 n=32 k=600 a@L2 b@L2 out@L2 | 1 x m=14 n=8 k=600 a@L2 "
       "b@L2 "
       "out@L2\n"},
      {"tile", small, ""},
      {"split_reduction", small,
       "split k by 32 | 1 x m=6 n=16 k=32 a@L2 b@L2 out@L2 | 1 x m=6 n=16 k=32 a@L2 "
       "b@L2 "
       "out@L2 acc\n"},
      {"split_reduction", summing, "split k by 32 | 2 x m=6 n=16 k=32 a@L2 b@L2 out@L2 acc\n"},
      {"split_reduction", reduced, ""},
      {"select_kernel", small, "call\n"},
      {"select_kernel", as_is, ""},
      {"to_accumulate", small, "block | 1 x m=6 n=16 k=64 a@L2 b@L2 out@L2 acc\n"},
      {"to_accumulate", summing, ""},
      {"view", small, "view out to L1 | 1 x m=6 n=16 k=64 a@L2 b@L2 out@L1 | 576 bytes of L1\n"},
      {"parallel", as_is, ""},
      {"parallel", threaded,
       "parallel m by 12 | 1 x m=12 n=40 k=600 a@L2 b@L2 out@L2 | 0 x m=2 n=40 k=600 "
       "a@L2 "
       "b@L2 out@L2\n"
       "parallel m by 6 | 2 x m=6 n=40 k=600 a@L2 b@L2 out@L2 | 0 x m=2 n=40 k=600 a@L2 "
       "b@L2 out@L2\n"
       "parallel n by 32 | 1 x m=14 n=32 k=600 a@L2 b@L2 out@L2 | 0 x m=14 n=8 k=600 "
       "a@L2 "
       "b@L2 out@L2\n"
       "parallel n by 16 | 2 x m=14 n=16 k=600 a@L2 b@L2 out@L2 | 0 x m=14 n=8 k=600 "
       "a@L2 "
       "b@L2 out@L2\n"},
      {"parallel_split", threaded,
       "parallel split k by 300 | 1 x m=14 n=40 k=300 a@L2 b@L2 out@L2\n"},
      {"parallel_split", as_is, ""},
      {"tile", threaded, ""},
      {"pack", threaded, ""},
      {"pack", small,
       "copy a to L2 | 1 x m=6 n=16 k=64 a@L2 packed b@L2 out@L2 | 1536 bytes of L2\n"
       "copy a to L1 | 1 x m=6 n=16 k=64 a@L1 packed b@L2 out@L2 | 1536 bytes of L1\n"
       "copy b to L2 | 1 x m=6 n=16 k=64 a@L2 b@L2 packed out@L2 | 4096 bytes of L2\n"
       "copy b to L1 | 1 x m=6 n=16 k=64 a@L2 b@L1 packed out@L2 | 4096 bytes of L1\n"},
  };
  for (const Row& row : rows) {
    Spec s = base;
    row.change(s);
    CAPTURE(row.rewrite);
    CHECK(proposals(space, s, row.rewrite) == row.want);
  }
}

// As few rows as L1 keeps for the next leaf: where none of another output follows, there is none.
TEST_CASE("a leaf by itself is not split for what L1 keeps") {
  const KernelSpec k = spec("(a: f32[1,1024], b: f32[1024,1024]): f32 = matmul(a, b)");
  const Machine machine = *load_machine("zen5");
  Family storage;
  const Space space(
      {&k.computation(), &machine,
       family(k.computation(),
              "fma_f32x8 lane=n quantum=n:64 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8",
              storage),
       1});
  Spec s = space.problem().root();
  s.extent[2] = 64;
  CHECK(proposals(space, s, "split_reduction").starts_with("split k by 8 |"));
  s.extent[1] = 64;
  CHECK(proposals(space, s, "split_reduction").starts_with("split k by 32 |"));
}

// What is asked for takes its room in L2, whatever the copy takes.
TEST_CASE("a copy that asks for the next stands in the steps of a loop") {
  const KernelSpec k = spec(kMatmul);
  Machine machine = toy_machine(4096, 65536);
  Family storage;
  const Problem p{&k.computation(), &machine, family(k.computation(), kFamily, storage), 1};
  Spec s = p.root();
  s.place.fill({kL2, false});
  s.place[1] = {kMemory, false};
  s.extent = {6, 40, 64, 1, 1, 1};
  CHECK(proposals(Space(p), s, "copy_ahead") == "");
  machine.levels[kMemory].asked_copy_millicycles = 7000;
  const Space space(p);
  CHECK(proposals(space, s, "copy_ahead") ==
        "loop n by 16, copy b to L2 ahead n | 2 x m=6 n=16 k=64 a@L2 b@L2 packed out@L2 | 1 x m=6 "
        "n=8 k=64 a@L2 b@L2 "
        "packed out@L2 | 10240 bytes of L2\n"
        "loop n by 16, copy b to L1 ahead n | 2 x m=6 n=16 k=64 a@L2 b@L1 packed out@L2 | 1 x m=6 "
        "n=8 k=64 a@L2 b@L1 "
        "packed out@L2 | 4096 bytes of L1 | 6144 bytes of L2\n"
        "split k by 32, copy b to L2 ahead k | 1 x m=6 n=40 k=32 a@L2 b@L2 packed out@L2 | 1 x m=6 "
        "n=40 k=32 a@L2 b@L2 "
        "packed out@L2 acc | 11264 bytes of L2\n"
        "split k by 32, copy b to L1 ahead k | 1 x m=6 n=40 k=32 a@L2 b@L1 packed out@L2 | 1 x m=6 "
        "n=40 k=32 a@L2 b@L1 "
        "packed out@L2 acc | 6144 bytes of L1 | 5120 bytes of L2\n");
  // By leaves alone: of one leaf there is none that asks.
  machine.levels[kMemory].asked_copy_millicycles = 0;
  machine.levels[kMemory].asked_by_leaves_millicycles = 7000;
  CHECK(proposals(Space(p), s, "copy_ahead") ==
        "split k by 32, copy b to L2 ahead k in leaves | 1 x m=6 n=40 k=32 a@L2 b@L2 packed out@L2 "
        "| 1 x m=6 n=40 k=32 a@L2 b@L2 "
        "packed out@L2 acc | 11264 bytes of L2\n"
        "split k by 32, copy b to L1 ahead k in leaves | 1 x m=6 n=40 k=32 a@L2 b@L1 packed out@L2 "
        "| 1 x m=6 n=40 k=32 a@L2 b@L1 "
        "packed out@L2 acc | 6144 bytes of L1 | 5120 bytes of L2\n");
  // Where both are known: leaves, if there are two.
  machine.levels[kMemory].asked_copy_millicycles = 7000;
  const std::string both = proposals(Space(p), s, "copy_ahead");
  CHECK(both.find("loop n by 16, copy b to L1 ahead n |") != std::string::npos);
  CHECK(both.find("split k by 32, copy b to L1 ahead k in leaves |") != std::string::npos);
  machine.levels[kMemory].asked_by_leaves_millicycles = 0;
  Problem staged = p;
  staged.part.staged = true;
  CHECK(proposals(Space(staged), s, "copy_ahead") == "");
  s.place[1] = {kL2, false};
  CHECK(proposals(space, s, "copy_ahead") == "");
  s.place[1] = {kMemory, true};
  CHECK(proposals(space, s, "copy_ahead") == "");
}

// Along rows, where leaves read a line or two of each, two leaves or more ask, and a part is no
// longer than twice the distance of prefetches; two parts have room.
TEST_CASE("leaves ask for what the next step of a loop reads where it lies") {
  struct Row {
    std::string_view text, family;
    Extents extent;
    i64 prefetch_bytes;
    std::string_view want;
  };
  constexpr std::string_view kWide =
      "fma_f32x8 lane=n quantum=m:2,n:48 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8";
  constexpr std::string_view kLong = "(a: f32[14,600], b: f32[600,400]): f32 = matmul(a, b)";
  constexpr std::string_view kDot =
      "dot_f32x8 lane=k quantum=m:2,n:6,k:8 a=load_f32x8 b=load_f32x8 out=store_f32";
  constexpr std::string_view kColumns = "(a: f32[14,600], b: f32[600,40] col): f32 = matmul(a, b)";
  constexpr Row kRows[] = {
      {kMatmul,
       kFamily,
       {12, 40, 32},
       1024,
       "loop n by 16, view b to L2 ahead n in leaves | 2 x m=12 n=16 k=32 a@L2 b@L2 out@L2 | 1 x "
       "m=12 n=8 k=32 a@L2 b@L2 out@L2 | 6144 bytes of L2\n"
       "loop n by 16, view b to L1 ahead n in leaves | 2 x m=12 n=16 k=32 a@L2 b@L1 out@L2 | 1 x "
       "m=12 n=8 k=32 a@L2 b@L1 out@L2 | 6144 bytes of L1\n"},
      {kMatmul, kFamily, {12, 40, 33}, 1024, ""},
      {kMatmul, kFamily, {6, 40, 32}, 1024, ""},
      {kLong, kWide, {12, 96, 4}, 1024, ""},
      {kColumns, kDot, {8, 6, 40}, 8192, ""},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.family);
    const KernelSpec k = spec(row.text);
    Machine machine = toy_machine(8192, 65536);
    machine.levels[kMemory].asked_view_millicycles = 3000;
    machine.prefetch_bytes = row.prefetch_bytes;
    Family storage;
    const Problem p{&k.computation(), &machine, family(k.computation(), row.family, storage), 1};
    Spec s = p.root();
    s.place.fill({kL2, false});
    s.place[1] = {kMemory, false};
    std::copy_n(row.extent.begin(), 3, s.extent.begin());
    CHECK(proposals(Space(p), s, "view_ahead") == row.want);
    machine.levels[kMemory].asked_view_millicycles = 0;
    machine.levels[kMemory].asked_by_leaves_millicycles = 3000;
    CHECK(proposals(Space(p), s, "view_ahead") == "");
  }
}

// Of what is packed along any of its dims, those of sums too: of a panel, which leaf after leaf
// uses.
TEST_CASE("leaves ask for the next part of what is packed") {
  struct Row {
    Level b;
    Extents extent;
    std::string_view want;
  };
  constexpr Row kRows[] = {
      {kMemory,
       {12, 40, 16},
       "loop n by 16, view b to L2 ahead n in leaves | 2 x m=12 n=16 k=16 a@L2 b@L2 packed out@L2 "
       "| 1 x m=12 n=8 k=16 a@L2 b@L2 packed out@L2 | 2048 bytes of L2\n"
       "loop n by 16, view b to L1 ahead n in leaves | 2 x m=12 n=16 k=16 a@L2 b@L1 packed out@L2 "
       "| 1 x m=12 n=8 k=16 a@L2 b@L1 packed out@L2 | 2048 bytes of L1\n"},
      {kMemory,
       {12, 16, 16},
       "split k by 8, view b to L2 ahead k in leaves | 1 x m=12 n=16 k=8 a@L2 b@L2 packed out@L2 | "
       "1 x m=12 n=16 k=8 a@L2 b@L2 packed out@L2 acc | 1024 bytes of L2\n"
       "split k by 8, view b to L1 ahead k in leaves | 1 x m=12 n=16 k=8 a@L2 b@L1 packed out@L2 | "
       "1 x m=12 n=16 k=8 a@L2 b@L1 packed out@L2 acc | 1024 bytes of L1\n"},
      {kMemory, {6, 40, 16}, ""},  // used once
      {kL2, {12, 40, 16}, ""},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.want);
    const KernelSpec k = spec("(a: f32[12,64], b: f32[64,40] packed): f32 = matmul(a, b)");
    Machine machine = toy_machine(8192, 65536);
    machine.prefetch_bytes = 1024;
    machine.levels[kMemory].asked_panel_millicycles = 3000;
    Family storage;
    const Problem p{&k.computation(), &machine, family(k.computation(), kFamily, storage), 1};
    Spec s = p.root();
    s.place.fill({kL2, false});
    s.place[1] = {row.b, true};
    std::copy_n(row.extent.begin(), 3, s.extent.begin());
    CHECK(proposals(Space(p), s, "view_ahead") == row.want);
    machine.levels[kMemory].asked_panel_millicycles = 0;
    machine.levels[kMemory].asked_view_millicycles = 3000;
    CHECK(proposals(Space(p), s, "view_ahead") == "");
  }
}

// What a copy that asks costs more than without that key: steps along rows go on.
TEST_CASE("asking for other rows at every step costs what the machine says") {
  struct Row {
    std::string_view text, first;  // of b: 600 rows of 40 or, transposed, 40 of 600
    i64 rows;                      // asked for
  };
  constexpr Row kRows[] = {
      {"(a: f32[14,600], b: f32[600,40]): f32 = matmul(a, b)", "loop n by 16", 0},
      {"(a: f32[14,600], b: f32[600,40]): f32 = matmul(a, b)", "split k by 32", 32},
      {"(a: f32[14,600], b: f32[40,600]): f32 = matmul(a, transpose(b))", "loop n by 16", 16},
      {"(a: f32[14,600], b: f32[40,600]): f32 = matmul(a, transpose(b))", "split k by 32", 0},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CAPTURE(row.first);
    const KernelSpec k = spec(row.text);
    Machine machine = toy_machine(4096, 65536);
    machine.levels[kMemory].asked_copy_millicycles = 3000;
    Family storage;
    const auto cost = [&] {
      const Problem p{&k.computation(), &machine, family(k.computation(), kFamily, storage), 1};
      const Space space(p);
      Spec s = p.root();
      s.place.fill({kL2, false});
      s.place[1] = {kMemory, false};
      s.extent = {6, 32, 96, 1, 1, 1};
      Cost out;
      auto each = [&](const Candidate& c) {
        const ImplPtr impl = build_open(space, s, c);
        const Move* copy = asking_move(*impl);
        if (copy && copy->operand == 1 && copy->level == kL1 && headline(p, *impl) == row.first)
          out = c.cost.base;
      };
      expand(space, s, each);
      REQUIRE(out.value() > 0);
      return out;
    };
    const Cost before = cost();
    machine.levels[kMemory].asked_row_millicycles = 20;
    const i64 steps = row.first == "loop n by 16" ? 2 : 3;
    CHECK(cost() - before == Cost::milli((steps - 1) * row.rows * 20));
  }
}

Machine asking_machine(i64 l1, i64 l2) {
  Machine machine = toy_machine(l1, l2);
  machine.prefetch_bytes = 64;
  machine.levels[kMemory].prefetched_millicycles = machine.levels[kMemory].line_millicycles - 1;
  return machine;
}

// How a leaf that has b in memory, and all else in L1, may be called.
std::string asked_of_b(std::string_view text, std::string_view family_text, const Extents& extent,
                       const Machine& machine) {
  const KernelSpec k = spec(text);
  Family storage;
  const Problem p{&k.computation(), &machine, family(k.computation(), family_text, storage), 1};
  Spec s = p.root();
  for (int d = 0; d < 3; ++d) s.extent[d] = extent[d];
  s.place.fill({kL1, false});
  s.place[1] = {kMemory, false};
  return proposals(Space(p), s, "select_kernel");
}

constexpr std::string_view kRowsOfB =
    "dot_f32x8 lane=k quantum=n:4,k:16 a=load_f32x8 b=load_f32x8 out=store_f32";

// As far as the rows behind those of the leaf, where the machine says what that brings, all of them
// are there, no leaf reads them twice, and two leaves' rows have room in L2.
TEST_CASE("a leaf that reads rows side by side asks for those of the next") {
  struct Row {
    std::string_view spec, family;
    Extents extent;
    std::string_view want;
  };
  constexpr std::string_view kApart =
      "dot_f32x8 lane=k quantum=n:4,k:16 apart=n a=load_f32x8 b=load_f32x8 out=store_f32";
  constexpr std::string_view kTall =
      "(a: f32[1,1024], b: f32[64,1024]): f32 = matmul(a, transpose(b))";
  constexpr Row kRows[] = {
      {kTall, kRowsOfB, {1, 4, 1024}, "call\ncall ahead b 64\ncall ahead b 16384 to L2\n"},
      {kTall, kRowsOfB, {1, 3, 1024}, "call\ncall ahead b 64\ncall ahead b 12288 to L2\n"},
      {kTall, kRowsOfB, {1, 1, 1024}, "call\ncall ahead b 64\n"},
      {kTall, kRowsOfB, {1, 4, 512}, "call\n"},
      {kTall, kApart, {1, 4, 1024}, "call\ncall ahead b 64\n"},
      {"(a: f32[1,1024], b: f32[n near 64,1024] strided): f32 = matmul(a, transpose(b))",
       kRowsOfB,
       {1, 4, 1024},
       "call\ncall ahead b 64\ncall ahead b 16640 to L2\n"},
      {"(a: f32[2,1024], b: f32[64,1024]): f32 = matmul(a, transpose(b))",
       kRowsOfB,
       {1, 4, 1024},
       "call\ncall ahead b 64\n"},
      {"(a: f32[1,1072], b: f32[64,1072]): f32 = matmul(a, transpose(b))",
       kRowsOfB,
       {1, 4, 1072},
       "call\ncall ahead b 64\n"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.spec);
    CAPTURE(row.extent[1]);
    CAPTURE(row.extent[2]);
    Machine machine = asking_machine(4096, 32768 + 1024);
    const std::string unknown = asked_of_b(row.spec, row.family, row.extent, machine);
    CHECK(unknown.find("to L2") == unknown.npos);
    machine.levels[kMemory].next_rows_millicycles = 5000;
    CHECK(asked_of_b(row.spec, row.family, row.extent, machine) == row.want);
  }
}

// Pieces of them as well, to L1 where those of two leaves take no more than half of it, as far as a
// quarter of L2.
TEST_CASE("a leaf that reads pieces of rows side by side asks for those of the next") {
  struct Row {
    std::string_view spec;
    Extents extent;
    std::string_view want;
  };
  constexpr std::string_view kLong =
      "(a: f32[1,2048], b: f32[64,2048]): f32 = matmul(a, transpose(b))";
  constexpr Row kRows[] = {
      {kLong, {1, 4, 512}, "call\ncall ahead b 32768\n"},
      {kLong, {1, 2, 512}, "call\ncall ahead b 16384\n"},
      {kLong, {1, 4, 1024}, "call\ncall ahead b 32768 to L2\n"},
      {kLong, {1, 2, 2048}, "call\ncall ahead b 64\ncall ahead b 16384 to L2\n"},
      {kLong, {1, 1, 512}, "call\ncall ahead b 64\n"},
      {"(a: f32[1,2048], b: f32[n near 64,2048] strided): f32 = matmul(a, transpose(b))",
       {1, 3, 512},
       "call\ncall ahead b 64\ncall ahead b 24768\n"},
      // Read twice, and four rows that are more than a quarter of L2; two are not.
      {"(a: f32[2,2048], b: f32[64,2048]): f32 = matmul(a, transpose(b))", {1, 4, 512}, "call\n"},
      {"(a: f32[1,4096], b: f32[64,4096]): f32 = matmul(a, transpose(b))", {1, 4, 512}, "call\n"},
      {"(a: f32[1,4096], b: f32[64,4096]): f32 = matmul(a, transpose(b))",
       {1, 2, 512},
       "call\ncall ahead b 32768\n"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.spec);
    CAPTURE(row.extent[1]);
    CAPTURE(row.extent[2]);
    Machine machine = asking_machine(32768, 131072 + 4096);
    machine.levels[kMemory].next_pieces_millicycles = 5000;
    CHECK(asked_of_b(row.spec, kRowsOfB, row.extent, machine) == row.want);
  }
}

struct ThreadRow {
  std::string_view kernel, family, rewrite;
  int threads;
  void (*change)(Spec&);
  std::string_view want;
};

constexpr std::string_view kNarrow = "(a: bf16[1,640], b: bf16[640,8]): bf16 = matmul(a, b)";
constexpr std::string_view kNarrowFamily =
    "fma_f32x8 lane=n quantum=n:8,k:8 a=broadcast_bf16x8 b=load_bf16x8 out=store_bf16x8";

const ThreadRow kThreadRows[] = {
    {kMatmul, kFamily, "parallel", 4, as_is,
     "parallel m by 6 | 1 x m=6 n=40 k=600 a@L2 b@L2 out@L2 | 0 x m=2 n=40 k=600 a@L2 b@L2 out@L2\n"
     "parallel m by 12 leaving 2 | 1 x m=12 n=40 k=600 a@L2 b@L2 out@L2 threads=2 | 0 x m=2 n=40 "
     "k=600 a@L2 b@L2 out@L2 threads=2\n"
     "parallel n by 16 | 1 x m=14 n=16 k=600 a@L2 b@L2 out@L2 | 0 x m=14 n=8 k=600 a@L2 b@L2 "
     "out@L2\n"
     "parallel n by 32 leaving 2 | 1 x m=14 n=32 k=600 a@L2 b@L2 out@L2 threads=2 | 0 x m=14 n=8 "
     "k=600 a@L2 b@L2 out@L2 threads=2\n"},
    // Only dims that are still whole, and all that is left of the threads.
    {kMatmul, kFamily, "parallel", 4, inside,
     "parallel n by 32 | 1 x m=6 n=32 k=600 a@L2 b@L2 out@L2 | 0 x m=6 n=8 k=600 a@L2 b@L2 out@L2\n"
     "parallel n by 16 | 2 x m=6 n=16 k=600 a@L2 b@L2 out@L2 | 0 x m=6 n=8 k=600 a@L2 b@L2 "
     "out@L2\n"},
    {kMatmul, kFamily, "parallel_split", 4, as_is,
     "parallel split k by 150 | 1 x m=14 n=40 k=150 a@L2 b@L2 out@L2\n"
     "parallel split k by 300 leaving 2 | 1 x m=14 n=40 k=300 a@L2 b@L2 out@L2 threads=2\n"},
    {kMatmul, kFamily, "parallel_split", 4, inside, ""},
    {kMatmul, kFamily, "parallel_split", 4, [](Spec& s) { s.accumulate = true; }, ""},
    // 14 * 560 elements of copies are a quarter of the inputs, 15 are more.
    {kMatmul, kFamily, "parallel_split", 14, as_is,
     "parallel split k by 43 | 1 x m=14 n=40 k=43 a@L2 b@L2 out@L2 | 0 x m=14 n=40 k=41 a@L2 b@L2 "
     "out@L2\n"
     "parallel split k by 300 leaving 7 | 1 x m=14 n=40 k=300 a@L2 b@L2 out@L2 threads=7\n"
     "parallel split k by 86 leaving 2 | 1 x m=14 n=40 k=86 a@L2 b@L2 out@L2 threads=2 | 0 x m=14 "
     "n=40 k=84 a@L2 b@L2 out@L2 threads=2\n"},
    {kMatmul, kFamily, "parallel_split", 17, as_is, ""},
    // A narrow output holds no sums: copied first.
    {kNarrow, kNarrowFamily, "parallel_split", 2, as_is, ""},
    {kNarrow, kNarrowFamily, "pack", 2, as_is,
     "copy out to L2 | 1 x m=1 n=8 k=640 a@L2 b@L2 out@L2 packed threads=2 | 32 bytes "
     "of "
     "L2\n"
     "copy out to L1 | 1 x m=1 n=8 k=640 a@L2 b@L2 out@L1 packed threads=2 | 32 bytes "
     "of "
     "L1\n"},
};

TEST_CASE("rewrites for threads") {
  for (const ThreadRow& row : kThreadRows) {
    CAPTURE(row.rewrite);
    CAPTURE(row.threads);
    const KernelSpec k = spec(row.kernel);
    const Machine machine = toy_machine(4096, 65536);
    Family storage;
    const Space space(
        {&k.computation(), &machine, family(k.computation(), row.family, storage), row.threads});
    Spec s = space.problem().root();
    s.place.fill({kL2, false});
    row.change(s);
    CHECK(proposals(space, s, row.rewrite) == row.want);
  }
}

}  // namespace
}  // namespace morello
