// From a kernel's expression to stages: internal to spec/.
#pragma once

#include "spec/op.h"
#include "spec/syntax.h"

namespace morello {

struct Staged {
  std::optional<Expr> expr;
  std::vector<Binding> where;
  std::vector<Stage> stages;  // outputs in row layout
  std::vector<Param> made;
  std::vector<int> results;  // stages, in the order of KernelSyntax::results
};

// `shapes` is what the user gave the results, or empty ones.
Result<Staged> divide_into_stages(const KernelSyntax& kernel, const std::vector<Param>& params,
                                  const std::vector<std::vector<Size>>& shapes,
                                  const Source& source);

}  // namespace morello
