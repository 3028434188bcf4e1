// The two tables of this folder; the lists in CMakeLists.txt name their files. Rows are the leaf
// code of one family, kernels/<family>.cc; an Isa, isas/<name>.cc, lists the families it can run.
#pragma once

#include "target/isa.h"

namespace morello {

struct Rows {
  std::span<const Kernel> kernels;
  std::span<const Access> accesses;
  std::span<const Transpose> transposes = {};
  std::span<const Function> functions = {};
  std::span<const Fold> folds = {};
  std::string_view prelude;  // helper functions the templates of this family call
};

// Constants of the compiler, so that the tables that refer to them may be built in any order.
namespace kernels {
// A broadcast of elements of which a load can bring four.
constexpr Access by_fours(Access a, std::string_view fours, std::string_view pick) {
  a.fours = fours;
  a.pick = pick;
  return a;
}

#define X(name) extern const Rows name;
#include "kernels.inc"
#undef X
}  // namespace kernels

// Not so these: nothing may use them before main().
namespace isas {
#define X(name) extern const Isa name;
#include "isas.inc"
#undef X
}  // namespace isas

}  // namespace morello
