// The generated half of a bench program: what the kernel computes, as tables and functions.
#pragma once

#include <string>

#include "spec/kernel_spec.h"

namespace morello {

// C++ text of subject.h for bench/driver.cc. The kernel is bench::kernel in kernel.h.
std::string subject_text(const KernelSpec& spec, int threads);

}  // namespace morello
