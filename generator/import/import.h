// Kernels from what other programs write: StableHLO and HLO text, the two forms in which jax and
// XLA print a computation (docs/hlo.md).
//
//   text --hlo.cc, stablehlo.cc--> Module --inline.cc--> Function --lower.cc--> KernelSyntax
//
// From there on it is a spec like any other: shapes, types and stages are those of spec/.
#pragma once

#include "spec/kernel_spec.h"

namespace morello::hlo {

// Whether the ending of its name says that a file is one of these.
bool is_file_name(std::string_view file);

// A kernel for every public function, with its name: main() is called like its module, without the
// `jit_` that jax puts before, or else like the file.
Result<std::vector<KernelSpec>> import_kernels(std::string_view text, const std::string& file);

}  // namespace morello::hlo
