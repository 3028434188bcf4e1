// A leaf that takes rows of a few elements as one run (impl/joined.h).
#pragma once

#include "codegen/leaf.h"

namespace morello {

// As leaf_function().
std::string joined_leaf(Functions& functions, const Problem& p, const LeafJob& job);

}  // namespace morello
