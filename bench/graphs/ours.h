// The generated kernels of several stages, each made ready when its turn comes: together their
// operands are large.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/generated.h"

namespace morello::bench {

// A call, with what the generator says of it.
struct Step {
  std::function<void()> run;
  double bytes = 0;   // that have to move at least: operands of each stage, and the result
  double cycles = 0;  // by the model
};

struct OurGraph {
  std::string name, spec, isa;
  int threads = 1;
  double operations = 0, workspace = 0;
  std::vector<std::shared_ptr<Operand>> in;
  std::vector<std::vector<i64>> shapes;  // of `in`, and of the result
  std::shared_ptr<Bytes> out;
  Step all;
  std::vector<Step> steps;  // kernels that do the same one after the other; may be none

  // Of operands and result.
  double bytes() const;
};

struct OurKernel {
  std::string name;
  int threads = 1;
  std::function<OurGraph(ThreadPool&)> make;
};

std::vector<OurKernel> ours();

}  // namespace morello::bench
