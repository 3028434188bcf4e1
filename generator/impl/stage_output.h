// What becomes of that which a stage of several stores.
#pragma once

#include "impl/spec.h"
#include "spec/graph.h"

namespace morello {

// Fills in Part::leaves, read_again and in_place. What a stage stores in a large result leaves the
// caches, unless the stage has just read it there; and may be stored past them where no stage
// behind it reads it. (G: 64 MiB scaled in place take 4.6 ns a line, 2.4 more than reading them,
// and from one array into another 9.3. Of 3 to 16 MiB a line takes 8 cycles in place, as to read
// it, and 17 from one array into another.)
void describe_output(const Graph& g, const Machine& machine, int stage, Part& p);

}  // namespace morello
