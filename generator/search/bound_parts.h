// What lower_bound.cc and column_bound.cc share.
#pragma once

#include <limits>

#include "search/space.h"

namespace morello {

// What rounding down may have lost of a leaf.
inline constexpr Cost kRoundedOff = Cost::milli(20);

// floor(value * times / parts), or a little less if that is very much; infinite if too much.
inline Cost in_proportion(i64 value, i64 times, i64 parts) {
  const i64 rest = times % parts;
  const bool fits = rest == 0 || value <= std::numeric_limits<i64>::max() / rest;
  return (times / parts) * Cost::milli(value) +
         Cost::milli(fits ? rest * value / parts : value / parts * rest);
}

// What ends a leaf, or a column of leaves, with the output where it lies or in a copy.
struct Space::Ends {
  Cost edges;    // of each leaf of whole vectors, beyond its arithmetic, with its call,
  Cost written;  // ... and of all of them together
};

}  // namespace morello
