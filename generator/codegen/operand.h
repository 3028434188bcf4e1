// Ref: an operand at one point of the generated code.
#pragma once

#include <array>
#include <string>

#include "impl/impl.h"

namespace morello {

struct Ref {
  std::string pointer;  // expression that points at element (0, 0, ..) of the current tile
  AddressMap map;
  Dtype dtype = Dtype::f32;
  bool packed = false;  // in the family's packed order and type
};
using Refs = std::array<Ref, kMaxOperands>;

inline std::string const_pointer(Dtype t) { return fmt::format("const {}*", c_type(t)); }
inline std::string mutable_pointer(Dtype t) { return fmt::format("{}*", c_type(t)); }

// Elements of the leading digit's block of a dim: what packing pads its extent to. 1: no blocks.
inline i64 block_of(const AddressMap& map, int dim) {
  for (const AddressTerm& t : map.terms)
    if (t.dim == dim && t.mod == 0) return t.div;
  return 1;
}

// Smallest step along dim that AddressMap::advance() takes.
inline i64 smallest_step(const AddressMap& map, int dim) {
  i64 step = 1;
  for (const AddressTerm& t : map.terms)
    if (t.dim == dim && t.mod != 1) step = std::max(step, t.mod == 0 ? t.div : t.div * t.mod);
  return step;
}

}  // namespace morello
