// Specs so small that all programs of most of their spaces can be listed: every operator, every
// combination of types that it takes, every kind of layout, batches.
#pragma once

#include <string>
#include <vector>

namespace morello {

std::vector<std::string> tiny_specs();

}  // namespace morello
