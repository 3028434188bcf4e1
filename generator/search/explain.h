// The winning nest with what every level of it costs and what lost there.
#pragma once

#include <string>

#include "search/optimize.h"

namespace morello {

// One line per node of the program: cycles of the whole subtree (times how often it runs), of the
// node itself, and the next best first step with how much dearer its program is; then the families
// that lost.
std::string explain(const Optimum& optimum);

// Cost of a program, node by node through the candidates it was built from; infinite when some node
// is not in the space. Independent of the memo: tests compare the two.
Cost cost_of(const Space& space, const Spec& spec, const Impl& impl);

}  // namespace morello
