// Kernels that a program searches for, compiles and loads itself, and values for their operands.
#pragma once

#include <string>

#include "bench/packed.h"
#include "morello/parallel.h"
#include "spec/kernel_spec.h"

namespace morello::bench {

// C functions without types, whose names end in _i, for `p<i>::kernel` of a header.
std::string glue(const KernelSpec& spec, size_t i, int threads);

// These functions of a shared library; it stays loaded. What is missing ends the program.
class Program {
 public:
  Program(const std::string& library, size_t i);

  size_t workspace_bytes() const { return workspace_(); }
  // 0: that parameter is not packed.
  size_t packed_bytes(size_t param) const { return packed_(static_cast<int>(param)); }
  void pack(size_t param, const void* from, void* to) const {
    pack_(static_cast<int>(param), from, to);
  }
  // Parameters, then the result.
  void call(void* const* arguments, void* workspace, const Parallel& pool) const {
    call_(arguments, workspace, &pool);
  }

 private:
  size_t (*workspace_)();
  size_t (*packed_)(int);
  void (*pack_)(int, const void*, void*);
  void (*call_)(void* const*, void*, const Parallel*);
};

// Floats in [-1, 1), integers small enough that no sum overflows.
Bytes random_values(Dtype type, i64 elements, std::uint64_t seed);
double element(Dtype type, const unsigned char* data, i64 i);

}  // namespace morello::bench
