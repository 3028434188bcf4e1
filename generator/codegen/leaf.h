// The micro-kernel: straight-line code over named registers for one leaf Call.
#pragma once

#include <string>
#include <vector>

#include "codegen/ask.h"
#include "codegen/functions.h"
#include "codegen/operand.h"

namespace morello {

// What a leaf asks for while it computes, and of what elements.
struct LeafAsk {
  Asking asking;
  Dtype dtype = Dtype::f32;
};

struct LeafJob {
  Extents extent{};
  bool accumulate = false;
  Refs refs;  // maps, types and forms; the pointers are parameters of the function
  Call call;
  bool brief = false;  // rather short than fast
  std::vector<LeafAsk> asks = {};
  std::uint8_t from_l2 = 0;  // inputs that lie there, a bit each
};

// Whether leaves of a family take `asks`: those that sum.
bool asks_within(const Problem& p);

// Name of a function (const A* pa[, const B* pb], C* pc[, extras][, strides of all places][, for
// every ask const Source* ask, std::ptrdiff_t asked]) that computes the tile; no extras where it
// leaves sums in a copy.
std::string leaf_function(Functions& functions, const Problem& p, const LeafJob& job);

}  // namespace morello
