#include "spec/layout.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "spec/random_spec.h"

namespace morello {
namespace {

// Calls f(index) for every index of the shape.
template <class F>
void for_each_index(const std::vector<i64>& shape, F f) {
  std::vector<i64> index(shape.size());
  for (;;) {
    f(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

TEST_CASE("offsets of layouts, element by element") {
  struct Row {
    Layout layout;
    std::vector<i64> shape;
    std::string text;
    i64 elements;
    std::vector<i64> offsets;  // in row-major order of the index
  };
  const Row rows[] = {
      {Layout::row(1), {3}, "row", 3, {0, 1, 2}},
      {Layout::row(2), {2, 3}, "row", 6, {0, 1, 2, 3, 4, 5}},
      {Layout::col(2), {2, 3}, "col", 6, {0, 2, 4, 1, 3, 5}},
      {Layout::col(3), {2, 1, 2}, "col", 4, {0, 1, 2, 3}},
      {{{{1, 1, 0}, {0, 1, 0}}}, {2, 2}, "col", 4, {0, 2, 1, 3}},
      // Panels of two columns, the last one padded.
      {{{{1, 2, 0}, {0, 1, 0}, {1, 1, 2}}}, {2, 3}, "order(1/2, 0, 1%2)", 8, {0, 1, 4, 2, 3, 6}},
      // The even elements of each group of four, then the odd ones.
      {{{{0, 4, 0}, {0, 1, 2}, {0, 2, 2}}}, {6}, "order(0/4, 0%2, 0/2%2)", 8, {0, 2, 1, 3, 4, 6}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const int rank = static_cast<int>(row.shape.size());
    CHECK(layout_problem(row.layout, rank).empty());
    CHECK(row.layout.str(rank) == row.text);
    CHECK(row.layout.elements(row.shape) == row.elements);
    std::vector<i64> offsets;
    for_each_index(row.shape, [&](const std::vector<i64>& index) {
      offsets.push_back(row.layout.offset(index, row.shape));
    });
    CHECK(offsets == row.offsets);
  }
}

TEST_CASE("what is no layout") {
  struct Row {
    std::vector<Digit> digits;
    int rank;
    std::string problem;
  };
  const Row rows[] = {
      {{{0, 1, 0}}, 2, "axis 1 is missing"},
      {{{2, 1, 0}}, 2, "there is no axis 2; the last one is 1"},
      {{{-1, 1, 0}}, 2, "there is no axis -1; the last one is 1"},
      {{{0, 1, 0}, {0, 1, 0}}, 1, "axis 0 is covered twice"},
      {{{0, 1, 0}, {0, 1, 4}}, 1, "axis 0 needs a digit `0/4`, got `0`"},
      {{{0, 8, 0}, {0, 1, 4}}, 1, "axis 0 needs a digit `0/4`, got `0/8`"},
      {{{0, 8, 0}, {0, 4, 4}, {0, 1, 4}}, 1, "axis 0 needs a digit `0/16`, got `0/8`"},
      {{{0, 1, 4}}, 1, "axis 0 needs a leading digit `0/4`"},
      {{{0, 1, 0}, {0, 1, 1}}, 1, "`0%1` has a modulus below 2"},
      {{{0, 0, 0}}, 1, "axis 0 needs a digit `0`, got `0/0`"},
  };
  for (const Row& row : rows) CHECK(layout_problem({row.digits}, row.rank) == row.problem);
}

TEST_CASE("laws of random layouts: injective, inside the buffer, printing parses") {
  constexpr std::uint64_t kSeed = 20240611;
  Random random(kSeed);
  for (int round = 0; round < 500; ++round) {
    const int rank = static_cast<int>(pick(random, 1, 4));
    const Layout layout = random_layout(random, rank);
    std::vector<i64> shape;
    for (int axis = 0; axis < rank; ++axis) shape.push_back(pick(random, 1, 9));
    const std::string text = layout.str(rank);
    CAPTURE(kSeed);
    CAPTURE(round);
    CAPTURE(text);
    REQUIRE(layout_problem(layout, rank).empty());

    const i64 elements = layout.elements(shape);
    std::set<i64> seen;
    for_each_index(shape, [&](const std::vector<i64>& index) {
      const i64 offset = layout.offset(index, shape);
      REQUIRE(offset >= 0);
      REQUIRE(offset < elements);
      REQUIRE(seen.insert(offset).second);
    });

    const auto spec =
        parse_spec(fmt::format("(x: f32[{}] {}): f32 = convert(x)", fmt::join(shape, ","), text));
    REQUIRE(spec.ok());
    CHECK(spec->params[0].layout == layout);
  }
}

}  // namespace
}  // namespace morello
