// What the instruction sets of the AVX-512 family share.
#pragma once

#include <string>

#include "target/tables.h"

namespace morello::isas {

inline std::string avx512_prelude() {
  return std::string(kernels::avx512_f32.prelude) + std::string(kernels::avx512_int.prelude) +
         std::string(kernels::avx512_access.prelude) +
         std::string(kernels::avx2_transpose.prelude) + std::string(kernels::scalar.prelude);
}

// __builtin_cpu_supports() says yes only where the operating system saves the registers (XCR0), in
// libgcc as in compiler-rt.
inline bool avx512_runs_here() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// The set itself, and the same under another name with more rows before its own. Transpositions are
// those of AVX2: they move 16 to 32 bytes of a row at a time, which is what panels have.
inline Isa avx512_with(std::string_view name, std::initializer_list<const Rows*> more,
                       std::string_view prelude) {
  Isa isa = {
      .name = name,
      .attribute = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c",
      .cpu_features = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"},
      .include = "<immintrin.h>",
      .vector_bits = 512,
      .vector_registers = 32,
      .register_types = {{Dtype::f32, "__m512"},
                         {Dtype::bf16, "__m512i"},
                         {Dtype::i32, "__m512i"},
                         {Dtype::i16, "__m512i"},
                         {Dtype::u8, "__m512i"},
                         {Dtype::i8, "__m512i"}},
      .runs_here = avx512_runs_here,
      .prelude = prelude,
      .prefetch = "_mm_prefetch(reinterpret_cast<const char*>({p}), _MM_HINT_T0);",
      .keep = "__asm__(\"\" : \"+v\"({r}));",
      .kernels = {},
      .accesses = {},
  };
  for (const Rows* rows : more) {
    isa.kernels.push_back(rows->kernels);
    isa.accesses.push_back(rows->accesses);
    isa.transposes.push_back(rows->transposes);
  }
  isa.kernels.insert(isa.kernels.end(), {kernels::avx512_f32.kernels, kernels::avx512_int.kernels,
                                         kernels::scalar.kernels});
  isa.accesses.insert(isa.accesses.end(),
                      {kernels::avx512_access.accesses, kernels::scalar.accesses});
  isa.transposes.push_back(kernels::avx2_transpose.transposes);
  return isa;
}

}  // namespace morello::isas
