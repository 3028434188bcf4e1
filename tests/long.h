// Whether the exhaustive suites run (./check --exhaustive): tests that draw draw more.
#pragma once

namespace morello {

#ifdef MORELLO_LONG
inline constexpr bool kLong = true;
#else
inline constexpr bool kLong = false;
#endif

}  // namespace morello
