// From the syntax of one stage's expression to what it means: internal to spec/.
#pragma once

#include "spec/op.h"
#include "spec/syntax.h"

namespace morello {

struct Elaborated {
  Computation computation;     // its output in row layout
  std::vector<int> arguments;  // Stage::arguments
  std::vector<Size> shape;     // of the result
};

// One sum at most: of products of parameters (matmul), or a reduction of anything elementwise that
// reads at most two operands along the axis. Everything else is elementwise, of the sum and of
// operands that have its shape or less. `shape` is what the user gave the result, or empty.
Result<Elaborated> elaborate(const StageSyntax& stage, const std::vector<Param>& params,
                             std::span<const Size> shape, const Source& source);

// Whether elaborate() takes an expression whose result is of that type.
bool one_computation(const ExprSyntax& s, Dtype type, const std::vector<Param>& params,
                     const Source& source);

// The shape of such an expression, as far as its operands say: 0 for an axis that is only inserted.
Result<std::vector<Size>> shape_of(const ExprSyntax& s, const std::vector<Param>& params,
                                   const Source& source);

}  // namespace morello
