// Functions that move whole tiles: packing, unpacking, filling with a number.
#pragma once

#include "codegen/functions.h"
#include "codegen/operand.h"

namespace morello {

// Copies one tile between a packed buffer and any other place of the same operand.
struct PackJob {
  AddressMap packed;  // of a buffer of exactly this tile
  AddressMap other;
  Dtype packed_type = Dtype::f32;
  Dtype other_type = Dtype::f32;
  Extents extent{};
  // Of `other`, from which a copy asks, to L2, for what lies so much behind all that it reads; 0:
  // it asks for nothing.
  Offset ahead = 0;
  std::uint8_t elastic = 0;  // of these dims calls say how much there is (Part::elastic), see
                             // can_copy_elastic()
  bool into_packed = true;   // pads ragged blocks with zeros; else writes back what is no padding
};

// Name of a function (const Source* src, Destination* dst[, strides of `other`][, lengths]).
std::string pack_function(Functions& functions, const Isa& isa, const PackJob& job);
// Its last arguments.
std::string pack_args(const PackJob& job);

// A text of the same with `src` and `dst` for the pointers, `packed` being any place of the tile.
Body copy_body(const Isa& isa, const PackJob& job);

// Name of a function (T* dst[, strides of the place]) that sets the tile, padding included, to a
// number.
std::string fill_function(Functions& functions, const Ref& out, const Extents& extent,
                          double value);

}  // namespace morello
