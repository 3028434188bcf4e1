// From what the search found to the text of a header: the settings of codegen/emit.h.
#pragma once

#include "cli/output.h"
#include "codegen/emit.h"

namespace morello {

// Refuses what is no C++ namespace (`a::b`).
void check_namespace(const std::string& space);

// "FFW_COMPILED" for "my/ffw.h".
std::string compiled_macro(const std::string& header_name);

Emitted emit(const std::vector<KernelFound>& kernels, const Machine& machine, int threads,
             EmitOptions options);

}  // namespace morello
