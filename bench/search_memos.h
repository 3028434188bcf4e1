// The compressed memo against what everybody would write first.
#pragma once

#include "target/isa.h"
#include "target/machine.h"

namespace morello::bench {

// Prints, per kernel, seconds and allocated bytes of the search with each memo: ours; a hash table
// of boxes; a hash table by (Spec, exact limits). Returns 1 if they disagree about a cost.
int compare_memos(const Machine& machine, const Isa& isa);

}  // namespace morello::bench
