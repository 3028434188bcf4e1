// The promise of coordinates.h: Specs with one key, whatever kernel they were met under, have the
// same candidates and children with the same keys.

#include "search/coordinates.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "long.h"
#include "toy.h"

namespace morello {
namespace {

using Candidates = std::vector<std::string>;

struct Met {
  std::map<std::pair<std::string, Key>, Candidates> candidates;  // by signature and key
  int specs = 0;                                                 // (root, Spec) pairs looked at
  int shared = 0;  // of which the key was known from another root
};

std::string key_text(const Key& k) {
  return fmt::format("{} {}", fmt::join(k.page, ","), fmt::join(k.point, ","));
}

// Follows every candidate below a root, and compares the candidates of every key met before. All
// Specs of a root are looked at, also those that share a key with another of the same root.
void follow(const Space& space, const Spec& spec, std::set<std::string>& seen, Met& met,
            const std::set<std::pair<std::string, Key>>& before) {
  if (!seen.insert(str(spec, space.computation())).second) return;
  std::vector<Candidate> all;
  auto keep = [&](const Candidate& c) { all.push_back(c); };
  expand(space, spec, keep);
  Candidates texts;
  for (const Candidate& c : all) {
    std::string text = fmt::format("{} {} {} {}: {} + ", c.decision.rewrite, c.decision.subject,
                                   c.decision.detail, c.decision.value, c.cost.base.value());
    for (int i = 0; i < c.cost.children; ++i)
      text += fmt::format("{} * ({}) ", c.cost.weight[i], key_text(space.key(c.child[i])));
    texts.push_back(text + fmt::format("takes {}", fmt::join(c.takes.bytes, " ")));
  }
  const std::string sums = space.keeps_sums(spec) ? space.signature_of_sums() : "";
  const std::pair id(sums.empty() ? space.signature() : sums, space.key(spec));
  ++met.specs;
  met.shared += before.contains(id);
  const auto [it, fresh] = met.candidates.emplace(id, texts);
  CAPTURE(str(spec, space.computation()));
  CAPTURE(describe(id.second, space.dims(), space.operands()));
  REQUIRE(it->second == texts);
  for (const Candidate& c : all)
    for (int i = 0; i < c.cost.children; ++i) follow(space, c.child[i], seen, met, before);
}

using Row = std::vector<const char*>;  // kernels with sub-problems in common

// Strides that fill whole pages and such that do not, rows of a few elements (several to a line, or
// to a short one), rows that touch, remainders, columns, blocks, batches; menus that begin at
// several tiles and go on in several powers; all dtypes.
const Row kRows[] = {
    {"(a: f32[24,64], b: f32[64,32]): f32 = matmul(a, b)",
     "(a: f32[24,64], b: f32[64,48]): f32 = matmul(a, b)",
     "(a: f32[12,40], b: f32[40,32]): f32 = matmul(a, b)",
     "(a: f32[12,40], b: f32[40,1024]): f32 = matmul(a, b)",
     "(a: f32[12,40], b: f32[40,2048]): f32 = matmul(a, b)",
     "(a: f32[12,1024], b: f32[1024,1056]): f32 = matmul(a, b)"},
    {"(a: f32[7,20], b: f32[20,19]): f32 = matmul(a, b)",
     "(a: f32[7,20], b: f32[20,3]): f32 = matmul(a, b)",
     "(a: f32[13,20], b: f32[20,19]): f32 = matmul(a, b)"},
    {"(a: f32[24,64] col, b: f32[64,32] col): f32 col = matmul(a, b)",
     "(a: f32[24,64] col, b: f32[64,16] col): f32 col = matmul(a, b)"},
    {"(a: bf16[3,64], b: bf16[64,192] packed): bf16 = matmul(a, b)",
     "(a: bf16[3,64], b: bf16[64,96] packed): bf16 = matmul(a, b)"},
    {"(a: u8[2,5,18], b: i8[2,18,24]): i32 = matmul(a, b)",
     "(a: u8[3,5,18], b: i8[3,18,24]): i32 = matmul(a, b)"},
    {"(x: f32[40,30] col): f32 = reduce_sum(x, axis=0)",
     "(x: f32[40,64] col): f32 = reduce_sum(x, axis=0)"},
    {"(x: f32[48,30], y: f32[48,30] col): f32 = add(x, y)",
     "(x: f32[80,30], y: f32[80,30] col): f32 = add(x, y)"},
    {"(a: f32[40,3], b: f32[3,16]): f32 = matmul(a, b)",
     "(a: f32[40,5], b: f32[5,16]): f32 = matmul(a, b)",
     "(a: f32[24,3], b: f32[3,16]): f32 = matmul(a, b)",
     "(a: f32[24,5], b: f32[5,32]): f32 = matmul(a, b)"},
    {"(a: bf16[12,40], b: bf16[40,3]): f32 = matmul(a, b)",
     "(a: bf16[12,40], b: bf16[40,5]): f32 = matmul(a, b)",
     "(a: bf16[20,40], b: bf16[40,5]): f32 = matmul(a, b)"},
    {"(a: bf16[3,80], b: bf16[80,48] packed): f32 = matmul(a, b)",
     "(a: bf16[3,144], b: bf16[144,48] packed): f32 = matmul(a, b)",
     "(a: bf16[3,80], b: bf16[80,108] packed): f32 = matmul(a, b)"},
    {"(a: f32[3,20], b: f32[20,108]): f32 = matmul(a, b)",
     "(a: f32[3,20], b: f32[20,236]): f32 = matmul(a, b)",
     "(a: f32[3,520], b: f32[520,24]): f32 = matmul(a, b)",
     "(a: f32[3,300], b: f32[300,24]): f32 = matmul(a, b)"},
    {"(a: f32[3,36], b: f32[36,24] order(1/12, 0, 1%12)): f32 = matmul(a, b)",
     "(a: f32[3,36], b: f32[36,60] order(1/12, 0, 1%12)): f32 = matmul(a, b)",
     "(a: f32[3,44], b: f32[44,24] order(1/12, 0, 1%12)): f32 = matmul(a, b)",
     "(a: f32[3,300], b: f32[300,24] order(0/8, 1, 0%8)): f32 = matmul(a, b)",
     "(a: f32[3,520], b: f32[520,24] order(0/8, 1, 0%8)): f32 = matmul(a, b)",
     "(a: f32[4,2,2], b: f32[4,2,384] order(0/2, 1, 0%2, 2)): f32[4,2,384] order(2, 0, 1) = "
     "matmul(a, b)",
     "(a: f32[6,2,2], b: f32[6,2,384] order(0/2, 1, 0%2, 2)): f32[6,2,384] order(2, 0, 1) = "
     "matmul(a, b)",
     "(a: f32[4,2,2], b: f32[4,2,512] order(0/2, 1, 0%2, 2)): f32[4,2,512] order(2, 0, 1) = "
     "matmul(a, b)"},
    {"(a: f32[24,64], b: f32[64,32], c: f32[32], d: f32[24,32]): f32 = exp(matmul(a, b) + c) - d",
     "(a: f32[24,64], b: f32[64,48], c: f32[48], d: f32[24,48]): f32 = exp(matmul(a, b) + c) - d",
     "(a: f32[1,64], b: f32[64,48], c: f32[48], d: f32[1,48]): f32 = exp(matmul(a, b) + c) - d"},
    {"(a: f32[24,64], b: f32[64,8] col, c: f32[8]): f32 col = exp(matmul(a, b) + c)",
     "(a: f32[24,48], b: f32[48,8] col, c: f32[8]): f32 col = exp(matmul(a, b) + c)",
     "(a: f32[1,64], b: f32[64,8] col, c: f32[8]): f32 col = exp(matmul(a, b) + c)"},
    {"(x: f32[48,30], y: f32[48,30] col, z: f32[48,30] col): f32 = x * y + z",
     "(x: f32[80,30], y: f32[80,30] col, z: f32[80,30] col): f32 = x * y + z",
     "(x: f32[80,1], y: f32[80,1] col, z: f32[80,1] col): f32 = x * y + z"},
    {"(x: f32[1,9,10,4], k: f32[3,3,4,16]): f32 = conv2d(x, k)",
     "(x: f32[1,12,10,4], k: f32[3,3,4,32]): f32 = conv2d(x, k)",
     "(x: f32[2,9,18,4], k: f32[3,3,4,16]): f32 = conv2d(x, k)"},
    {"(x: f32[1,9,41,8] order(0, 3, 1, 2), k: f32[2,3,1,8]): f32 order(0, 3, 1, 2) = "
     "conv2d(x, k, groups=8, stride=2)",
     "(x: f32[1,12,41,8] order(0, 3, 1, 2), k: f32[2,3,1,8]): f32 order(0, 3, 1, 2) = "
     "conv2d(x, k, groups=8, stride=2)"},
    {"(x: f32[1,9,10,4], k: f32[3,3,4,16]): f32 = "
     "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, high=1), k)",
     "(x: f32[1,12,10,4], k: f32[3,3,4,32]): f32 = "
     "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, high=1), k)",
     "(x: f32[1,12,10,4], k: f32[3,3,4,16]): f32 = "
     "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, high=1), k)"},
    {"(x: f32[48,3], y: f32[48,3] col): f32 = add(x, y)",
     "(x: f32[48,5], y: f32[48,5] col): f32 = add(x, y)",
     "(x: f32[64,5], y: f32[64,5] col): f32 = add(x, y)",
     "(x: f32[64,3], y: f32[64,3] col): f32 = add(x, y)"},
    // Rows of a page and more: whole under one root, parts under another.
    {"(a: f32[1,1024], b: f32[1024,24] col): f32 = matmul(a, b)",
     "(a: f32[1,2048], b: f32[2048,24] col): f32 = matmul(a, b)",
     "(a: f32[1,1024], b: f32[1024,12] col): f32 = matmul(a, b)"},
    // The same, a line or more apart: all rows of one root, all halves of rows of another.
    {"(a: f32[1,1024], b: f32[1024,24] col strided): f32 = matmul(a, b)",
     "(a: f32[1,2048], b: f32[2048,24] col strided): f32 = matmul(a, b)",
     "(a: f32[1,2048], b: f32[2048,48] col strided): f32 = matmul(a, b)"},
    // Rows that prefetchers follow side by side, and halves of rows that are as long.
    {"(a: f32[1,4096], b: f32[4096,8] col strided): f32 = matmul(a, b)",
     "(a: f32[1,8192], b: f32[8192,8] col strided): f32 = matmul(a, b)",
     "(a: f32[1,4096], b: f32[4096,8] col): f32 = matmul(a, b)"},
    // Pieces of rows along the reduction that are streams, of roots with more and less of them.
    {"(a: f32[1,544], b: f32[544,64]): f32 = matmul(a, b)",
     "(a: f32[1,544], b: f32[544,128]): f32 = matmul(a, b)",
     "(a: f32[1,1088], b: f32[1088,64]): f32 = matmul(a, b)"},
    // Rows far apart.
    {"(a: f32[1,64], b: f32[64,64] col): f32 = matmul(a, b)",
     "(a: f32[1,64], b: f32[64,128] col): f32 = matmul(a, b)",
     "(a: f32[1,128], b: f32[128,32] col): f32 = matmul(a, b)"},
    // Pieces of elements that are streams, of one row or of several that touch.
    {"(x: f32[8,96], y: f32[8,96] strided): f32 = add(x, y)",
     "(x: f32[16,96], y: f32[16,96] strided): f32 = add(x, y)",
     "(x: f32[8,192], y: f32[8,192] strided): f32 = add(x, y)"},
};

// Families: the one that is named or, if none is, two in whose form the ahead-of-time packer leaves
// b, and two that have to copy it.
void check_row(const Machine& machine, const Row& row, std::string_view only = "") {
  Met met;
  std::set<std::pair<std::string, Key>> before;
  for (const char* text : row) {
    CAPTURE(text);
    const Computation c = computation_of(spec(text));
    // Any family will do, if the other roots have it too.
    int taken[2][2] = {};
    for (const Family& f : families(c, *find_isa("avx2"))) {
      const Problem p{&c, &machine, f, 1};
      const bool as_packed = p.root().place[1].packed == c.operands[1].packed;
      if (!only.empty() && f.str(c) != only) continue;
      if (f.quantum[0] > 16 || ++taken[as_packed][f.apart >= 0] > 2) continue;
      const Space space(p);
      std::set<std::string> seen;
      follow(space, space.problem().root(), seen, met, before);
    }
    before.clear();
    for (const auto& [id, texts] : met.candidates) before.insert(id);
  }
  MESSAGE(std::string(row.front()) << ": " << met.specs << " Specs, " << met.candidates.size()
                                   << " keys, " << met.shared << " met under another root");
  CHECK(met.specs > 100);
  // Lines of 128 bytes and more are longer than many of these rows, whose strides are in the
  // signature then, and others begin in them where those of the other roots do not.
  CHECK((met.shared > 0 || machine.levels[kL1].line > 64));
}

// Every so many rows, of which the first has this number.
void check_rows(const Machine& machine, size_t every, size_t number = 0) {
  for (const Row& row : kRows)
    if (has_turn(number++, every)) check_row(machine, row);
}

TEST_CASE("equal keys mean equal candidates, under every root") {
  size_t turn = 0;
  for (int line : {16, 64, 128, 1024}) {
    CAPTURE(line);
    Machine machine = toy_machine(2048, 65536);
    for (LevelDesc& level : machine.levels) level.line = line;
    machine.levels[kMemory].stream_millicycles = 5000;
    machine.levels[kMemory].asked_copy_millicycles = 6000;
    machine.levels[kMemory].leaf_start_millicycles = 70'000;
    check_rows(machine, line == 64 ? 2 : 5, turn++);
    if (line != 64) continue;
    machine.four_streams_percent = 50;
    machine.levels[kMemory].row_millicycles = 9000;
    check_rows(machine, 5, 1);
  }
}

// Read once under one root and again under another, together and a line apart.
TEST_CASE("equal keys mean equal candidates where the next rows are asked for") {
  Machine machine = toy_machine(2048, 65536);
  machine.prefetch_bytes = 64;
  for (const Level l : {kL3, kMemory}) {
    LevelDesc& far = machine.levels[l];
    far.prefetched_millicycles = far.line_millicycles - 1000;
    far.next_rows_millicycles = far.line_millicycles / 2;
  }
  const Row row = {"(a: f32[1,256], b: f32[256,64] col): f32 = matmul(a, b)",
                   "(a: f32[12,256], b: f32[256,64] col): f32 = matmul(a, b)",
                   "(a: f32[1,256], b: f32[256,128] col): f32 = matmul(a, b)",
                   "(a: f32[1,256], b: f32[256,128] col strided): f32 = matmul(a, b)"};
  check_row(machine, row,
            "dot_f32x8 lane=k quantum=n:4,k:16 a=load_f32x8 b=load_f32x8 out=store_f32");
}

TEST_CASE("equal keys mean equal candidates where the next panels are asked for") {
  Machine machine = toy_machine(2048, 8192);
  machine.prefetch_bytes = 1024;
  for (const Level l : {kL3, kMemory}) machine.levels[l].asked_panel_millicycles = 500;
  const Row row = {"(a: f32[12,64], b: f32[64,48] packed): f32 = matmul(a, b)",
                   "(a: f32[12,64], b: f32[64,96] packed): f32 = matmul(a, b)",
                   "(a: f32[12,128], b: f32[128,48] packed): f32 = matmul(a, b)",
                   "(a: f32[6,64], b: f32[64,48] packed): f32 = matmul(a, b)"};
  check_row(machine, row,
            "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8");
}

// In such parts nobody asks ahead.
TEST_CASE("parts of stages have tables of their own where copies or views ask") {
  const KernelSpec k = spec("(a: f32[12,64], b: f32[64,48] packed): f32 = matmul(a, b)");
  i64 LevelDesc::*const kKeys[] = {
      &LevelDesc::asked_copy_millicycles, &LevelDesc::asked_by_leaves_millicycles,
      &LevelDesc::asked_view_millicycles, &LevelDesc::asked_panel_millicycles};
  const auto differ = [&](const Machine& machine) {
    Problem p{&k.computation(), &machine, families(k.computation(), *find_isa("avx2"))[0], 1};
    const std::string whole = Space(p).signature();
    p.part.staged = true;
    return Space(p).signature() != whole;
  };
  CHECK(!differ(toy_machine()));
  for (const auto key : kKeys) {
    Machine machine = toy_machine();
    machine.levels[kMemory].*key = 3000;
    CHECK(differ(machine));
  }
}

// Pieces of rows, too, which are as long and as far apart by the page, but not by the byte, and of
// which as many are within reach, or fewer.
TEST_CASE("equal keys mean equal candidates where the next pieces of rows are asked for") {
  struct Roots {
    i64 l2;
    Row row;
  };
  const Roots kRoots[] = {{524288,
                           {"(a: f32[1,4096], b: f32[4096,48] col): f32 = matmul(a, b)",
                            "(a: f32[1,8192], b: f32[8192,48] col): f32 = matmul(a, b)"}},
                          {131072,
                           {"(a: f32[1,2048], b: f32[2048,24] col): f32 = matmul(a, b)",
                            "(a: f32[1,4096], b: f32[4096,24] col): f32 = matmul(a, b)",
                            "(a: f32[1,2048], b: f32[2048,48] col): f32 = matmul(a, b)"}},
                          {131072,
                           {"(a: f32[12,256], b: f32[256,64] col): f32 = matmul(a, b)",
                            "(a: f32[1,256], b: f32[256,64] col): f32 = matmul(a, b)",
                            "(a: f32[1,256], b: f32[256,128] col): f32 = matmul(a, b)"}}};
  for (const Roots& roots : kRoots) {
    Machine machine = toy_machine(2048, roots.l2);
    machine.prefetch_bytes = 64;
    machine.levels[kL2].beside_memory_millicycles = 5000;
    for (const Level l : {kL3, kMemory}) {
      LevelDesc& far = machine.levels[l];
      far.prefetched_millicycles = far.line_millicycles - 1000;
      far.next_pieces_millicycles = far.line_millicycles / 2;
      far.next_piece_start_millicycles = 30'000;
    }
    check_row(machine, roots.row,
              "dot_f32x8 lane=k quantum=n:4,k:16 a=load_f32x8 b=load_f32x8 out=store_f32");
  }
}

// Pixels of eight elements, of which every third is not read: rows of 88 and of 104 elements.
TEST_CASE("equal keys mean equal candidates where windows leave something out") {
  for (Machine machine : {toy_machine(2048, 65536), *load_machine("zen4")})
    check_row(machine,
              {"(x: f32[3,12,11,8], k: f32[4,2,8,17] packed): f32 = conv2d(x, k, stride=3)",
               "(x: f32[3,12,13,8], k: f32[4,2,8,17] packed): f32 = conv2d(x, k, stride=3)"});
}

TEST_CASE("equal keys mean equal candidates whatever is made of sums in a copy") {
  for (Machine machine : {toy_machine(2048, 65536), *load_machine("zen4")})
    check_row(machine,
              {"(a: f32[24,64], b: f32[64,32]): f32 = relu(matmul(a, b))",
               "(a: f32[24,64], b: f32[64,32], c: f32[24,32]): bf16 = gelu(matmul(a, b)) * c",
               "(a: f32[24,64], b: f32[64,32], c: f32[32]): f32 col = matmul(a, b) + c",
               "(a: f32[24,64], b: f32[64,32], c: f32[32]): f32 order(1/8, 0, 1%8) = "
               "matmul(a, b) / c"});
}

TEST_CASE("what shows of a menu stands for its tiles") {
  const auto below = [](i64 extent, std::initializer_list<i64> firsts, i64 ratio) {
    std::set<i64> tiles;
    for (i64 first : firsts)
      for (i64 t = first; t < extent; t *= ratio) tiles.insert(t);
    return tiles;
  };
  for (i64 block : {8, 12, 24, 32, 100})
    for (i64 extent = 1; extent <= 2000; ++extent) {
      CAPTURE(extent);
      std::map<std::uint64_t, std::set<i64>> said;
      for (i64 ratio : {2, 4, 8, 16, 32, 64}) {
        const std::uint64_t seen = Menu{8, 8, ratio}.seen(extent);
        const std::set<i64> tiles = below(extent, {8, block}, ratio);
        REQUIRE(seen < 8);
        REQUIRE(said.emplace(seen, tiles).first->second == tiles);
      }
      CHECK(said.size() == (extent <= 16 ? 1 : 6));
    }
}

// All that Region and Space::transfer() ask of the distance between rows.
std::string observed(i64 bytes, i64 line) {
  if (bytes < line) return "shares lines";  // the signature knows the bytes
  const i64 step =
      std::min(kPage, static_cast<i64>(std::bit_floor(static_cast<unsigned>(bytes / line))) * line);
  return fmt::format("step {} spread {}", step,
                     std::gcd(bytes, kPage) <= line ? line : std::gcd(bytes, kPage));
}

TEST_CASE("a stride's class stands for what costs observe of it, for every line") {
  for (i64 line = kLeastLine; line <= 1024; line *= 2) {
    CAPTURE(line);
    std::map<int, std::string> said;
    std::set<std::string> different;
    for (i64 bytes = 1; bytes <= 4 * kPage; ++bytes) {
      const int kind = stride_class(bytes, line);
      REQUIRE((kind > kTouching && kind < 128));
      REQUIRE(said.emplace(kind, observed(bytes, line)).first->second == observed(bytes, line));
      different.insert(observed(bytes, line));
    }
    CHECK(said.size() == different.size());
  }
}

}  // namespace
}  // namespace morello
