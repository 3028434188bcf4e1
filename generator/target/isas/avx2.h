// What the instruction sets of the AVX2 family share.
#pragma once

#include <string>

#include "target/tables.h"

namespace morello::isas {

inline std::string avx2_prelude() {
  return std::string(kernels::avx2_f32.prelude) + std::string(kernels::avx2_int.prelude) +
         std::string(kernels::avx2_access.prelude) + std::string(kernels::avx2_transpose.prelude) +
         std::string(kernels::scalar.prelude);
}

inline bool avx2_runs_here() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// The set itself, and the same under another name with more rows before its own.
inline Isa avx2_with(std::string_view name, std::initializer_list<const Rows*> more,
                     std::string_view prelude) {
  Isa isa = {
      .name = name,
      .attribute = "avx2,fma,f16c",
      // Clang 14 does not know "f16c" here; every CPU with AVX2 and FMA has it.
      .cpu_features = {"avx2", "fma"},
      .include = "<immintrin.h>",
      .vector_bits = 256,
      .vector_registers = 16,
      .register_types = {{Dtype::f32, "__m256"},
                         {Dtype::i32, "__m256i"},
                         {Dtype::i16, "__m256i"},
                         {Dtype::u8, "__m256i"},
                         {Dtype::i8, "__m256i"}},
      .runs_here = avx2_runs_here,
      .prelude = prelude,
      .prefetch = "_mm_prefetch(reinterpret_cast<const char*>({p}), _MM_HINT_T0);",
      .keep = "__asm__(\"\" : \"+x\"({r}));",
      .kernels = {},
      .accesses = {},
  };
  for (const Rows* rows : more) {
    isa.kernels.push_back(rows->kernels);
    isa.accesses.push_back(rows->accesses);
    isa.transposes.push_back(rows->transposes);
  }
  isa.kernels.insert(isa.kernels.end(), {kernels::avx2_f32.kernels, kernels::avx2_int.kernels,
                                         kernels::scalar.kernels});
  isa.accesses.insert(isa.accesses.end(),
                      {kernels::avx2_access.accesses, kernels::scalar.accesses});
  isa.transposes.push_back(kernels::avx2_transpose.transposes);
  return isa;
}

}  // namespace morello::isas
