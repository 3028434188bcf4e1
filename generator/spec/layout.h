// Layout: where the elements of a tensor lie.
//
// A layout is a list of digits, outermost first. Digit {axis, div, mod} takes the value
// (index[axis] / div) % mod of the mixed-radix number that is an element's offset; mod 0 is the
// leading digit of its axis (no modulus: its extent follows from the shape, rounded up, so a
// ragged last block is padded). Examples for shape [K, N]:
//   row     0, 1                 offset = k * N + n
//   col     1, 0                 offset = n * K + k
//   panels  1/16, 0, 1%16        16 columns together, k after k: one sequential stream per panel
// Text form: `order(1/16, 0, 1%16)`; `row` and `col` where they say it. `axis/div%mod` is the
// general digit; `/1` and an absent `%` are not written.
// Laws (tests/spec/layout_test.cc): offset is injective on the shape; offsets are < elements();
// parse(print(l)) == l.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "support/diag.h"

namespace morello {

struct Digit {
  int axis = 0;
  i64 div = 1;
  i64 mod = 0;  // 0: leading digit of the axis
  bool operator==(const Digit&) const = default;
};

struct Layout {
  std::vector<Digit> digits;
  bool operator==(const Layout&) const = default;

  static Layout row(int rank);
  static Layout col(int rank);  // the last two axes swapped, others as in row
  bool is_row(int rank) const { return *this == row(rank); }
  bool is_col(int rank) const { return *this == col(rank); }

  // Extent of digit d in a tensor of this shape.
  i64 extent(const Digit& d, std::span<const i64> shape) const;
  // Elements of the buffer, padding included.
  i64 elements(std::span<const i64> shape) const;
  i64 offset(std::span<const i64> index, std::span<const i64> shape) const;
  std::string str(int rank) const;  // "row", "col" or "order(...)"
};

i64 count_elements(std::span<const i64> shape);

// Why `layout` is no layout of a tensor of this rank (each axis covered exactly once, by divs and
// mods that chain: the mod of a digit times its div is the div of the next more significant one);
// empty when it is one.
std::string layout_problem(const Layout& layout, int rank);

}  // namespace morello
