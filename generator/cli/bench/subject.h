// The generated half of a program that verifies and times kernels: what they compute, as tables and
// functions.
#pragma once

#include <string>
#include <vector>

#include "spec/kernel_spec.h"

namespace morello {

struct SubjectsOptions {
  std::string header_name;        // how the program includes the kernels
  std::string space = "morello";  // their namespace
  std::string suite = "bench";    // a C++ identifier
  int threads = 1;
};

// C++ text of subjects.h for bench/driver.h: a type per kernel, and each_SUITE(f), which calls f
// with one of each.
std::string subjects_text(const std::vector<KernelSpec>& specs, const SubjectsOptions& options);

}  // namespace morello
