// How much code there is for the pieces of a size that is known at run time only.
#include "impl/patchwork.h"

#include <fmt/ranges.h>

#include "codegen/nest.h"
#include "impl/fixture.h"

namespace morello {
namespace {

// Pieces of m, each a leaf.
Patchwork by_rows(const Computation& c, const std::vector<i64>& sizes) {
  Patchwork work;
  work.dims.push_back({0, sizes});
  for (const i64 size : sizes) {
    std::vector<i64> extents;
    for (const Dim& d : c.dims) extents.push_back(d.extent);
    extents[0] = size;
    const auto part = std::make_shared<const Computation>(with_extents(c, extents));
    Problem p;
    p.computation = part.get();
    for (const Family& f : families(*part, *find_isa("scalar")))
      if (f.quantum[0] == size) p.family = f;
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
    const std::string text = emit_nest(by_rows(k->computation(), row.sizes)).functions;
    CAPTURE(text);
    int sums = 0;
    for (size_t at = text.find(" += a"); at != text.npos; at = text.find(" += a", at + 1)) ++sums;
    CHECK(sums == row.sums);
  }
}

}  // namespace
}  // namespace morello
