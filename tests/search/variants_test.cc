// Which variants a kernel has, and how many programs each.
#include "search/variants.h"

#include <fmt/ranges.h>

#include "search/toy.h"

namespace morello {
namespace {

std::vector<const Isa*> sets(std::string_view names) {
  std::vector<const Isa*> out;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(' ', begin), names.size());
    out.push_back(find_isa(names.substr(begin, end - begin)));
    REQUIRE(out.back() != nullptr);
    begin = end + 1;
  }
  return out;
}

struct Row {
  std::string_view spec, isas, variants;
};

constexpr std::string_view kAll = "avx512_bf16 avx512_vnni avx512 avx2_vnni avx2 scalar";
const Row kRows[] = {
    {"(a: f32[4,8], b: f32[8,4]): f32 = matmul(a, b)", kAll, "avx512 avx2 scalar"},
    {"(a: f32[4,8], b: f32[8,4]): f32 = matmul(a, b)", "avx2_vnni scalar", "avx2_vnni scalar"},
    {"(a: bf16[4,8], b: bf16[8,4] col): f32 = matmul(a, b)", kAll,
     "avx512_bf16 avx512 avx2 scalar"},
    {"(a: u8[4,8], b: i8[8,4] col): i32 = matmul(a, b)", kAll,
     "avx512_vnni avx512 avx2_vnni avx2 scalar"},
};

TEST_CASE("a set that adds nothing to another of the list has no variant") {
  for (const Row& row : kRows) {
    CAPTURE(row.spec);
    CAPTURE(row.isas);
    CHECK(worth_a_variant(sets(row.isas), spec(row.spec)) == sets(row.variants));
  }
}

struct Share {
  std::string_view variants;
  std::vector<int> programs;
};

const Share kShares[] = {
    {"avx2", {16}},
    {"scalar", {16}},
    {"avx2 scalar", {16, 4}},
    {"avx512 avx2 scalar", {16, 16, 4}},
    {"avx512_vnni avx512 avx2 scalar", {12, 12, 12, 4}},
    {"avx512_vnni avx512 avx2_vnni avx2 scalar", {9, 9, 9, 9, 4}},
    {kAll, {7, 7, 7, 7, 7, 4}},
};

TEST_CASE("the more variants, the fewer programs has each; the fallback has few") {
  for (const Share& row : kShares) {
    const std::vector<const Isa*> variants = sets(row.variants);
    std::vector<int> programs;
    for (const Isa* isa : variants) programs.push_back(programs_of(*isa, variants));
    CHECK_MESSAGE(programs == row.programs, row.variants);
  }
}

}  // namespace
}  // namespace morello
