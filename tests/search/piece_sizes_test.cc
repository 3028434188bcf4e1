// Sizes of pieces by what programs cost: rows of invented costs.
#include "search/piece_sizes.h"

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <cstdlib>

namespace morello {
namespace {

std::string text(const PiecedDim& d) {
  std::string out;
  for (int i = 0; i < static_cast<int>(std::ssize(d.sizes)); ++i)
    out += fmt::format("{}{}{}", i == 0 ? "" : " ", d.is_elastic(i) ? "any*" : "",
                       d.sizes[static_cast<size_t>(i)]);
  return out;
}

// So many cycles a vector of `lanes`, and for a call.
PieceCost vectors(i64 lanes, i64 cycles, i64 call, i64 most_elastic = 0) {
  return [=](i64 size, bool elastic) {
    if (elastic && size > most_elastic) return Cost::infinite();
    return Cost::cycles((size + lanes - 1) / lanes * cycles + call);
  };
}

TEST_CASE("pieces of a parallel dim") {
  const auto pieces = [](i64 granule, i64 largest, int most, const PieceCost& cost) {
    return text(parallel_pieces(0, granule, largest, most, 64, cost));
  };
  const PieceCost none = vectors(1, 10, 0), dear = vectors(1, 10, 1000);
  // One size where there is no other, or nothing else costs less.
  CHECK(pieces(1, 1, 4, dear) == "1");
  CHECK(pieces(16, 16, 4, dear) == "16");
  CHECK(pieces(1, 256, 8, none) == "256 1");
  // The dearer calls are, the more sizes are worth it; no more than there may be.
  CHECK(pieces(1, 256, 8, dear) == "256 128 64 32 16 8 4 1");
  CHECK(pieces(1, 256, 3, dear).ends_with(" 1"));
  CHECK(pieces(1, 256, 2, dear) == "256 1");
  // As many elements as a vector has cost what one does.
  CHECK(pieces(1, 256, 4, vectors(16, 160, 20)) == "256 16 4 1");
  CHECK(pieces(1, 256, 4, vectors(16, 160, 20, 16)) == "256 32 16 any*1");
  CHECK(pieces(4, 256, 4, vectors(16, 160, 20, 16)) == "256 64 16 any*4");
  // Elastic ones of several vectors compute them all.
  CHECK(pieces(1, 256, 4, vectors(16, 160, 20, 256)) == "256 32 16 any*1");
  CHECK(pieces(1, 256, 4, vectors(16, 16, 200, 256)) == "256 128 64 any*1");
}

TEST_CASE("the mean of a reduction's pieces") {
  // A cycle an element, and a hundred a pass.
  const auto mean = [](const std::vector<i64>& sizes, int elastic) {
    return mean_of_sum({0, sizes, elastic}, [](i64, i64 size) { return Cost::cycles(size + 100); });
  };
  CHECK(mean({64, 8, 1}, 0) > mean({64, 32, 16, 8, 4, 2, 1}, 0));
  CHECK(mean({64, 32, 16, 8, 4, 2, 1}, 0) > mean({64, 1}, 1));
  const auto none = [](i64 multiple, i64) {
    return multiple > 0 ? Cost::infinite() : Cost::cycles(1);
  };
  CHECK(mean_of_sum({0, {64, 1}, 0}, none) < kNone);
  CHECK(mean_of_sum({0, {64, 1}, 1}, none) == kNone);
  // Proportions: what takes twice as long is one more at every extent, of which there are 27.
  const auto of = [](i64 each, i64 pass) {
    return mean_of_sum({0, {64, 1}, 1},
                       [=](i64, i64 size) { return Cost::cycles(each * size + pass); });
  };
  const Proportion twice = of(2000, 2000) - of(1000, 1000);
  CHECK(std::abs(twice - 1024 * 27) <= 27);  // each is rounded
}

TEST_CASE("pieces of a reduction") {
  const auto pieces = [](i64 granule, i64 largest, i64 fast, bool slow_ones) {
    const PiecedDim d = elastic_pieces(0, granule, largest, [&](i64 multiple, i64 size) {
      if (multiple % fast == 0) return Cost::cycles(size);
      return slow_ones ? Cost::cycles(8 * size) : Cost::infinite();
    });
    return text(d);
  };
  CHECK(pieces(1, 256, 1, true) == "256 any*1");
  CHECK(pieces(1, 256, 8, true) == "256 any*8 any*1");
  CHECK(pieces(1, 256, 64, true) == "256 any*64 any*1");
  CHECK(pieces(16, 256, 64, true) == "256 any*16");
  // What is less than half of all is no reason for another size.
  CHECK(pieces(1, 64, 32, true) == "64 any*1");
  CHECK(pieces(1, 1, 1, true) == "");
  CHECK(pieces(1, 256, 8, false) == "");
  CHECK(pieces(8, 256, 8, false) == "256 any*8");
}

}  // namespace
}  // namespace morello
