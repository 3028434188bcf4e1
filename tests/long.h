// Whether the exhaustive suites run (./check --exhaustive): tests that draw draw more, and rows do
// not take turns.
#pragma once

#include <cstddef>

namespace morello {

#ifdef MORELLO_LONG
inline constexpr bool kLong = true;
#else
inline constexpr bool kLong = false;
#endif

// Whether a test's row is looked at, of which every n-th is where time is short.
inline bool has_turn(size_t row, size_t n) { return kLong || row % n == 0; }

}  // namespace morello
