// What a header says about a kernel beside its code: the banner and `<name>_info`.
#pragma once

#include "codegen/emit.h"
#include "codegen/nest.h"

namespace morello {

// A kernel with the code of its variants; all text that depends on both starts here.
struct Built {
  const KernelCode& kernel;
  std::vector<NestCode> nests;  // one per variant

  bool threaded() const { return kernel.threads > 1; }
  i64 workspace_bytes() const;  // of the widest need, room to align it included; 0: none
};

// "avx2,scalar"
std::string isa_list(const KernelCode& k);
// Index of the first input that parameter `param` is passed as; -1: none.
int operand_of(const KernelSpec& spec, int param);
// Every line of `text` as a comment.
std::string commented(const std::string& text, const std::string& indent);
// The comment above a kernel: spec, families, costs and the loop nests that were found.
std::string banner(const KernelCode& k);
std::string info_struct(const Built& b, const std::string& machine);

}  // namespace morello
