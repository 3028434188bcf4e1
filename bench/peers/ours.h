// The generated kernels, each made ready when its turn comes: together their operands are large.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/generated.h"

namespace morello::bench {

struct Ours {
  std::string name;
  std::string beside;  // where sizes are known at run time only: the same with known sizes
  int threads = 1;     // at most
  std::function<Generated(ThreadPool&)> make;
};

std::vector<Ours> ours();

}  // namespace morello::bench
