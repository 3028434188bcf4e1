// Random boxes for the tests of the memo's maps: with all the values that are kept in special ways.
#pragma once

#include <algorithm>
#include <random>
#include <tuple>

#include "search/spatial_map.h"

namespace morello {

constexpr std::int64_t kUnlimited = SpatialMap<1, 1>::kUnlimited;
constexpr std::uint64_t kInfeasible = SpatialMap<1, 1>::kInfeasible;

inline std::mt19937_64& random_bits() {
  static std::mt19937_64 random(20261121);
  return random;
}
inline std::int64_t number(std::int64_t n) {
  return static_cast<std::int64_t>(random_bits()() % static_cast<std::uint64_t>(n));
}

inline std::int64_t random_bytes() {
  switch (number(12)) {
    case 0:
      return kUnlimited;
    case 1:
      return (std::int64_t{1} << 32) - 6 + number(8);  // where 4 bytes end
    case 2:
      return number(std::int64_t{1} << 40);
    case 3:
      return kUnlimited - 2 + number(5);
    case 4:
      return number(8) - 4;
    case 5:
      return 0;
    default:
      return 64 * number(20);
  }
}

template <int kDims, int kLimits>
typename SpatialMap<kDims, kLimits>::Content random_content(int decisions) {
  typename SpatialMap<kDims, kLimits>::Content c;
  switch (number(8)) {
    case 0:
      break;  // no implementation
    case 1:
      c.cost = (std::uint64_t{1} << 42) - 3 + static_cast<std::uint64_t>(number(5));
      break;
    case 2:
      c.cost = std::uint64_t{1} << 60;
      break;
    case 3:
      c.cost = kInfeasible - 1;
      break;
    default:
      c.cost = static_cast<std::uint64_t>(number(100000));
  }
  for (int i = 0; i < kLimits; ++i)
    std::tie(c.peak[i], c.limit[i]) = std::minmax({random_bytes(), random_bytes()});
  if (c.cost == kInfeasible) c.peak = {};
  c.decision = static_cast<std::uint64_t>(number(decisions)) * 0x100000001;
  return c;
}

}  // namespace morello
