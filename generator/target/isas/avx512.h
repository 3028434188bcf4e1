// What the instruction sets of the AVX-512 family share.
#pragma once

#include "target/isas/avx2.h"

namespace morello::isas {

inline constexpr const Rows* kAvx512Rows[] = {
    &kernels::avx512_f32,  &kernels::avx512_int,  &kernels::avx512_i7,    &kernels::avx512_reduce,
    &kernels::avx512_fold, &kernels::avx512_math, &kernels::avx512_access};
// And behind them those of AVX2 but for its arithmetic on floats. Its transpositions move 16 to 32
// bytes of a row at a time, which is what panels have; its vectors are for dims that are no longer
// (impl/family.h).
inline constexpr const Rows* kAvx512ShortRows[] = {
    &kernels::avx2_int,    &kernels::avx2_reduce,     &kernels::avx2_fold,      &kernels::avx2_math,
    &kernels::avx2_access, &kernels::avx2_interleave, &kernels::avx2_transpose, &kernels::f16c,
    &kernels::scalar,      &kernels::scalar_math};

// Of a set with more rows. Helpers of short vectors come first: others call them.
inline std::string avx512_preludes(RowList more) {
  return preludes(kAvx512ShortRows) + preludes(kAvx512Rows) + preludes(more);
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

// The set itself, and the same under another name with more rows before its own.
inline Isa avx512_with(std::string_view name, RowList more, std::string_view prelude) {
  Isa isa = {
      .name = name,
      .attribute = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c",
      .cpu_features = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"},
      .include = "<immintrin.h>",
      .vector_registers = 32,
      .register_types = {{Dtype::f32, 16, "__m512", "_mm512_set1_ps({x})",
                          "_mm512_mask_blend_ps({m}, {b}, {a})",
                          "_mm512_maskz_permutexvar_ps(0xffff, _mm512_setr_epi32({i}), {a})"},
                         {Dtype::bf16, 16, "__m512i"},
                         {Dtype::i32, 16, "__m512i", "_mm512_set1_epi32({x})",
                          "_mm512_mask_blend_epi32({m}, {b}, {a})",
                          "_mm512_maskz_permutexvar_epi32(0xffff, _mm512_setr_epi32({i}), {a})"},
                         {Dtype::i16, 16, "__m512i"},
                         {Dtype::u8, 16, "__m512i"},
                         {Dtype::i8, 16, "__m512i"},
                         {Dtype::i7, 16, "__m512i"}},
      .runs_here = avx512_runs_here,
      .prelude = prelude,
      .prefetch = "_mm_prefetch(reinterpret_cast<const char*>({p}), _MM_HINT_T0);",
      .prefetch_to_l2 = "_mm_prefetch(reinterpret_cast<const char*>({p}), _MM_HINT_T1);",
      .fence = "_mm_sfence();",
      .keep = "__asm__(\"\" : \"+v\"({r}));",
      .forget = "__asm__(\"\" : \"+r\"({p}));",
      .kernels = {},
      .accesses = {},
  };
  isa.register_types.insert(isa.register_types.end(), std::begin(kAvx2Registers),
                            std::end(kAvx2Registers));
  add_rows(isa, more);
  add_rows(isa, kAvx512Rows);
  add_rows(isa, kAvx512ShortRows);
  return isa;
}

}  // namespace morello::isas
