// What all primitives of oneDNN need.
#pragma once

#include <dlfcn.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "bench/operands.h"
#include "bench/peers/contender.h"

namespace morello::bench {

// For primitives that are made and executed from now on; false without the OpenMP runtime that the
// library brings along.
inline bool set_onednn_threads(int threads) {
  using SetThreads = void (*)(int);
  static const auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(threads);
  return set != nullptr;
}

// Before the first primitive: the instructions.
inline dnnl::engine& onednn_engine() {
  static dnnl::engine one = [] {
    dnnl::set_max_cpu_isa(kAvx512 ? dnnl::cpu_isa::avx512_core_bf16
                          : kVnni ? dnnl::cpu_isa::avx2_vnni
                                  : dnnl::cpu_isa::avx2);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return one;
}

inline dnnl::memory::data_type onednn_type(Operand::Kind kind) {
  using Type = dnnl::memory::data_type;
  switch (kind) {
    case Operand::Kind::f32:
      return Type::f32;
    case Operand::Kind::bf16:
      return Type::bf16;
    case Operand::Kind::u8:
      return Type::u8;
    case Operand::Kind::i8:
      return Type::s8;
  }
  return Type::undef;
}

inline dnnl::memory onednn_over(const dnnl::memory::desc& desc, const void* data) {
  return dnnl::memory(desc, onednn_engine(), const_cast<void*>(data));
}

inline dnnl::matmul::primitive_desc onednn_matmul(const dnnl::memory::desc& a,
                                                  const dnnl::memory::desc& b,
                                                  const dnnl::memory::desc& out,
                                                  const dnnl::primitive_attr& attributes = {}) {
#if DNNL_VERSION_MAJOR >= 3
  return {onednn_engine(), a, b, out, attributes};
#else
  return {dnnl::matmul::desc(a, b, out), attributes, onednn_engine()};
#endif
}

}  // namespace morello::bench
