// Boxes: the elements of a tile, cut into parts in which places on both sides of a copy are affine.
//
// A dim with packed digits n/96, n/8%12, n%8 and extent 700 is cut into the pieces 7 x 12 x 8,
// 3 x 8 and 4 of elements, 4 and 8 x 8 of padding; a box takes one piece of every dim. No code
// compares an index with an extent.
#pragma once

#include "impl/address.h"

namespace morello {

struct BoxDigit {
  i64 count = 1;
  Offset packed = {};  // strides
  Offset other = {};
  // The dim of which it is all, if how many there are is known at run time only (Part::elastic):
  // `count` or fewer. -1: none.
  int elastic = -1;
  bool operator==(const BoxDigit&) const = default;
};

struct Box {
  std::vector<BoxDigit> digits;  // by stride in the packed buffer, largest first; joined
  Offset packed = {};            // where it begins
  Offset other = {};
  bool operator==(const Box&) const = default;
};

// How many places of a box lie side by side in the packed buffer: its last digit, if that is dense.
i64 run_of(const Box& box);

// All elements of a tile. Dims of which calls say how much there is, one bit each, are digits of
// their own.
std::vector<Box> element_boxes(const AddressMap& packed, const AddressMap& other,
                               const Extents& extent, unsigned elastic = 0);

// Places in the packed buffer of a tile that are no elements: the end of ragged blocks.
std::vector<Box> padding_boxes(const AddressMap& packed, const Extents& extent,
                               unsigned elastic = 0);

// All places, padding included.
Box whole_box(const AddressMap& map, const Extents& extent, unsigned elastic = 0);

}  // namespace morello
