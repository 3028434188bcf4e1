// From programs to a C++ header: the only public function of this folder is emit_header().
#pragma once

#include <string>
#include <vector>

#include "impl/fusion.h"
#include "impl/patchwork.h"
#include "impl/rows.h"
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
  // Of such a kernel where the number of rows is known at run time only: all pieces.
  std::shared_ptr<const AnyRows> rows = nullptr;
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
  // Lines of all variants of a kernel from which on its leaves are short, where that leaves out a
  // fifth: compilers are to be done in 3 s. (i8[52,7] x i8[7,81] for five instruction sets, Zen 3:
  // 5,930 lines and GCC 12 2.8 to 3.5 s, short 3,978 and 2.1 to 2.3. Short kernels take 0 to 7 %
  // longer, those of a microsecond 14 %.)
  std::ptrdiff_t most_lines = 4500;
};

struct Emitted {
  std::string header;
  std::string source;  // empty in header-only mode
};

Emitted emit_header(const std::vector<KernelCode>& kernels, const EmitOptions& options);

}  // namespace morello
