#include "impl/patchwork.h"

#include <set>

#include "impl/fixture.h"

namespace morello {
namespace {

using test::Random;

std::string text(const std::vector<Cut>& cuts) {
  std::string out;
  for (const Cut& c : cuts) out += fmt::format("{}{}+{}", out.empty() ? "" : " ", c.at, c.length);
  return out;
}

TEST_CASE("how sizes are cut") {
  const PiecedDim halves{0, {64, 32, 16}}, each{0, {4, 3, 2, 1}}, far{0, {64, 8, 1}};
  const auto parallel = [](const PiecedDim& d, i64 n) { return text(cuts(d, n, false)); };
  const auto sum = [](const PiecedDim& d, i64 n) { return text(cuts(d, n, true)); };
  CHECK(parallel(halves, 16) == "0+16");
  CHECK(parallel(halves, 48) == "0+32 32+16");
  CHECK(parallel(halves, 64) == "0+64");
  CHECK(parallel(halves, 176) == "0+64 64+64 112+64");  // what is left overlaps
  CHECK(parallel(halves, 208) == "0+64 64+64 128+64 192+16");
  CHECK(parallel(each, 3) == "0+3");
  CHECK(parallel(each, 7) == "0+4 4+3");  // a bound that was not kept is no trouble
  CHECK(parallel(far, 20) == "0+8 8+8 12+8");
  CHECK(parallel(far, 3) == "0+1 1+1 2+1");
  CHECK(sum(halves, 176) == "0+64 64+64 128+32 160+16");
  CHECK(sum(far, 20) == "0+8 8+8 16+1 17+1 18+1 19+1");

  // Elastic: reductions below the largest size, parallel dims below all others.
  CHECK(sum({0, {256, 1}, 1}, 300) == "0+256 256+44");
  CHECK(sum({0, {256, 1}, 1}, 255) == "0+255");
  CHECK(sum({0, {64, 8, 1}, 1}, 140) == "0+64 64+64 128+8 136+4");
  CHECK(sum({0, {64, 8, 4}, 1}, 60) == "0+56 56+4");
  CHECK(parallel({0, {64, 16, 1}, 2}, 77) == "0+64 61+16");
  CHECK(parallel({0, {64, 16, 1}, 2, {17, 16, 1}}, 77) == "0+64 64+13");
  CHECK(parallel({0, {64, 16, 1}, 2}, 15) == "0+15");
  CHECK(parallel({0, {64, 16, 4}, 2, {64, 16, 4}}, 92) == "0+64 64+16 80+12");
}

TEST_CASE("what is left goes to the pieces that cost least") {
  const auto rests = [](PiecedDim d, const std::vector<i64>& cycles) {
    choose_rests(d, cycles);
    return d.rests;
  };
  // 64 take 640 cycles: up to six times 8 and one 1 take less, and up to four 1 less than 8.
  CHECK(rests({0, {64, 8, 1}}, {640, 100, 20}) == std::vector<i64>{50, 5, 1});
  // Nothing gained by small pieces, and nothing by large ones but what they have less of to do.
  CHECK(rests({0, {64, 8, 1}}, {640, 640, 640}) == std::vector<i64>{9, 2, 1});
  CHECK(rests({0, {64, 8, 1}}, {640, 80, 10}) == std::vector<i64>{64, 8, 1});
  CHECK(rests({0, {12, 3}}, {100, 30}) == std::vector<i64>{12, 3});
  // An elastic piece does all that is left at once.
  CHECK(rests({0, {64, 16, 1}, 2}, {300, 100, 110}) == std::vector<i64>{33, 2, 1});
  CHECK(rests({0, {64, 16, 1}, 2}, {300, 100, 90}) == std::vector<i64>{48, 16, 1});
}

TEST_CASE("cuts cover all, inside, and sums just once") {
  for (const PiecedDim& dim : {PiecedDim{0, {1}},
                               {0, {8, 4, 2, 1}},
                               {0, {48, 24, 12}},
                               {0, {5, 4, 3, 2, 1}},
                               {0, {256, 32, 4}},
                               {0, {256, 32, 4}, 0, {100, 20, 4}},
                               {0, {256, 32, 4}, 2},
                               {0, {256, 1}, 1},
                               {0, {64, 16, 1}, 2, {50, 16, 1}}}) {
    for (i64 n = dim.sizes.back(); n < 700; n += dim.sizes.back()) {
      for (const bool reduction : {false, true}) {
        i64 done = 0, twice = 0;
        for (const Cut& c : cuts(dim, n, reduction)) {
          REQUIRE((c.at >= 0 && c.at <= done));
          REQUIRE((c.length > 0 && c.length <= dim.extent(c.which)));
          REQUIRE((dim.is_elastic(c.which) || c.length == dim.extent(c.which)));
          twice += done - c.at;
          done = c.at + c.length;
          REQUIRE(done <= n);
        }
        REQUIRE(done == n);
        REQUIRE((!reduction || twice == 0));
      }
    }
  }
}

// A sum over k, of run-time size as m is, in pieces of 2 and 1 of m and 4 and 2 of k; every program
// is one leaf.
struct Sample {
  std::unique_ptr<KernelSpec> spec =
      test::spec("(a: f32[m to 2,k%2 to 4], b: f32[k,3] strided): f32 = matmul(a, b)");
  Patchwork work;

  explicit Sample(i64 last_k = 2, bool elastic = false) {
    work.dims = {{0, {2, 1}}, {2, {4, last_k}, elastic ? 1 : 0}};
    work.sums = true;
    for (i64 m : {2, 1})
      for (i64 k : {i64{4}, last_k})
        for (const bool adds : {false, true}) {
          Piece p;
          p.computation = std::make_shared<Computation>(
              with_extents(spec->computation(), {m, 3, elastic ? 4 : k}));
          p.problem.computation = p.computation.get();
          p.problem.part.adds = adds;
          if (elastic && k == last_k) p.problem.part.elastic = 1 << 2;
          for (const Family& f : families(*p.computation, *isa_table().back()))
            if (f.quantum[0] >= m && f.quantum[1] >= 3) p.problem.family = f;
          p.impl = std::make_shared<const Impl>(Impl{Call{}});
          work.programs.push_back(p);
        }
  }
  // c with these sizes; strides as assumed.
  Computation at(i64 m, i64 k) const { return with_extents(spec->computation(), {m, 3, k}); }
};

void check_sizes(const Sample& s) {
  Random random(3);
  for (i64 m : {1, 2, 3, 5})
    for (i64 k : {2, 4, 6, 10, 14}) {
      const Computation c = s.at(m, k);
      const auto inputs = test::random_inputs(c, random);
      CHECK(interpret(s.work, c, inputs) == evaluate(c, inputs));
    }
}

TEST_CASE("a patchwork is run piece by piece") {
  const Sample s;
  REQUIRE(verify(s.work, s.spec->computation()) == "");
  CHECK(s.work.number({1, 0}, true) == 5);
  check_sizes(s);
}

TEST_CASE("elastic pieces are run for as much as there is") {
  Sample s(2, true);
  REQUIRE(verify(s.work, s.spec->computation()) == "");
  // Also where the largest piece has the program of those below.
  for (const bool shared : {false, true}) {
    if (shared)
      for (const bool adds : {false, true})
        s.work.programs[s.work.number({0, 0}, adds)] = s.work.programs[s.work.number({0, 1}, adds)];
    REQUIRE(verify(s.work, s.spec->computation()) == "");
    check_sizes(s);
  }
}

TEST_CASE("what is copied for as much as there is") {
  // Rows, of which calls say the number; not what is adjacent, or what blocks divide.
  const auto copied = [](std::string_view text, int operand, std::string_view isa,
                         std::string dim) {
    const std::unique_ptr<KernelSpec> spec = test::spec(text);
    const Computation& c = spec->computation();
    std::set<bool> answers;
    for (const Family& f : families(c, *find_isa(isa))) {
      if (f.packed[operand].digits.empty()) continue;
      Problem p;
      p.computation = &c;
      p.family = f;
      for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
        if (c.dims[d].name == dim && can_be_elastic(f, c, d, 1))
          answers.insert(can_copy_elastic(p, operand, d));
    }
    return answers;
  };
  const std::set<bool> always = {true}, never = {false};
  const char* product = "(a: f32[6,k near 64], b: f32[k,n near 64]): f32 = matmul(a, b)";
  CHECK(copied(product, 1, "avx2", "k") == always);
  CHECK(copied(product, 0, "avx2", "k") == never);
  CHECK(copied(product, 1, "avx2", "n") == never);
  CHECK(copied(product, 2, "avx2", "n") == never);
  CHECK(copied("(a: f32[k near 64,6] strided, b: f32[k,16]): f32 = matmul(transpose(a), b)", 0,
               "avx2", "k") == always);
  CHECK(copied("(a: f32[6,k near 64], b: f32[16,k]): f32 = matmul(a, transpose(b))", 1, "avx2",
               "k") == never);
  CHECK(copied("(a: f32[6,k%8 near 64], b: f32[k,16] order(0/8, 1, 0%8)): f32 = matmul(a, b)", 1,
               "avx2", "k") == never);
}

TEST_CASE("copies for as much as there is are run") {
  Sample s(2, true);
  for (Piece& p : s.work.programs)
    p.impl = std::make_shared<const Impl>(Impl{Move{.operand = 1, .copy = true, .body = p.impl}});
  REQUIRE(verify(s.work, s.spec->computation()) == "");
  check_sizes(s);
}

TEST_CASE("a patchwork as text") {
  const Sample elastic(2, true);
  CHECK(print(elastic.work, elastic.spec->computation())
            .starts_with("pieces of m: 2 1\npieces of k: 4 any*2\nm=2 k=4: 0 cycles, "));
  const std::string text = print(Sample().work, Sample().spec->computation());
  CHECK(text.starts_with("pieces of m: 2 1\npieces of k: 4 2\nm=2 k=4: 0 cycles, fma_f32 "));
  CHECK(text.find("\nm=1 k=2 adding: 0 cycles, ") != std::string::npos);
}

TEST_CASE("what is no patchwork") {
  Sample s;
  const Computation& c = s.spec->computation();
  CHECK(verify(Sample(3).work, c) == "pieces of k descend to the granule 2");
  s.work.programs.pop_back();
  CHECK(verify(s.work, c) == "7 programs for 8 pieces");
  Sample fixed;
  fixed.work.dims[0].dim = 1;
  CHECK(verify(fixed.work, c) == "the size of n is a number");
  Sample wrong;
  wrong.work.programs[3].impl = std::make_shared<const Impl>(Impl{Move{}});
  CHECK(verify(wrong.work, c) == "m=2 k=2 adding: view a to L1: lacks a child");

  // Of elastic ones.
  Sample odd(2, true);
  odd.work.dims[1].sizes = {6, 4, 2};
  CHECK(verify(odd.work, c) == "k is elastic and 6 no multiple of 4");
  odd.work.dims[1] = {2, {4, 2}, 2};
  CHECK(verify(odd.work, c) == "k is elastic from piece 2 on");
  Sample rows;
  rows.work.dims[0].elastic = 1;
  CHECK(verify(rows.work, c) == "m=1 k=4: other dims are elastic than those of its piece");
  for (size_t n = 4; n < 8; ++n) rows.work.programs[n].problem.part.elastic = 1;
  CHECK(verify(rows.work, c) == "m<=1 k=4: its leaves cannot do any multiple of 1 of m");
  Sample fixed_sum(2, true);
  fixed_sum.work.programs[2].problem.part.elastic = 0;
  CHECK(verify(fixed_sum.work, c) == "m=2 k=4: other dims are elastic than those of its piece");
  const auto with = [&](Impl impl) {
    Sample s(2, true);
    s.work.programs[2].impl = std::make_shared<const Impl>(std::move(impl));
    return verify(s.work, c);
  };
  const ImplPtr leaf = std::make_shared<const Impl>(Impl{Call{}});
  CHECK(with({Loop{.dim = 2, .tile = 1, .first = leaf, .body = leaf}}) ==
        "m=2 k<=4: it divides k, which is elastic");
  CHECK(with({Move{.operand = 0, .copy = true, .body = leaf}}) ==
        "m=2 k<=4: it copies a along k, which is elastic");
  CHECK(with({Move{.operand = 1, .copy = true, .body = leaf}}) == "");
}

}  // namespace
}  // namespace morello
