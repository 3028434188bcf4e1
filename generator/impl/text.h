// What printing, parsing and messages have in common.
#pragma once

#include <string>

#include "impl/impl.h"

namespace morello {

// The first line of an Impl's text: "loop n by 64", "copy a to L1", "call ahead b 16384".
std::string headline(const Problem& p, const Impl& impl);

// Heads what a Clip does in segments of such a shape: "part 110 r 3".
std::string part_line(const Problem& p, int dim, const Extents& extent);

// Stands for all extras of a computation where one of their levels is said.
inline constexpr const char* kExtrasName = "extras";

}  // namespace morello
