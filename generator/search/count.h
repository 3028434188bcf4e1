// Counting and enumerating the programs of a space.
#pragma once

#include <vector>

#include "search/rewrite.h"

namespace morello {

// log10 of the number of programs (derivation trees) that the search chooses among, counted by
// dynamic programming over Specs; each operand's buffer must fit its cache alone.
double log10_programs(const Space& space);

// Every program of a Spec within limits, with its cost; for proofs on tiny Specs. Stops and returns
// an empty list when there are more than `most`.
struct Program {
  ImplPtr impl;
  Cost cost;
};
std::vector<Program> enumerate(const Space& space, const Spec& spec, const Limits& limits,
                               size_t most);

}  // namespace morello
