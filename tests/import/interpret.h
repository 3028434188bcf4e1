// What HLO means, written down from its specification and by nothing that the generator has: the
// reference for what is imported.
#pragma once

#include <vector>

#include "import/module.h"

namespace morello::test {

struct Tensor {
  std::vector<i64> shape;
  std::vector<double> values;  // the last axis is contiguous
};

// Of a function without calls; values of parameters by their numbers. In doubles, not rounded.
std::vector<Tensor> interpret(const hlo::Function& f, const std::vector<Tensor>& parameters);

}  // namespace morello::test
