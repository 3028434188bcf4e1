// AddressMap: where the elements of an operand lie, as a function of the iteration dimensions.
//
//   offset(x) = sum over terms of ((x[dim] / div) % mod) * stride        (mod 0: no modulus)
//
// Both kinds of operand in a program have this form: a tensor as the user gave it (one term per
// dim, div 1, mod 0) and a packed buffer (several terms per dim). It is Layout (spec/layout.h)
// composed with the operand's access map.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "impl/offset.h"
#include "spec/computation.h"

namespace morello {

using Extents = std::array<i64, kMaxDims>;  // per dim of the Computation; unused ones are 1

struct AddressTerm {
  int dim = 0;
  i64 div = 1;
  i64 mod = 0;
  i64 stride = 0;  // assumed, where it is known at run time only
  // Of a stride that is known at run time only, which this is `times` of; -1: the stride is a
  // number.
  int symbol = -1;
  i64 times = 1;
  Offset steps(i64 count) const {
    return symbol < 0 ? Offset(count * stride) : Offset::of(symbol, count * times, stride / times);
  }
  // Not of a block: the dim has this stride throughout.
  bool is_plain() const { return div == 1 && mod == 0; }
  bool operator==(const AddressTerm&) const = default;
};

struct AddressMap {
  std::vector<AddressTerm> terms;
  i64 elements = 0;  // size of the buffer, padding included
  bool operator==(const AddressMap&) const = default;

  // As costs assume it; place() is the same for code.
  i64 offset(const Extents& index) const;
  Offset place(const Extents& index) const;
  // Offset added by advancing `dim` from any multiple of `step` by `step`. `step` is a multiple of
  // every inner block of dim (checked).
  Offset advance(int dim, i64 step) const;
  // Whether some stride is known at run time only.
  bool run_time() const;
  // Stride of dim if it is a single plain term, or the stride between neighbours inside the
  // innermost block (div 1 term); 0 if the operand does not touch dim.
  i64 unit_stride(int dim) const;
  bool touches(int dim) const;
  // Whether it has no blocks.
  bool is_plain() const;
  // The plain terms, ascending by stride; those of one stride in their order here.
  std::vector<AddressTerm> plain_terms() const;
};

// Strides that are known at run time only, numbered over all operands: the digit of a layout.
inline constexpr int kMostDigits = 64;
constexpr int stride_symbol(int operand, int digit) { return operand * kMostDigits + digit; }

// The given layout of an operand (which is not packed) or extra composed with its access map.
AddressMap given_address(const Computation& c, int operand);

// The same with element i of a dim where element i / n + i % n * (extent / n) was: n neighbours are
// one from each of n equal parts. The dim has one plain term at most, and n divides its extent.
AddressMap in_parts(const AddressMap& map, int dim, i64 extent, i64 n);

// A packed order over the dims of a Computation: digits over dims, outermost first; instantiated
// for the extents of one tile.
struct PackedOrder {
  std::vector<Digit> digits;  // Digit::axis is a dim here
  bool operator==(const PackedOrder&) const = default;
  AddressMap address(const Extents& tile) const;
  // Of address(tile), without making it: searches ask for nothing else millions of times.
  i64 elements(const Extents& tile) const;
};

}  // namespace morello
