// Random legal programs: nodes are drawn until verify() accepts one.
#pragma once

#include "impl/fixture.h"

namespace morello::test {

// A program for `spec`; deep ones are driven towards a leaf.
ImplPtr random_program(const Problem& p, const Spec& spec, Random& random, int depth = 0);

}  // namespace morello::test
