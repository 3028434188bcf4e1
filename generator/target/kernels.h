// Rows: the leaf code of one family, kernels/<family>.cc. An Isa (isas/<name>.cc) lists the
// families it can run; the list in CMakeLists.txt names the files.
#pragma once

#include "target/isa.h"

namespace morello {

struct Rows {
  std::span<const Kernel> kernels;
  std::span<const Access> accesses;
  std::string_view prelude;  // helper functions the templates of this family call
};

// Constants of the compiler, so that the tables that refer to them may be built in any order.
namespace kernels {
#define X(name) extern const Rows name;
#include "kernels.inc"
#undef X
}  // namespace kernels

}  // namespace morello
