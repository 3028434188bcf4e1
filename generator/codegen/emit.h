// From programs to a C++ header: the only public function of this folder is emit_header().
#pragma once

#include <string>
#include <vector>

#include "impl/fusion.h"
#include "impl/patchwork.h"
#include "spec/kernel_spec.h"

namespace morello {

// One kernel for one instruction set.
struct Variant {
  Problem problem;
  ImplPtr impl;
  i64 cost_cycles = 0;  // of the cost model
  // Where sizes are known at run time only: all programs. The one above is for whole pieces, the
  // cost for nominal sizes.
  std::shared_ptr<const Patchwork> patchwork = nullptr;
  // Of a kernel of several stages: all of it. The program above is the dearest part.
  std::shared_ptr<const Fusion> fusion = nullptr;
};

// All variants of one kernel, widest instruction set first.
struct KernelCode {
  const KernelSpec* spec = nullptr;
  std::string name;  // C++ function name
  int threads = 1;   // > 1: the kernel takes a morello::Parallel
  std::vector<Variant> variants;
};

struct EmitOptions {
  std::string space = "morello";  // C++ namespace, may be nested with ::
  std::string machine;            // name and digest line for the banner
  std::string header_name;        // "ffw.h": for the include guard and the #include of the source
  std::string compiled_macro;     // non-empty: header declares, source defines (TYPE STATIC)
};

struct Emitted {
  std::string header;
  std::string source;  // empty in header-only mode
};

Emitted emit_header(const std::vector<KernelCode>& kernels, const EmitOptions& options);

}  // namespace morello
