// What kernels of one kind have in common.
#pragma once

#include "target/isa.h"
#include "target/machine.h"

namespace morello::bench {

// The layers of language models, solved one by one and over shared tables: CPU seconds, Specs
// solved, boxes stored. Returns 1 if an answer differs.
int compare_sharing(const Machine& machine, const Isa& isa);

}  // namespace morello::bench
