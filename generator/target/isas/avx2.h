// What the instruction sets of the AVX2 family share.
#pragma once

#include "target/isas/rows.h"

namespace morello::isas {

inline constexpr const Rows* kAvx2Rows[] = {
    &kernels::avx2_f32,       &kernels::avx2_int,  &kernels::avx2_i7,     &kernels::avx2_reduce,
    &kernels::avx2_fold,      &kernels::avx2_math, &kernels::avx2_access, &kernels::avx2_interleave,
    &kernels::avx2_transpose, &kernels::f16c,      &kernels::scalar,      &kernels::scalar_math};

inline constexpr RegisterType kAvx2Registers[] = {
    {Dtype::f32, 8, "__m256", "_mm256_set1_ps({x})", "_mm256_blend_ps({b}, {a}, {m})",
     "_mm256_permutevar8x32_ps({a}, _mm256_setr_epi32({i}))"},
    {Dtype::i32, 8, "__m256i", "_mm256_set1_epi32({x})", "_mm256_blend_epi32({b}, {a}, {m})",
     "_mm256_permutevar8x32_epi32({a}, _mm256_setr_epi32({i}))"},
    {Dtype::i16, 8, "__m256i"},
    {Dtype::u8, 8, "__m256i"},
    {Dtype::i8, 8, "__m256i"},
    {Dtype::i7, 8, "__m256i"}};

inline bool avx2_runs_here() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// The set itself, and the same under another name with more rows before its own.
inline Isa avx2_with(std::string_view name, RowList more, std::string_view prelude) {
  Isa isa = {
      .name = name,
      .attribute = "avx2,fma,f16c",
      // Clang 14 does not know "f16c" here; every CPU with AVX2 and FMA has it.
      .cpu_features = {"avx2", "fma"},
      .include = "<immintrin.h>",
      .vector_registers = 16,
      .register_types = {std::begin(kAvx2Registers), std::end(kAvx2Registers)},
      .runs_here = avx2_runs_here,
      .prelude = prelude,
      .prefetch = "_mm_prefetch(reinterpret_cast<const char*>({p}), _MM_HINT_T0);",
      .prefetch_to_l2 = "_mm_prefetch(reinterpret_cast<const char*>({p}), _MM_HINT_T1);",
      .fence = "_mm_sfence();",
      .keep = "__asm__(\"\" : \"+x\"({r}));",
      .forget = "__asm__(\"\" : \"+r\"({p}));",
      .kernels = {},
      .accesses = {},
  };
  add_rows(isa, more);
  add_rows(isa, kAvx2Rows);
  return isa;
}

}  // namespace morello::isas
