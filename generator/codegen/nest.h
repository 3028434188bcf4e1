// The loop nest of one variant as C++ functions.
#pragma once

#include <string>

#include "impl/impl.h"

namespace morello {

struct NestCode {
  // All functions, the last one `run(inputs..., out[, unsigned char* workspace]
  // [, const ::morello::Parallel& pool])` over typed pointers.
  std::string functions;
  i64 workspace_bytes = 0;  // what `workspace` points to, from a 64-byte boundary; 0: no parameter
  bool parallel = false;    // run takes a pool
  // Per operand: name of the packer (const T* given, T* packed) of a `packed` parameter, or empty.
  std::array<std::string, kMaxOperands> packers;
};

NestCode emit_nest(const Problem& p, const Impl& impl);

}  // namespace morello
