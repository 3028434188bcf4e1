// Register tiles: how many instances of a kernel a leaf computes side by side, as candidates for
// the search.
#pragma once

#include <vector>

#include "spec/computation.h"
#include "target/isa.h"

namespace morello {

struct RegisterTile {
  int row_dim = -1, column_dim = -1;
  i64 rows = 1, columns = 1;  // instances; columns of a lane dim are vectors
  i64 unroll = 1;             // accumulator sets
};

bool inputs_touch(const Computation& c, int dim);
bool all_touch(const Computation& c, int dim);

// Tiles worth a look, whatever registers they take, where an input of the body takes `regs`. A tile
// that is all of the output cannot grow, so it may have several sets of accumulators (`steps` of
// the reduction).
std::vector<RegisterTile> tiles(const Computation& c, const Kernel& k, int lane, int regs,
                                i64 steps);

// Of those that fit the registers the ones worth a search: tiles with fewer than `busy`
// accumulators only where no extent lets them grow.
std::vector<RegisterTile> worthwhile(std::vector<RegisterTile> fitting, const Isa& isa, i64 busy);

}  // namespace morello
