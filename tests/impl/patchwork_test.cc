#include "impl/patchwork.h"

#include "impl/fixture.h"

namespace morello {
namespace {

using test::Random;

std::string text(const std::vector<Cut>& cuts, const PiecedDim& dim) {
  std::string out;
  for (const Cut& c : cuts)
    out += fmt::format("{}{}+{}", out.empty() ? "" : " ", c.at,
                       dim.sizes[static_cast<size_t>(c.which)]);
  return out;
}

TEST_CASE("how sizes are cut") {
  const PiecedDim halves{0, {64, 32, 16}}, each{0, {4, 3, 2, 1}}, far{0, {64, 8, 1}};
  const auto parallel = [](const PiecedDim& d, i64 n) { return text(cuts(d, n, false), d); };
  const auto sum = [](const PiecedDim& d, i64 n) { return text(cuts(d, n, true), d); };
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
}

TEST_CASE("cuts cover all, inside, and sums just once") {
  for (const std::vector<i64>& sizes :
       {std::vector<i64>{1}, {8, 4, 2, 1}, {48, 24, 12}, {5, 4, 3, 2, 1}, {256, 32, 4}}) {
    const PiecedDim dim{0, sizes};
    for (i64 n = sizes.back(); n < 700; n += sizes.back()) {
      for (const bool reduction : {false, true}) {
        i64 done = 0, twice = 0;
        for (const Cut& c : cuts(dim, n, reduction)) {
          REQUIRE((c.at >= 0 && c.at <= done));
          twice += done - c.at;
          done = c.at + dim.sizes[static_cast<size_t>(c.which)];
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

  explicit Sample(i64 last_k = 2) {
    work.dims = {{0, {2, 1}}, {2, {4, last_k}}};
    work.sums = true;
    for (i64 m : {2, 1})
      for (i64 k : {i64{4}, last_k})
        for (const bool adds : {false, true}) {
          Piece p;
          p.computation =
              std::make_shared<Computation>(with_extents(spec->computation(), {m, 3, k}));
          p.problem.computation = p.computation.get();
          p.problem.part.adds = adds;
          for (const Family& f : families(*p.computation, *isa_table().back()))
            if (f.quantum[0] >= m && f.quantum[1] >= 3) p.problem.family = f;
          p.impl = std::make_shared<const Impl>(Impl{Call{}});
          work.programs.push_back(p);
        }
  }
  // c with these sizes; strides as assumed.
  Computation at(i64 m, i64 k) const { return with_extents(spec->computation(), {m, 3, k}); }
};

TEST_CASE("a patchwork is run piece by piece") {
  const Sample s;
  REQUIRE(verify(s.work, s.spec->computation()) == "");
  CHECK(s.work.number({1, 0}, true) == 5);
  Random random(3);
  for (i64 m : {1, 2, 3, 5})
    for (i64 k : {2, 4, 6, 10, 14}) {
      const Computation c = s.at(m, k);
      const auto inputs = test::random_inputs(c, random);
      CHECK(interpret(s.work, c, inputs) == evaluate(c, inputs));
    }
}

TEST_CASE("a patchwork as text") {
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
}

}  // namespace
}  // namespace morello
