// How sums of lanes end: along what four results are stored at once, and how registers of a tile
// are shared out.
#include "impl/folding.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "spec/kernel_spec.h"

namespace morello {
namespace {

struct Row {
  std::string_view spec, isa, family, how;
};

// By what row and function, along which dim results lie side by side, how these are made of sums if
// they are, and what becomes of a tile.
std::string text(const Folding& how, const Computation& c, const Extents& tile) {
  if (how.row == nullptr) return "none";
  const Folds n = folds_of(how, c, tile);
  const std::string along(how.together < 0 ? "-" : c.dims[how.together].name);
  std::string made;
  if (!c.finish.empty()) made = fmt::format(", made {}", how.made ? how.made->name : "one by one");
  return fmt::format("{} by {} along {}{}: {} folds, {} together, {} alone", how.row->name,
                     how.join->name, along, made, n.folds, n.together, n.alone);
}

constexpr Row kRows[] = {
    {"(x: f32[64,8]): f32 = reduce_sum(x, axis=1)", "avx2", "hsum_f32x8 lane=k quantum=i:8",
     "fold_f32x8 by add_f32x8 along i: 2 folds, 2 together, 0 alone"},
    {"(x: f32[64,16]): f32 = reduce_max(x, axis=1)", "avx512", "hmax_f32x16 lane=k quantum=i:8",
     "fold_f32x16 by max_f32x16 along i: 2 folds, 2 together, 0 alone"},
    {"(x: f32[2,64]): f32 = reduce_sum(x, axis=1)", "avx2", "hsum_f32x8 lane=k quantum=i:2",
     "fold_f32x8 by add_f32x8 along -: 0 folds, 0 together, 2 alone"},
    {"(x: f32[3,16]): f32 = reduce_sum(x, axis=1)", "avx2", "hsum_f32x8 lane=k quantum=i:3",
     "fold_f32x8 by add_f32x8 along -: 1 folds, 0 together, 0 alone"},
    // What is made of sums is made of four of them, whatever lies beside them and wherever it goes,
    // unless one by one takes less.
    {"(x: f32[64,64]): f32 = reduce_mean(x, axis=1)", "avx2", "hsum_f32x8 lane=k quantum=i:4",
     "fold_f32x8 by add_f32x8 along i, made fold_f32x8: 1 folds, 1 together, 0 alone"},
    {"(x: f32[64,64], y: f32[64]): f32 = reduce_sum(x, axis=1) * y", "avx2",
     "hsum_f32x8 lane=k quantum=i:4",
     "fold_f32x8 by add_f32x8 along i, made fold_f32x8: 1 folds, 1 together, 0 alone"},
    {"(x: f32[64,64], y: bf16[64]): f32 = reduce_sum(x, axis=1) * y", "avx2",
     "hsum_f32x8 lane=k quantum=i:4",
     "fold_f32x8 by add_f32x8 along i, made fold_f32x8: 1 folds, 1 together, 0 alone"},
    {"(x: f32[64,64], y: bf16[1]): f32 = relu(reduce_sum(x, axis=1) * y)", "avx2",
     "hsum_f32x8 lane=k quantum=i:4",
     "fold_f32x8 by add_f32x8 along i, made fold_f32x8: 1 folds, 1 together, 0 alone"},
    {"(a: f32[2,64], b: f32[90,64], c: f32[2,90], d: f32[90]): f32 = matmul(a, transpose(b)) * c + "
     "d",
     "avx512", "dot_f32x16 lane=k quantum=m:2,n:12",
     "fold_f32x16 by add_f32x16 along n, made fold_f32x16: 6 folds, 6 together, 0 alone"},
    {"(a: f32[2,64], b: f32[90,64], c: f32[2,90] col): f32 = matmul(a, transpose(b)) * c", "avx512",
     "dot_f32x16 lane=k quantum=m:2,n:12",
     "fold_f32x16 by add_f32x16 along n, made fold_f32x16: 6 folds, 6 together, 0 alone"},
    {"(a: f32[2,64], b: f32[90,64], c: f32[2,90] col): f32 col = matmul(a, transpose(b)) * c",
     "avx512", "dot_f32x16 lane=k quantum=m:2,n:12",
     "fold_f32x16 by add_f32x16 along -, made one by one: 6 folds, 0 together, 0 alone"},
    {"(x: f32[64,64]): bf16 = exp(reduce_sum(x, axis=1))", "avx2", "hsum_f32x8 lane=k quantum=i:4",
     "fold_f32x8 by add_f32x8 along -, made fold_f32x8: 1 folds, 0 together, 0 alone"},
    {"(a: u8[1,64], b: i8[64,64] col, c: f32[64]): f32 = convert(matmul(a, b)) * c", "avx512",
     "dot_i16x32 lane=k quantum=n:28",
     "fold_i32x16 by add_i32x16 along n, made fold_f32x16: 7 folds, 7 together, 0 alone"},
    {"(a: f32[2,64], b: f32[90,64], c: f32[2,90] col): f32 col = c / matmul(a, transpose(b))",
     "avx512", "dot_f32x16 lane=k quantum=m:2,n:12",
     "fold_f32x16 by add_f32x16 along -, made fold_f32x16: 6 folds, 0 together, 0 alone"},
    {"(x: f32[64,64]): bf16 = reduce_sum(x, axis=1)", "avx2", "hsum_f32x8 lane=k quantum=i:4",
     "fold_f32x8 by add_f32x8 along -: 1 folds, 0 together, 0 alone"},
    // Tiles of two dims: rows of six elements are stored together where they are the only one.
    {"(a: f32[1,64], b: f32[64,90] col): f32 = matmul(a, b)", "avx2",
     "dot_f32x8 lane=k quantum=n:6",
     "fold_f32x8 by add_f32x8 along n: 1 folds, 1 together, 2 alone"},
    {"(a: f32[2,64], b: f32[64,90] col): f32 = matmul(a, b)", "avx2",
     "dot_f32x8 lane=k quantum=m:2,n:6",
     "fold_f32x8 by add_f32x8 along n: 3 folds, 0 together, 0 alone"},
    {"(a: f32[2,64], b: f32[64,90] col): f32 = matmul(a, b)", "avx512",
     "dot_f32x16 lane=k quantum=m:2,n:12",
     "fold_f32x16 by add_f32x16 along n: 6 folds, 6 together, 0 alone"},
    {"(a: f32[2,64], b: f32[64,90] col): f32 col = matmul(a, b)", "avx512",
     "dot_f32x16 lane=k quantum=m:2,n:12",
     "fold_f32x16 by add_f32x16 along -: 6 folds, 0 together, 0 alone"},
    // Neighbours that a leaf has are not neighbours of the result.
    {"(a: f32[1,2048], b: f32[2048,64] col): f32 = matmul(a, b)", "avx2",
     "dot_f32x8 lane=k quantum=n:4,k:16 apart=n",
     "fold_f32x8 by add_f32x8 along -: 1 folds, 0 together, 0 alone"},
    {"(a: u8[1,64], b: i8[64,64] col): i32 = matmul(a, b)", "avx512",
     "dot_i16x32 lane=k quantum=n:28",
     "fold_i32x16 by add_i32x16 along n: 7 folds, 7 together, 0 alone"},
    // Lanes along the result.
    {"(x: f32[64,8]): f32 = reduce_sum(x, axis=1)", "avx2", "sum_f32x8", "none"},
    {"(x: f32[64,8]): f32 = reduce_sum(x, axis=1)", "scalar", "sum_f32", "none"},
};

TEST_CASE("how sums of lanes end") {
  for (const Row& row : kRows) {
    CAPTURE(row.spec);
    CAPTURE(row.family);
    const KernelSpec k = *parse_spec(row.spec);
    const Computation& c = k.computation();
    const std::vector<Family> all = families(c, *find_isa(row.isa));
    const auto f = std::find_if(all.begin(), all.end(),
                                [&](const Family& g) { return g.str(c).starts_with(row.family); });
    REQUIRE(f != all.end());
    Extents tile{};
    tile.fill(1);
    for (size_t d = 0; d < c.dims.size(); ++d)
      if (!c.dims[d].reduction) tile[d] = f->quantum[d];
    CHECK(text(folding(*f, c, given_address(c, c.inputs())), c, tile) == row.how);
  }
}

}  // namespace
}  // namespace morello
