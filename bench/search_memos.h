// The compressed memo against what everybody would write first.
#pragma once

#include <string>

#include "target/isa.h"
#include "target/machine.h"

namespace morello::bench {

// Prints, per kernel whose name contains `only`, seconds and allocated bytes of the search with
// each memo: ours; a hash table of boxes; a hash table by (Spec, exact limits). A search that takes
// more CPU seconds than `most_seconds` is stopped, and its row says what it took by then: at least
// that. Returns 1 if they disagree about a cost.
int compare_memos(const Machine& machine, const Isa& isa, const std::string& only,
                  double most_seconds);

}  // namespace morello::bench
