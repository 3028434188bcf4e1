// Orders of packed buffers beside those of other places, for tests of what copies between them.
#pragma once

#include <vector>

#include "impl/address.h"

namespace morello {

// Dims of the tiles.
inline constexpr int N = 0, K = 1, B = 2;

struct Order {
  const char* name;
  std::vector<Digit> packed, other;
};
inline const Order kOrders[] = {
    {"plain, alike", {{N, 1, 0}, {K, 1, 0}}, {{N, 1, 0}, {K, 1, 0}}},
    {"plain, transposed", {{N, 1, 0}, {K, 1, 0}}, {{K, 1, 0}, {N, 1, 0}}},
    {"panels of 6, transposing", {{N, 6, 0}, {K, 1, 0}, {N, 1, 6}}, {{N, 1, 0}, {K, 1, 0}}},
    {"panels of 24 lanes", {{N, 24, 0}, {K, 1, 0}, {N, 8, 3}, {N, 1, 8}}, {{K, 1, 0}, {N, 1, 0}}},
    {"panels of 16 lanes, transposing",
     {{N, 16, 0}, {K, 1, 0}, {N, 8, 2}, {N, 1, 8}},
     {{N, 1, 0}, {K, 1, 0}}},
    {"even and odd registers",
     {{N, 32, 0}, {K, 1, 0}, {N, 16, 2}, {N, 1, 8}, {N, 8, 2}},
     {{K, 1, 0}, {N, 1, 0}}},
    {"even and odd registers, transposing",
     {{N, 16, 0}, {K, 1, 0}, {N, 1, 8}, {N, 8, 2}},
     {{N, 1, 0}, {K, 1, 0}}},
    {"pairs", {{N, 16, 0}, {K, 2, 0}, {N, 8, 2}, {N, 1, 8}, {K, 1, 2}}, {{K, 1, 0}, {N, 1, 0}}},
    {"pairs, transposing", {{N, 6, 0}, {K, 2, 0}, {N, 1, 6}, {K, 1, 2}}, {{N, 1, 0}, {K, 1, 0}}},
    {"quads", {{N, 16, 0}, {K, 4, 0}, {N, 1, 16}, {K, 1, 4}}, {{K, 1, 0}, {N, 1, 0}}},
    {"quads, transposing", {{N, 8, 0}, {K, 4, 0}, {N, 1, 8}, {K, 1, 4}}, {{N, 1, 0}, {K, 1, 0}}},
    {"two streams", {{N, 8, 2}, {N, 16, 0}, {K, 1, 0}, {N, 1, 8}}, {{K, 1, 0}, {N, 1, 0}}},
    {"lanes along the reduction",
     {{N, 3, 0}, {K, 16, 0}, {N, 1, 3}, {K, 1, 16}},
     {{N, 1, 0}, {K, 1, 0}}},
    {"blocks on the other side too",
     {{N, 8, 0}, {K, 1, 0}, {N, 1, 8}},
     {{N, 32, 0}, {K, 1, 0}, {N, 1, 32}}},
    {"blocks that cross",
     {{N, 6, 0}, {K, 1, 0}, {N, 1, 6}},
     {{K, 4, 0}, {N, 4, 0}, {K, 1, 4}, {N, 1, 4}}},
    {"digits that do not divide each other",
     {{N, 6, 0}, {K, 5, 0}, {N, 1, 6}, {K, 1, 5}},
     {{N, 4, 0}, {K, 7, 0}, {N, 1, 4}, {K, 1, 7}}},
    {"rows that lie as remainders: boxes of one shape",
     {{N, 32, 0}, {K, 1, 0}, {N, 1, 32}},
     {{N, 20, 0}, {K, 1, 0}, {N, 1, 4}, {N, 4, 5}}},
    {"panels of 14, transposing", {{N, 14, 0}, {K, 1, 0}, {N, 1, 14}}, {{N, 1, 0}, {K, 1, 0}}},
    {"three dims", {{B, 1, 0}, {N, 6, 0}, {K, 1, 0}, {N, 1, 6}}, {{N, 1, 0}, {B, 1, 0}, {K, 1, 0}}},
};

inline Extents extents(i64 n, i64 k, i64 b = 1) {
  Extents e;
  e.fill(1);
  e[N] = n;
  e[K] = k;
  e[B] = b;
  return e;
}
void each_index(const Extents& e, auto visit) {
  Extents x{};
  for (x[N] = 0; x[N] < e[N]; ++x[N])
    for (x[K] = 0; x[K] < e[K]; ++x[K])
      for (x[B] = 0; x[B] < e[B]; ++x[B]) visit(x);
}

}  // namespace morello
