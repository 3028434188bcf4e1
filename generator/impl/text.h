// Names shared by everything in this folder that speaks of Specs and Impls.
#pragma once

#include <string>

#include "impl/impl.h"

namespace morello {

// The operand's name; where an operand is used twice ("add(x, x)") the later ones are x.2, x.3.
std::string operand_label(const Computation& c, int operand);

// The first line of an Impl: "loop n by 64", "copy a to L1", "call ahead b 16384".
std::string headline(const Problem& p, const Impl& impl);

}  // namespace morello
