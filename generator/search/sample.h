// Programs drawn from the spaces of a kernel, to be measured: how the cost model is judged
// (bench/model.cc).
#pragma once

#include <string>
#include <vector>

#include "search/optimize.h"

namespace morello {

// The program without its views and with every copy in L1, where a copy is always legal: what is
// left decides the emitted code.
ImplPtr without_views(const Impl& impl);

// What the model says about a piece of code: the least cost of all programs that differ from
// `impl` in their views and in the levels of their copies only. For the optimum of a space it is
// the optimum's cost. Infinite when no such program is in the space or fits.
Cost price(const Space& space, const ImplPtr& impl);

struct Sample {
  Problem problem;
  ImplPtr impl;  // without views
  Cost cost;     // its price
};

struct SampleOptions {
  int threads = 1;
  int programs = 30;
  double range = 8;              // the dearest costs so many times as much as the cheapest
  Cost most = Cost::infinite();  // programs that cost more are left out
  unsigned seed = 1;
  i64 max_specs = 400'000;  // families whose search needs more are left out
};

// The cheapest program first, then about a fifth best programs of other families, a fifth near-best
// ones, the rest random over the whole range, evenly in the logarithm of the cost. No two have the
// same code. The same for the same input.
std::vector<Sample> sample(const Computation& c, const Machine& machine, const Isa& isa,
                           const SampleOptions& options);

}  // namespace morello
