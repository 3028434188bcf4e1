// From the syntax of an expression to what it means: internal to spec/.
#pragma once

#include "spec/op.h"
#include "spec/syntax.h"

namespace morello {

struct Elaborated {
  Expr expr;
  Computation computation;     // its output in row layout
  std::vector<int> arguments;  // KernelSpec::arguments
  std::vector<Size> shape;     // of the result
};

// One sum at most, of products of parameters; everything else is elementwise, before or after it.
// `shape` is what the user gave the result, or empty.
Result<Elaborated> elaborate(const KernelSyntax& kernel, const std::vector<Param>& params,
                             std::span<const Size> shape, const Source& source);

}  // namespace morello
