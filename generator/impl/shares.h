// What codegen and the search have to agree on about parallel loops: which tasks there are, and how
// the shares of a divided reduction become one sum.
#pragma once

#include "impl/impl.h"

namespace morello {

// Whether a Spec is inside a parallel loop: what is left of the threads is for loops directly
// below.
inline bool in_region(const Problem& p, const Spec& spec) { return spec.threads < p.threads; }

// Tasks of a node of a region: those of the steps of a parallel loop; any other node is one task.
i64 task_count(const Problem& p, const Spec& spec, const Impl& impl);

// A parallel loop over a reduction. The first share sums into the output itself, every other one
// into a copy that is laid out like it. When all are done, copies are added to the output in the
// order of the shares, element by element, so that the result is the same however many threads
// there are. That too is divided: task i adds elements [i * task_elements, ..).
struct Shares {
  i64 count = 0;
  i64 elements = 0;    // of one copy, with the places that pad blocks
  i64 copy_bytes = 0;  // from one copy to the next
  i64 tasks = 1;       // of the addition; one needs no region
  i64 task_elements = 0;
};
// The nearest place from L2 on that so many threads share: where one finds what another has summed.
Level shared_level(const Machine& machine, int threads);
Shares shares_of(const Problem& p, const Spec& spec, const Loop& loop);

}  // namespace morello
