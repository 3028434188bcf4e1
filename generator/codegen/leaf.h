// The micro-kernel: straight-line code over named registers for one leaf Call.
#pragma once

#include "codegen/functions.h"
#include "codegen/operand.h"

namespace morello {

struct LeafJob {
  Extents extent{};
  bool accumulate = false;
  Refs refs;  // maps, types and forms; the pointers are parameters of the function
  Call call;
  bool brief = false;  // rather short than fast
};

// Name of a function (const A* pa[, const B* pb], C* pc[, extras][, strides of all places]) that
// computes the tile; no extras where it leaves sums in a copy.
std::string leaf_function(Functions& functions, const Problem& p, const LeafJob& job);

}  // namespace morello
