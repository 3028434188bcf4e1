// Functions without reshapes but for those that insert or drop dimensions of 1.
#pragma once

#include "import/module.h"

namespace morello::hlo {

// Axes are divided into the parts that reshapes make of them, of arguments and results, too, which
// lie in memory as before; parts that always stand together are one axis. Shapes have been checked.
Result<Function> without_reshapes(const Function& f, const Source& source);

}  // namespace morello::hlo
