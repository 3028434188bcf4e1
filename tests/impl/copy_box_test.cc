// Boxes against the offsets of the two address maps.
#include "impl/copy_box.h"

#include <doctest/doctest.h>

#include "impl/copy_orders.h"

namespace morello {
namespace {

void each_place(const Box& box, size_t digit, i64 packed, i64 other, auto visit) {
  if (digit == box.digits.size()) return visit(packed, other);
  const BoxDigit& d = box.digits[digit];
  for (i64 i = 0; i < d.count; ++i)
    each_place(box, digit + 1, packed + i * d.packed.fixed(), other + i * d.other.fixed(), visit);
}

// What is at every place of the packed buffer: where it is on the other side, or padding.
constexpr i64 kPadding = -1, kNothing = -2;

TEST_CASE("boxes: every element and all padding, once") {
  for (const Order& o : kOrders)
    for (i64 n : {1, 2, 5, 6, 7, 8, 15, 16, 17, 24, 31, 40, 50, 96, 100})
      for (i64 k : {1, 2, 3, 4, 9, 16, 33}) {
        CAPTURE(o.name);
        CAPTURE(n);
        CAPTURE(k);
        const Extents tile = extents(n, k, 2);
        const AddressMap packed = PackedOrder{o.packed}.address(tile);
        const AddressMap other = PackedOrder{o.other}.address(extents(n + 5, k + 3, 3));
        std::vector<i64> want(static_cast<size_t>(packed.elements), kPadding);
        std::vector<i64> got(want.size(), kNothing);
        each_index(tile, [&](const Extents& x) {
          want[static_cast<size_t>(packed.offset(x))] = other.offset(x);
        });
        bool once = true;
        auto put = [&](i64 place, i64 value) {
          i64& there = got.at(static_cast<size_t>(place));
          once &= there == kNothing;
          there = value;
        };
        for (const Box& b : element_boxes(packed, other, tile))
          each_place(b, 0, b.packed.fixed(), b.other.fixed(), put);
        for (const Box& b : padding_boxes(packed, tile))
          each_place(b, 0, b.packed.fixed(), 0, [&](i64 place, i64) { put(place, kPadding); });
        CHECK(once);
        CHECK(got == want);
      }
}

TEST_CASE("boxes: digits that are adjacent on both sides are one run") {
  const Extents tile = extents(100, 7);
  const AddressMap packed = PackedOrder{kOrders[3].packed}.address(tile);
  const AddressMap other = PackedOrder{kOrders[3].other}.address(extents(105, 10, 2));
  // 4 panels x 7 x 24; 4 elements more, beside them 4 and 16 of padding.
  CHECK(element_boxes(packed, other, tile) ==
        std::vector<Box>{{{{4, 168, 24}, {7, 24, 105}, {24, 1, 1}}, 0, 0},
                         {{{7, 24, 105}, {4, 1, 1}}, 672, 96}});
  CHECK(padding_boxes(packed, tile) ==
        std::vector<Box>{{{{7, 24, 0}, {16, 1, 0}}, 680, 0}, {{{7, 24, 0}, {4, 1, 0}}, 676, 0}});
  CHECK(whole_box(packed, tile) == Box{{{840, 1, 0}}, 0, 0});
}

TEST_CASE("boxes: what is known at run time only is a digit of its own") {
  // All columns of a place without gaps, where rows would follow one another on both sides.
  const Extents tile = extents(24, 7);
  const AddressMap packed = PackedOrder{kOrders[3].packed}.address(tile);
  const AddressMap other = PackedOrder{kOrders[3].other}.address(tile);
  CHECK(element_boxes(packed, other, tile) == std::vector<Box>{{{{168, 1, 1}}, 0, 0}});
  CHECK(element_boxes(packed, other, tile, 1 << K) ==
        std::vector<Box>{{{{7, 24, 24, K}, {24, 1, 1}}, 0, 0}});
  // Of padding, too; also where there may be but one.
  const Extents ragged = extents(20, 1);
  const AddressMap panel = PackedOrder{kOrders[3].packed}.address(ragged);
  CHECK(padding_boxes(panel, ragged, 1 << K) ==
        std::vector<Box>{{{{1, 24, 0, K}, {4, 1, 0}}, 20, 0}});
}

}  // namespace
}  // namespace morello
