// What copies take.

#include "toy.h"

namespace morello {
namespace {

// In L1, of x. Rows of a few elements that follow one another are one run, of which rows of the ISA
// make columns; a part of each row is none.
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
                         {20, {96, 3}, 0.2}}) {
    CAPTURE(row.columns);
    CAPTURE(row.tile[1]);
    const Machine machine = *load_machine("zen4");
    const KernelSpec k = spec(
        fmt::format("(x: f32[4000,{0}], y: f32[{0},4000]): f32 = x + transpose(y)", row.columns));
    const Result<Family> f =
        parse_family("map_f32x8 lane=i0 quantum=i0:96 x=load_f32x8 y=load_f32x8 out=store_f32x8",
                     k.computation(), *find_isa("avx2"));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    const Space space({&k.computation(), &machine, *f, 1});
    Spec s = space.problem().root();
    for (int d = 0; d < 2; ++d) s.extent[d] = row.tile[d];
    for (int o = 0; o < space.operands(); ++o) s.place[o].level = kL1;
    const double elements = static_cast<double>(row.tile[0] * row.tile[1]);
    CHECK(space.copy(s, 0, kL1).as_cycles() == doctest::Approx(4 + elements * row.element));
  }
}

// In L1, of the result, whose columns the copy has as rows. What is rounded on the way goes by
// itself.
TEST_CASE("copies of results that are rounded") {
  for (const auto& [type, element] :
       {std::pair{"f32", 0.2}, std::pair{"f16", 0.7}, std::pair{"bf16", 2.4}}) {
    CAPTURE(type);
    const Machine machine = *load_machine("zen4");
    const KernelSpec k = spec(fmt::format("(x: f32[64,48]): {} col = convert(x)", type));
    const Result<Family> f = parse_family(
        fmt::format("map_f32x8 lane=i1 quantum=i1:48 x=load_f32x8 out=store_{}x8", type),
        k.computation(), *find_isa("avx2"));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    const Space space({&k.computation(), &machine, *f, 1});
    Spec s = space.problem().root();
    for (int o = 0; o < space.operands(); ++o) s.place[o].level = kL1;
    CHECK(space.copy(s, 1, kL1).as_cycles() == doctest::Approx(4 + 64 * 48 * element));
  }
}

}  // namespace
}  // namespace morello
