// Whether a kernel computes what the text says that it was imported from.
#pragma once

#include <string>

#include "import/module.h"
#include "spec/kernel_spec.h"

namespace morello::test {

// On some numbers, with arguments and results as they lie in memory: the first element that
// differs, or "". `f` without calls, as the text has it.
std::string difference(const hlo::Function& f, const KernelSpec& k);

}  // namespace morello::test
