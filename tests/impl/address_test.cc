#include "impl/address.h"

#include <numeric>
#include <set>

#include "fixture.h"

namespace morello {
namespace {

using test::Random;

// "n/16*640 k*16 n%16*1; 1280 elements"
std::string text(const AddressMap& map, const Computation& c) {
  std::string out;
  for (const AddressTerm& t : map.terms)
    out +=
        fmt::format("{}{}{}*{} ", c.dims[t.dim].name, t.div == 1 ? "" : fmt::format("/{}", t.div),
                    t.mod == 0 ? "" : fmt::format("%{}", t.mod), t.stride);
  return out + fmt::format("of {}", map.elements);
}

struct GivenRow {
  std::string_view spec;
  int operand;
  std::string_view address;
  std::string_view plain;  // AddressMap::plain_terms()
};

constexpr GivenRow kGiven[] = {
    {"(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)", 0, "m*19 k*1 of 133", "k*1 m*19"},
    {"(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)", 1, "k*37 n*1 of 703", "n*1 k*37"},
    {"(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)", 2, "m*37 n*1 of 259", "n*1 m*37"},
    {"(a: f32[7,19] col, b: f32[19,37] col): f32 col = matmul(a, b)", 0, "k*7 m*1 of 133",
     "m*1 k*7"},
    {"(a: f32[7,19] col, b: f32[19,37] col): f32 col = matmul(a, b)", 1, "n*19 k*1 of 703",
     "k*1 n*19"},
    {"(a: f32[7,19] col, b: f32[19,37] col): f32 col = matmul(a, b)", 2, "n*7 m*1 of 259",
     "m*1 n*7"},
    {"(a: f32[6,40], b: f32[40,32] order(1/16, 0, 1%16)): f32 = matmul(a, b)", 1,
     "n/16*640 k*16 n%16*1 of 1280", "k*16"},
    // A ragged last block is padded.
    {"(a: f32[6,40], b: f32[40,33] order(1/16, 0, 1%16)): f32 = matmul(a, b)", 1,
     "n/16*640 k*16 n%16*1 of 1920", "k*16"},
    {"(a: f32[3,5,7], b: f32[7,9]): f32 col = matmul(a, b)", 1, "k*9 n*1 of 63", "n*1 k*9"},
    // Nobody packs it yet: as the packer is given it.
    {"(a: f32[7,19], b: f32[19,37] packed): f32 = matmul(a, b)", 1, "k*37 n*1 of 703", "n*1 k*37"},
    {"(a: f32[5,7,11]): f32 = reduce_sum(a, axis=1)", 0, "i0*77 k*11 i1*1 of 385",
     "i1*1 k*11 i0*77"},
    {"(a: f32[5,7,11]): f32 = reduce_sum(a, axis=1)", 1, "i0*11 i1*1 of 55", "i1*1 i0*11"},
};

TEST_CASE("address of a given operand") {
  for (const GivenRow& row : kGiven) {
    CAPTURE(row.spec);
    CAPTURE(row.operand);
    const auto spec = test::spec(row.spec);
    const AddressMap map = given_address(spec->computation(), row.operand);
    CHECK(text(map, spec->computation()) == row.address);
    const AddressMap plain{map.plain_terms(), 0};
    CHECK(text(plain, spec->computation()) == fmt::format("{} of 0", row.plain));
    CHECK(map.is_plain() == (plain.terms.size() == map.terms.size()));
  }
}

TEST_CASE("neighbours that are one from each of a dim's parts") {
  const auto spec = test::spec("(a: f32[7,19], b: f32[36,19]): f32 = matmul(a, transpose(b))");
  const Computation& c = spec->computation();
  const int n = c.operands[1].axes[0][0].dim;
  const AddressMap given = given_address(c, 1), parts = in_parts(given, n, 36, 4);
  CHECK(text(given, c) == "n*19 k*1 of 684");
  CHECK(text(parts, c) == "n/4*19 n%4*171 k*1 of 684");
  for (i64 i = 0; i < 36; ++i) {
    Extents at{}, from{};
    at[n] = i;
    from[n] = i / 4 + i % 4 * 9;
    CHECK(parts.offset(at) == given.offset(from));
  }
  const AddressMap other = given_address(c, 0);
  CHECK(in_parts(other, n, 36, 4) == other);
}

struct PackedRow {
  std::vector<Digit> digits;
  Extents tile;
  std::string_view address;
};

TEST_CASE("address in a packed order") {
  const auto spec = test::spec("(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)");
  const int m = 0, n = 1, k = 2;
  const PackedRow rows[] = {
      {{{n, 16, 0}, {k, 1, 0}, {n, 1, 16}},
       {6, 48, 512, 1, 1, 1},
       "n/16*8192 k*16 n%16*1 of 24576"},
      // Leading digits are rounded up, others are what they are even where the tile is smaller.
      {{{n, 16, 0}, {k, 1, 0}, {n, 1, 16}}, {6, 49, 3, 1, 1, 1}, "n/16*48 k*16 n%16*1 of 192"},
      {{{n, 16, 0}, {k, 1, 0}, {n, 1, 16}}, {6, 5, 3, 1, 1, 1}, "n/16*48 k*16 n%16*1 of 48"},
      // Even and odd lanes apart.
      {{{n, 16, 0}, {k, 1, 0}, {n, 1, 8}, {n, 8, 2}},
       {1, 32, 4, 1, 1, 1},
       "n/16*64 k*16 n%8*2 n/8%2*1 of 128"},
      {{{m, 6, 0}, {k, 2, 0}, {m, 1, 6}, {k, 1, 2}},
       {7, 1, 5, 1, 1, 1},
       "m/6*36 k/2*12 m%6*2 k%2*1 of 72"},
      {{}, {7, 1, 5, 1, 1, 1}, "of 1"},
  };
  for (const PackedRow& row : rows)
    CHECK(text(PackedOrder{row.digits}.address(row.tile), spec->computation()) == row.address);
}

// Digits that chain for every dim of [0, dims), in a random order.
PackedOrder random_order(Random& random, int dims) {
  PackedOrder order;
  for (int d = 0; d < dims; ++d) {
    i64 div = 1;
    for (i64 inner = random.below(3); inner > 0; --inner) {
      const i64 mod = random.between(2, 4);
      order.digits.push_back({d, div, mod});
      div *= mod;
    }
    order.digits.push_back({d, div, 0});
  }
  for (size_t i = order.digits.size(); i > 1; --i)
    std::swap(order.digits[i - 1], order.digits[random.below(static_cast<i64>(i))]);
  return order;
}

i64 block(const PackedOrder& order, int dim) {
  for (const Digit& d : order.digits)
    if (d.axis == dim && d.mod == 0) return d.div;
  return 1;
}

template <class F>
void each_index(const Extents& e, F f) {
  Extents x{};
  for (x[0] = 0; x[0] < e[0]; ++x[0])
    for (x[1] = 0; x[1] < e[1]; ++x[1])
      for (x[2] = 0; x[2] < e[2]; ++x[2]) f(x);
}

TEST_CASE("laws of packed addresses") {
  for (int seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const PackedOrder order = random_order(random, 3);
    const Extents tile{
        random.between(1, 13), random.between(1, 13), random.between(1, 13), 1, 1, 1};
    const AddressMap map = order.address(tile);

    // Injective and inside the buffer.
    std::set<i64> seen;
    bool inside = true;
    each_index(tile, [&](const Extents& x) {
      seen.insert(map.offset(x));
      inside = inside && map.offset(x) >= 0 && map.offset(x) < map.elements;
    });
    CHECK(inside);
    CHECK(seen.size() == static_cast<size_t>(tile[0] * tile[1] * tile[2]));

    // Advancing by a whole number of blocks, from anywhere inside the step.
    for (int dim = 0; dim < 3; ++dim) {
      const i64 step = block(order, dim) * random.between(1, 3);
      bool same = true;
      each_index(tile, [&](Extents x) {
        const i64 at = x[dim];
        const i64 offset = map.offset(x);
        x[dim] = at % step;
        same = same && offset == map.offset(x) + at / step * map.advance(dim, step);
      });
      CHECK(same);
    }
  }
}

TEST_CASE("unit stride is the distance of neighbours") {
  for (int seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const PackedOrder order = random_order(random, 3);
    const AddressMap map = order.address({8, 8, 8, 1, 1, 1});
    for (int dim = 0; dim < 3; ++dim) {
      Extents x{};
      x[dim] = 1;
      CHECK(map.unit_stride(dim) == map.offset(x));
      CHECK(map.touches(dim));
    }
    CHECK(map.unit_stride(3) == 0);
    CHECK_FALSE(map.touches(3));
  }
}

TEST_CASE("a given address is the layout of the indexed element") {
  const std::string_view layouts[] = {"row", "col", "order(1/4, 0, 1%4)",
                                      "order(0/3, 1/2, 0%3, 1%2)",
                                      "order(1/8, 0/2, 1/2%4, 0%2, 1%2)"};
  for (std::string_view layout : layouts) {
    for (const auto& [k, n] : {std::pair{7, 9}, std::pair{8, 16}, std::pair{1, 5}}) {
      const auto spec = test::spec(
          fmt::format("(a: f32[3,{}], b: f32[{},{}] {}): f32 = matmul(a, b)", k, k, n, layout));
      const Operand& b = spec->computation().operands[1];
      const AddressMap map = given_address(spec->computation(), 1);
      CHECK(map.elements == b.layout.elements(b.shape));
      bool same = true;
      each_index({1, n, k, 1, 1, 1}, [&](const Extents& x) {
        const i64 index[] = {x[2], x[1]};
        same = same && map.offset(x) == b.layout.offset(index, b.shape);
      });
      CAPTURE(layout);
      CHECK(same);
    }
  }
}

}  // namespace
}  // namespace morello
