// How much code there is for the pieces of a size that is known at run time only.
#include "impl/patchwork.h"

#include <fmt/ranges.h>

#include "codegen/nest.h"
#include "harness.h"
#include "impl/fixture.h"

namespace morello {
namespace {

// Pieces of a dim, each a leaf of the last family that `fits`.
Patchwork pieces(const Computation& c, int dim, const std::vector<i64>& sizes, const char* isa,
                 auto fits) {
  Patchwork work;
  work.dims.push_back({dim, sizes});
  for (const i64 size : sizes) {
    std::vector<i64> extents;
    for (const Dim& d : c.dims) extents.push_back(d.extent);
    extents[dim] = size;
    const auto part = std::make_shared<const Computation>(with_extents(c, extents));
    Problem p;
    p.computation = part.get();
    for (const Family& f : families(*part, *find_isa(isa)))
      if (fits(f, size)) p.family = f;
    work.programs.push_back({part, p, test::program(p, "call\n")});
  }
  return work;
}

struct Row {
  std::vector<i64> sizes;
  int sums;  // statements that add to one, in all leaves
};

// 32 an iteration; 8 where a leaf is for what larger pieces leave.
const Row kRows[] = {{{4}, 32},
                     {{2, 1}, 32 + 32},
                     {{4, 1}, 32 + 8},
                     {{4, 2, 1}, 32 + 8 + 8},
                     {{4, 3, 2, 1}, 32 + 48 + 32 + 32}};

TEST_CASE("leaves of what larger pieces leave are short") {
  const auto k = test::spec("(a: f32[m near 4,1024], b: f32[1024,1]): f32 = matmul(a, b)");
  for (const Row& row : kRows) {
    CAPTURE(fmt::format("{}", row.sizes));
    const Patchwork work = pieces(k->computation(), 0, row.sizes, "scalar",
                                  [](const Family& f, i64 size) { return f.quantum[0] == size; });
    const std::string text = emit_nest(work, false).functions;
    CAPTURE(text);
    CHECK(test::count(text, " += a") == row.sums);
  }
}

TEST_CASE("so are leaves of many programs") {
  const auto k = test::spec("(a: f32[m to 12,1024], b: f32[1024,8]): f32 = matmul(a, b)");
  const auto sums = [&](i64 programs, bool brief = false) {
    std::vector<i64> sizes;
    for (i64 size = programs; size > 0; --size) sizes.push_back(size);
    const Patchwork work =
        pieces(k->computation(), 0, sizes, "avx2",
               [](const Family& f, i64 size) { return f.lane == 1 && f.quantum[0] == size; });
    return test::count(emit_nest(work, brief).functions, "fmadd");
  };
  CHECK(sums(1) == 32);
  CHECK(sums(1, true) == 8);  // all leaves
  CHECK(sums(12) == 8 + 8 + 12 + 8 + 10 + 12 + 14 + 8 + 9 + 10 + 11 + 12);
}

TEST_CASE("leaves that differ in how many lanes count are one function") {
  const auto k = test::spec("(a: f32[4,3], b: f32[3,n near 7]): f32 = matmul(a, b)");
  const Computation& c = k->computation();
  const int n = c.dims[0].name == "n" ? 0 : 1;
  REQUIRE(c.dims[n].name == "n");
  const Patchwork work = pieces(c, n, {7, 6, 5}, "avx2", [&](const Family& f, i64) {
    return f.lane == n && f.kernel->lanes == 8 && f.quantum[1 - n] == 4 && f.quantum[n] == 8;
  });
  const std::string text = emit_nest(work, false).functions;
  CAPTURE(text);
  CHECK(test::count(text, "static void leaf_") == 1);
  CHECK(test::count(text, "first_lanes(n0)") == 3);  // rows of b
  CHECK(test::count(text, ", n0);") == 4);           // rows of the output
  for (const char* call : {", 7); }", ", 6); }", ", 5); }"}) CHECK(test::count(text, call) == 1);
}

}  // namespace
}  // namespace morello
