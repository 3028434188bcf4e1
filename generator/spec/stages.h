// From a kernel's expression to stages: internal to spec/.
#pragma once

#include "spec/op.h"
#include "spec/syntax.h"

namespace morello {

struct Staged {
  Expr expr;
  std::vector<Binding> where;
  std::vector<Stage> stages;  // outputs in row layout
  std::vector<Param> between;
  std::vector<Size> shape;  // of the result
};

// `shape` is what the user gave the result, or empty.
Result<Staged> divide_into_stages(const KernelSyntax& kernel, const std::vector<Param>& params,
                                  std::span<const Size> shape, const Source& source);

}  // namespace morello
