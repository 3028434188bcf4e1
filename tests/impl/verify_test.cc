#include "fixture.h"

namespace morello {
namespace {

// One legality rule per row: where the program stands, the program, what is wrong with it. No
// complaint: legal.
struct Row {
  std::string_view spec, program, why;
};

void check(const test::Fixture& f, const Row& row) {
  CAPTURE(row.spec);
  CAPTURE(row.program);
  const ImplPtr impl = test::program(f.problem, row.program);
  CHECK(verify(f.problem, test::hole_spec(f.problem, row.spec), *impl) == row.why);
}

constexpr std::string_view kMatmul = "(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)";
constexpr std::string_view k6x16 = "fma_f32x8 lane=n quantum=m:6,n:16";

constexpr Row kMatmulRows[] = {
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "call", ""},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "call ahead b 64", ""},
    {"m=1 n=1 k=1 a@L1 packed b@L1 packed out@L1 packed acc", "call", ""},
    {"m=7 n=16 k=19 a@mem b@mem out@mem", "call", "call: m is 7 here and the leaf takes 6"},
    {"m=6 n=17 k=19 a@mem b@mem out@mem", "call", "call: n is 17 here and the leaf takes 16"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "call ahead out 64",
     "call ahead out 64: an output is asked for 0 bytes ahead"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "call ahead out 0", ""},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "call ahead b 64 to L2", ""},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "call ahead b 64 to L3",
     "call ahead b 64 to L3: an input is prefetched to L1 or L2, an output to L1"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "call ahead out 0 to L2",
     "call ahead out 0 to L2: an input is prefetched to L1 or L2, an output to L1"},

    {"m=6 n=16 k=19 a@mem b@mem out@mem", "copy b to L1 ahead k\n  call", ""},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "copy b to L1 ahead m\n  call",
     "copy b to L1 ahead m: b has nothing further along m"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "copy out to L1 ahead n\n  call",
     "copy out to L1 ahead n: only of inputs is asked for what is next"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "view b to L2 ahead n in leaves\n  call", ""},
    {"m=6 n=16 k=16 a@mem b@mem packed out@mem", "view b to L1 ahead k in leaves\n  call", ""},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "view b to L3 ahead n in leaves\n  call",
     "view b to L3 ahead n in leaves: what a view reads next is asked for to L1 or L2"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "view out to L1 ahead n in leaves\n  call",
     "view out to L1 ahead n in leaves: only of inputs is asked for what is next"},

    // Loops.
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "loop m by 6\n  call",
     "loop m by 6: the tile must be at least 1 and less than the extent 6"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "loop m by 7\n  call",
     "loop m by 7: the tile must be at least 1 and less than the extent 6"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "loop m by 3\n  call", ""},
    {"m=7 n=16 k=19 a@mem b@mem out@mem", "loop m by 3\n  call",
     "loop m by 3: lacks `rest`: 2 steps of 3 leave 1"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "loop m by 3\n  body\n    call\n  rest 1\n    call",
     "loop m by 3: needs no `rest`: 2 steps of 3 leave 0"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "loop m by 3\n  first\n    call\n  body\n    call",
     "loop m by 3: needs no `first`: 2 steps of 3 leave 0"},
    {"m=7 n=16 k=19 a@mem b@mem out@mem", "loop m by 3\n  rest 1\n    call",
     "loop m by 3: lacks `body`: 2 steps of 3 leave 1"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "split k by 10\n  call",
     "split k by 10: lacks `first`: 2 steps of 10 leave 0, the first does not accumulate"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem acc", "split k by 10\n  call", ""},
    {"m=6 n=16 k=20 a@mem b@mem out@mem acc", "split k by 10\n  first\n    call\n  body\n    call",
     "split k by 10: needs no `first`: 2 steps of 10 leave 0, accumulating"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem",
     "split k by 10\n  first\n    call\n  body\n    call\n  rest 9\n    call",
     "split k by 10: needs no `body`: 1 steps of 10 leave 9, the first does not accumulate"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem threads=2", "parallel m by 3\n  call", ""},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "parallel m by 3\n  call",
     "parallel m by 3: there is one thread here"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem threads=2", "parallel m by 3\n  parallel n by 8\n    call",
     "parallel n by 8: there is one thread here"},
    {"m=6 n=32 k=20 a@mem b@L1 packed out@mem", "loop n by 16\n  call", ""},
    {"m=6 n=32 k=20 a@mem b@L1 packed out@mem", "loop n by 8\n  call",
     "loop n by 8: the tile is no multiple of the blocks of 16 in b"},
    {"m=7 n=32 k=20 a@L1 packed b@L1 packed out@mem",
     "loop n by 16\n  loop m by 4\n    body\n      call\n    rest 3\n      call",
     "loop m by 4: the tile is no multiple of the blocks of 6 in a"},

    // Moves.
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "copy a to L1\n  call", ""},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "view out to L2\n  call", ""},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "copy a to reg\n  call",
     "copy a to reg: moves go to L1, L2 or L3"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "view a to mem\n  call",
     "view a to mem: moves go to L1, L2 or L3"},
    {"m=6 n=16 k=20 a@L2 b@mem out@mem", "view a to L2\n  call",
     "view a to L2: a is at L2 already"},
    {"m=6 n=16 k=20 a@L2 b@mem out@mem", "copy a to L2\n  call", ""},
    {"m=6 n=16 k=20 a@L1 b@mem out@mem", "copy a to L2\n  call",
     "copy a to L2: a is at L1 already"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "copy a to L1\n  copy b to L2\n    call", ""},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "copy a to L2\n  copy b to L2\n    call", ""},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "copy a to L2\n  copy a to L1\n    call",
     "copy a to L1: a is packed already"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "copy a to L2\n  view a to L1\n    call", ""},

    // Blocks and fills.
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "block\n  fill\n  call", ""},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "fill",
     "fill: computes nothing: it belongs at the head of a block"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "loop m by 3\n  fill",
     "fill: computes nothing: it belongs at the head of a block"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "block\n  fill",
     "block: the parts are `fill` and what adds to it"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "block\n  call\n  call",
     "block: the parts are `fill` and what adds to it"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "block\n  fill\n  fill",
     "block: the parts are `fill` and what adds to it"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "block",
     "block: the parts are `fill` and what adds to it"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "block\n  fill\n  block\n    fill\n    call",
     "block: the output has a value already: nothing to fill"},

    // Holes, and what lies deep.
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "hole m=6 n=16 k=20 a@mem b@mem out@mem", ""},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "hole m=6 n=16 k=20 a@mem b@mem out@mem acc",
     "hole m=6 n=16 k=20 a@mem b@mem out@mem acc: stands where the Spec is m=6 n=16 k=20 a@mem "
     "b@mem out@mem"},
    {"m=7 n=32 k=20 a@mem b@mem out@mem",
     "loop m by 6\n  body\n    loop n by 16\n      call\n  rest 1\n    loop n by 16\n"
     "      copy b to L1\n        split k by 20\n          call",
     "split k by 20: the tile must be at least 1 and less than the extent 20"},
};

TEST_CASE("matmul") {
  const auto f = test::fixture(kMatmul, k6x16, 4);
  for (const Row& row : kMatmulRows) check(f, row);
}

// For a kernel with four threads.
constexpr Row kThreadRows[] = {
    {"m=7 n=37 k=19 a@mem b@mem out@mem threads=4",
     "parallel m by 6 leaving 2\n  body\n    parallel n by 32\n      body\n        loop n by 16\n"
     "          call\n      rest 5\n        call\n  rest 1\n    parallel n by 32\n      body\n"
     "        loop n by 16\n          call\n      rest 5\n        call",
     ""},
    {"m=6 n=32 k=19 a@mem b@mem out@mem threads=4",
     "parallel m by 3 leaving 2\n  parallel n by 16\n    call", ""},
    {"m=6 n=32 k=19 a@mem b@mem out@mem threads=4",
     "parallel m by 3 leaving 2\n  hole m=3 n=32 k=19 a@mem b@mem out@mem threads=2", ""},
    {"m=6 n=32 k=19 a@mem b@mem out@mem threads=4",
     "parallel m by 3 leaving 2\n  loop n by 16\n    parallel n by 8\n      call",
     "loop n by 16: directly inside a parallel loop that leaves 2 threads stands another"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem threads=4", "parallel m by 3 leaving 2\n  call",
     "call: directly inside a parallel loop that leaves 2 threads stands another"},
    {"m=6 n=32 k=19 a@mem b@mem out@mem threads=4",
     "parallel m by 3 leaving 4\n  parallel n by 16\n    call",
     "parallel m by 3 leaving 4: leaves 1 to 3 threads to its steps"},
    {"m=7 n=37 k=20 a@mem b@mem out@L2 packed threads=4",
     "parallel split k by 10\n  hole m=7 n=37 k=10 a@mem b@mem out@L2 packed", ""},
    {"m=7 n=37 k=20 a@mem b@mem out@mem threads=4",
     "parallel split k by 10 leaving 2\n  parallel n by 37\n    call",
     "parallel n by 37: the tile must be at least 1 and less than the extent 37"},
    {"m=7 n=37 k=20 a@mem b@mem out@mem threads=4",
     "parallel split k by 10\n  first\n    call\n  body\n    call",
     "parallel split k by 10: needs no `first`: 2 steps of 10 leave 0"},
    {"m=7 n=37 k=20 a@mem b@mem out@mem acc threads=4", "parallel split k by 10\n  call",
     "parallel split k by 10: the output has a value already, and no share begins with it"},
    {"m=7 n=32 k=20 a@mem b@mem out@mem threads=4", "parallel split k by 10\n  call",
     "parallel split k by 10: a share has a copy of all of out: loops over n come inside"},
    {"m=7 n=37 k=20 a@mem b@mem out@mem threads=4",
     "parallel m by 6 leaving 2\n  body\n    parallel split k by 10\n      call\n"
     "  rest 1\n    parallel split k by 10\n      call",
     "parallel split k by 10: the shares of k are added when the region is over: its loop is the "
     "first"},
    {"m=7 n=37 k=20 a@mem b@mem out@mem", "parallel split k by 10\n  call",
     "parallel split k by 10: there is one thread here"},
};

struct OtherRow {
  std::string_view kernel, family;
  Row row;
};

constexpr OtherRow kOtherRows[] = {
    // What the leaf can read where the user put it.
    {"(a: f32[7,19], b: f32[19,37] col): f32 = matmul(a, b)",
     k6x16,
     {"m=6 n=16 k=19 a@mem b@mem out@mem", "call",
      "call: b must be copied: load_f32x8 reads neighbours along n and they are 19 apart"}},
    {"(a: f32[7,19] col, b: f32[19,37]): f32 = matmul(a, b)",
     k6x16,
     {"m=6 n=16 k=19 a@mem b@mem out@mem", "call", ""}},
    {"(a: bf16[7,19], b: f32[19,37]): f32 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8",
     {"m=6 n=16 k=19 a@mem b@mem out@mem", "call",
      "call: a must be copied: it is bf16 and broadcast_f32x8 reads f32"}},
    {"(a: bf16[7,19], b: f32[19,37]): f32 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_bf16x8",
     {"m=6 n=16 k=19 a@mem b@mem out@mem", "call", ""}},
    {"(a: bf16[7,19], b: bf16[19,37]): f32 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:4,n:16 a=broadcast_bf16x8 b=load_bf16x8x2",
     {"m=4 n=16 k=19 a@mem b@mem out@mem", "call",
      "call: b must be copied: load_bf16x8x2 reads a packed order"}},
    {"(a: bf16[7,19], b: bf16[19,37]): f32 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:4,n:16 a=broadcast_bf16x8 b=load_bf16x8x2",
     {"m=4 n=16 k=19 a@mem b@mem out@mem", "copy b to L1\n  call", ""}},
    {"(a: bf16[7,19], b: bf16[19,37] packed): f32 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_bf16x8 b=load_f32x8",
     {"m=6 n=16 k=19 a@mem b@mem out@mem", "call",
      "call: b must be copied: it is bf16 and load_f32x8 reads f32"}},
    {"(a: f32[6,12], b: f32[12,40] order(1/4, 0, 1%4)): f32 = matmul(a, b)",
     k6x16,
     {"m=6 n=16 k=12 a@mem b@mem out@mem", "call",
      "call: b must be copied: load_f32x8 reads 8 neighbours and its blocks have 4"}},
    {"(a: f32[6,12], b: f32[12,40] order(1/16, 0, 1%16)): f32 = matmul(a, b)",
     k6x16,
     {"m=6 n=16 k=12 a@mem b@mem out@mem", "call", ""}},
    {"(a: f32[6,12], b: f32[12,40] order(1/16, 0, 1%16)): f32 = matmul(a, b)",
     k6x16,
     {"m=6 n=40 k=12 a@mem b@mem out@mem", "loop n by 8\n  call",
      "loop n by 8: the tile is no multiple of the blocks of 16 in b"}},
    {"(a: f32[6,12], b: f32[12,40] order(0/4, 1, 0%4)): f32 = matmul(a, b)",
     "fma_f32 quantum=m:2,n:4",
     {"m=2 n=4 k=12 a@mem b@mem out@mem", "call",
      "call: the leaf takes k in steps of 1, across the blocks of 4 in b"}},
    {"(a: f32[6,12], b: f32[12,40] order(0/4, 1, 0%4)): f32 = matmul(a, b)",
     "fma_f32 quantum=m:2,n:4",
     {"m=2 n=4 k=12 a@mem b@mem out@mem acc", "split k by 4\n  call", ""}},

    // Rows far apart: of all parts of what there is, and nobody copies them.
    {"(a: f32[2,40], b: f32[40,24] col): f32 = matmul(a, b)",
     "dot_f32x8 lane=k quantum=m:2,n:4,k:8 apart=n",
     {"m=2 n=24 k=40 a@mem b@mem out@mem", "loop n by 2\n  call",
      "loop n by 2: the tile is no multiple of the blocks of 4 in b"}},
    {"(a: f32[2,40], b: f32[40,24] col): f32 = matmul(a, b)",
     "dot_f32x8 lane=k quantum=m:2,n:4,k:8 apart=n",
     {"m=2 n=4 k=40 a@mem b@mem out@mem", "copy b to L1\n  call",
      "copy b to L1: the family has no packed order for b"}},

    // A narrow output holds no partial sums.
    {"(a: bf16[7,19], b: bf16[19,37]): bf16 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_bf16x8 b=load_bf16x8",
     {"m=6 n=16 k=20 a@mem b@mem out@mem", "split k by 10\n  first\n    call\n  body\n    call",
      "call: out is bf16 here and sums are f32: only a copy of it accumulates"}},
    {"(a: bf16[7,19], b: bf16[19,37]): bf16 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_bf16x8 b=load_bf16x8",
     {"m=6 n=16 k=20 a@mem b@mem out@mem", "block\n  fill\n  call",
      "call: out is bf16 here and sums are f32: only a copy of it accumulates"}},
    {"(a: bf16[7,19], b: bf16[19,37]): bf16 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_bf16x8 b=load_bf16x8",
     {"m=6 n=16 k=20 a@mem b@mem out@mem",
      "copy out to L1\n  split k by 10\n    first\n      call\n    body\n      call", ""}},
    {"(a: bf16[7,19], b: bf16[19,37]): bf16 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_bf16x8 b=load_bf16x8",
     {"m=6 n=16 k=20 a@mem b@mem out@mem acc", "copy out to L1\n  call",
      "copy out to L1: out is bf16 here and sums are f32: only a copy of it accumulates"}},

    {"(a: bf16[7,19], b: bf16[19,37]): bf16 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_bf16x8 b=load_bf16x8",
     {"m=7 n=37 k=20 a@mem b@mem out@mem threads=2", "parallel split k by 10\n  call",
      "parallel split k by 10: out is bf16 here and sums are f32: only a copy of it accumulates"}},

    // Without a sum there is nothing to add to.
    {"(x: f32[35], y: f32[35]): f32 = add(x, y)",
     "map_f32x8",
     {"i=8 x@mem y@mem out@mem", "block\n  fill\n  call",
      "block: only a sum can be added to a filled output"}},
    {"(x: f32[35], y: f32[35]): f32 = add(x, y)",
     "map_f32x8",
     {"i=8 x@mem y@mem out@mem acc", "call", "call: only a sum accumulates"}},

    // What is stored past the caches is complete, in vectors, and not read again.
    {"(x: f32[35], y: f32[35]): f32 = add(x, y)",
     "map_f32x8",
     {"i=8 x@mem y@mem out@mem", "call streaming", ""}},
    {"(x: f32[35], y: f32[35]): f32 = add(x, y)",
     "map_f32x8",
     {"i=8 x@mem y@mem out@mem", "call ahead out 0 streaming",
      "call ahead out 0 streaming: lines that are not read are not asked for"}},
    {"(x: f32[35], y: f32[35]): f32 = add(x, y)",
     "map_f32x8",
     {"i=8 x@mem y@mem out@L1 packed", "call streaming", "call streaming: a copy is read again"}},
    {kMatmul,
     k6x16,
     {"m=6 n=16 k=19 a@mem b@mem out@mem", "call streaming",
      "call streaming: a leaf cannot know whether its sum is complete"}},
    {"(x: f32[35], y: f32[35]): f32 = add(x, y)",
     "map_f32 ",
     {"i=1 x@mem y@mem out@mem", "call streaming",
      "call streaming: store_f32 cannot store past the caches"}},
    {"(x: f32[6,9], y: f32[6,9] col): f32 = add(x, y)",
     "map_f32x8 lane=i1",
     {"i0=1 i1=8 x@mem y@mem out@mem", "copy y to L1\n  call streaming",
      "call streaming: neighbours along i0 are 9 elements of out apart and vectors of 16 bytes"}},
    {"(x: f32[6,12], y: f32[6,12] col): f32 = add(x, y)",
     "map_f32x8 lane=i1",
     {"i0=1 i1=8 x@mem y@mem out@mem", "copy y to L1\n  call streaming", ""}},
};

TEST_CASE("threads") {
  const auto f = test::fixture(kMatmul, k6x16, 4);
  for (const Row& row : kThreadRows) check(f, row);
}

TEST_CASE("other kernels") {
  for (const OtherRow& other : kOtherRows) {
    CAPTURE(other.kernel);
    check(test::fixture(other.kernel, other.family), other.row);
  }
}

// What no text can say, or no family of ours has.
TEST_CASE("damaged programs and families") {
  auto f = test::fixture(kMatmul, k6x16);
  const Spec spec = test::hole_spec(f.problem, "m=6 n=16 k=20 a@mem b@mem out@mem");
  const auto why = [&](Impl impl) { return verify(f.problem, spec, impl); };
  CHECK(why({Move{.operand = 0, .copy = true}}) == "copy a to L1: lacks a child");
  CHECK(why({Loop{.dim = 0, .tile = 0}}) ==
        "loop m by 0: the tile must be at least 1 and less than the extent 6");
  CHECK(why({Loop{.dim = 0, .tile = 3}}) == "loop m by 3: lacks `body`: 2 steps of 3 leave 0");
  CHECK(why({Loop{.dim = 0, .tile = 3, .threads = 2}}) ==
        "loop m by 3 leaving 2: only a parallel loop leaves threads");
  CHECK(why({Block{{nullptr, nullptr}}}) == "block: the parts are `fill` and what adds to it");
  CHECK(why({Call{Call::Kind::kLeaf, 0, 0}}) ==
        "call ahead a 0: the distance of a prefetch is at least one byte");

  f.problem.family.registers = 17;
  CHECK(why({Call{}}) == "call: the leaf needs 17 vector registers of 16");
  f.problem.family.registers = 16;
  CHECK(why({Call{}}) == "");
  f.problem.family.packed[0].digits.clear();
  CHECK(why(*test::program(f.problem, "copy a to L1\n  call")) ==
        "copy a to L1: the family has no packed order for a");
}

TEST_CASE("rows far apart are those of all of a stage") {
  test::Fixture f = test::fixture("(a: f32[2,40], b: f32[40,24] col): f32 = matmul(a, b)",
                                  "dot_f32x8 lane=k quantum=m:2,n:4,k:8 apart=n");
  const ImplPtr call = test::program(f.problem, "loop n by 4\n  call\n");
  CHECK(verify(f.problem, f.problem.root(), *call) == "");
  f.problem.part.staged = true;
  CHECK(verify(f.problem, f.problem.root(), *call) ==
        "call: a part of a stage takes rows of n side by side, not from parts of all");
  f.problem.part.whole = true;
  CHECK(verify(f.problem, f.problem.root(), *call) == "");
}

TEST_CASE("rows that are joined are whole, and those of all of a stage") {
  test::Fixture f = test::fixture("(x: f32[40,6], y: f32[6]): f32 = x + y",
                                  "map_f32x8 lane=i1 quantum=i0:40,i1:6");
  const ImplPtr call = test::program(f.problem, "call");
  CHECK(verify(f.problem, f.problem.root(), *call) == "");
  CHECK(verify(f.problem, f.problem.root(), *test::program(f.problem, "loop i0 by 8\n  call")) ==
        "");
  Spec part = f.problem.root();
  part.extent[1] = 5;
  CHECK(verify(f.problem, part, *call) == "call: rows along i1 are joined: all 6 of each, not 5");
  f.problem.part.staged = true;
  CHECK(verify(f.problem, f.problem.root(), *call) ==
        "call: rows of a part of a stage are not joined");
  f.problem.part.whole = true;
  CHECK(verify(f.problem, f.problem.root(), *call) == "");
}

}  // namespace
}  // namespace morello
