// Windows that overlap along the rows of a register tile.
//
// Rows of a tile that are neighbours along a picture read windows that have elements in common: of
// four rows of 3 x 3 six rows of the input are read, each for up to three of the four. A leaf that
// takes the taps of a column one after the other loads 12 vectors for 12 multiply-adds and one of
// the filter; one that takes them all at once, and holds the filter's vectors of all of them, 6 and
// 3. Where lanes run along what filters keep apart (depthwise; channels first) loads are what such
// leaves wait for. (Zen 4, AVX2, f32, depthwise by hand, of the time of the best tile that takes
// tap after tap: 3x3 over 24x24x64 0.57, 28x28x192 0.58, 112x112x64 0.75, 24x24x64 in steps of two
// 0.84, 5x5 over 14x14x672 0.65.)
#pragma once

#include <optional>

#include "spec/computation.h"

namespace morello {

struct Overlap {
  int input = -1;           // whose elements several windows have
  int row = -1, tap = -1;   // dims: from window to window, and within a window
  i64 stride = 1, gap = 1;  // how far a step of each goes along the axis of that input
  i64 taps = 1;             // that a leaf takes at once

  bool moves(int dim) const { return dim == row || dim == tap; }
  // Elements along the axis that so many rows have in so many taps, whether at once or by `taps`.
  i64 at_once(i64 rows, i64 taps) const;
  i64 elements(i64 rows, i64 taps) const;
  bool operator==(const Overlap&) const = default;
};

// Of neighbours along `row`, all taps at once; nullopt: windows have nothing in common along it.
std::optional<Overlap> overlap_along(const Computation& c, int row);

}  // namespace morello
