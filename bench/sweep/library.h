// The kernels of a case, searched for and compiled.
#pragma once

#include "bench/sweep/case.h"

namespace morello::bench {

struct Building {
  std::string directory;  // sources and libraries go there
  std::string machine = "native";
};

// Searches for the kernel, and for those of its steps where it has several, and compiles them with
// the loop. Returns the path of a library with glue() of all of them, in this order, and `loop`; or
// "" where a search or a compiler failed, which has said why.
std::string build(const Case& c, const std::string& name, const std::string& isa,
                  const Building& how);

// Ours, in steps, and the loop; they are of `c`, which has its data.
Contenders loaded(const Case& c, const std::string& library, const std::string& isa);

}  // namespace morello::bench
