// What lower_bound.cc, column_bound.cc and move_bound.cc share.
#pragma once

#include <algorithm>
#include <limits>

#include "search/space.h"

namespace morello {

// What rounding down may have lost of a leaf.
inline constexpr Cost kRoundedOff = Cost::milli(20);

// More steps than any sum has.
inline constexpr i64 kAnySteps = std::numeric_limits<i64>::max();

// A way to bring all of an input nearer, for leaves that sum no more than so many steps at a time.
struct Space::Mover {
  i64 most_steps;
  Cost cost;
};

// What counts elsewhere left out.
inline Cost beyond(Cost all, Cost counted) {
  return all.finite() ? all - std::min(all, counted) : all;
}

// Percent of what one stream takes that those of rows and of packed panels do, and lines that are
// asked for: of these only where whole rows lie apart.
struct Space::Percent {
  int streamed, asked;
};

// What ends a leaf, or a column of leaves, with the output where it lies or in a copy.
struct Space::Ends {
  Cost edges;    // of each leaf of whole vectors, beyond its arithmetic, with its call,
  Cost written;  // ... and of all of them together
};

}  // namespace morello
