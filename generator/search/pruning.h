// Pruning: what the search may leave out. README.md proves that no cost changes; tests and
// benchmarks switch each off.
#pragma once

namespace morello {

struct Pruning {
  bool bounds = true;      // skip a family whose lower bound is above the best cost so far
  bool incumbents = true;  // stop at a candidate as soon as it costs no less than the best so far
  bool boxes = true;       // an entry is good up to what blocked a better choice, not only as asked
  bool keys = true;        // attributes that nothing can observe are no part of a key (Coordinates)
};

}  // namespace morello
