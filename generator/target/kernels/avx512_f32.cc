// AVX-512 arithmetic on 16 floats per register, and on 8 where there are no more. Latencies as with
// AVX2: 4 (Skylake, Zen 4 and later; vendors' optimisation manuals); how many a core starts per
// cycle is the machine file's matter.
#include "target/tables.h"

namespace morello::kernels {

static constexpr Kernel kKernels[] = {
    {.name = "fma_f32x16",
     .implements = "(a: f32[1,1], b: f32[1,16]): f32[1,16] = matmul(a, b)",
     .lanes = 16,
     .maps = true,
     .code = "{c} = fma_f32x16({c}, {a}, {b});",
     .once = "{c} = _mm512_fmadd_ps({a}, {b}, {c});",
     .uops = {.fma = 1},
     .latency = 4},
    {.name = "dot_f32x16",
     .implements = "(a: f32[1,16], b: f32[16,1]): f32[1,1] = matmul(a, b)",
     .lanes = 16,
     .lanes_reduce = true,
     .maps = true,
     .code = "{c} = fma_f32x16({c}, {a}, {b});",
     .finish = "{s} = hsum_f32x16({c});",
     .uops = {.fma = 1},
     .latency = 4},
    {.name = "map_f32x16",
     .implements = "(a: f32[16]): f32[16] = convert(a)",
     .lanes = 16,
     .maps = true},
    {.name = "fma_f32x8",
     .implements = "(a: f32[1,1], b: f32[1,8]): f32[1,8] = matmul(a, b)",
     .lanes = 8,
     .maps = true,
     .code = "{c} = fma_f32x8({c}, {a}, {b});",
     .once = "{c} = _mm256_fmadd_ps({a}, {b}, {c});",
     .uops = {.fma = 1},
     .latency = 4},
    {.name = "dot_f32x8",
     .implements = "(a: f32[1,8], b: f32[8,1]): f32[1,1] = matmul(a, b)",
     .lanes = 8,
     .lanes_reduce = true,
     .maps = true,
     .code = "{c} = fma_f32x8({c}, {a}, {b});",
     .finish = "{s} = hsum_f32x8({c});",
     .uops = {.fma = 1},
     .latency = 4},
    {.name = "map_f32x8",
     .implements = "(a: f32[8]): f32[8] = convert(a)",
     .lanes = 8,
     .maps = true},
};

// For Clang an instruction that adds to c where it is (avx2_f32.cc). With 32 registers GCC 12 does
// well with the intrinsic, and may fold a broadcast into it (G: 8^3 64 for 60 GF/s, 16^3 155 for
// 143; from 32^3 on the same). Clang 14 does, too, where nothing else needs it: 16^3 and 6x256x16
// take 0.77 and 0.73 of the time then (Zen 4), 32^3 and 256^3, which need it twice, 1.47 and 1.37.
static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __m512 fma_f32x16(__m512 c, __m512 a,
                                                              __m512 b) noexcept {
#if defined(__clang__)
  __asm__("vfmadd231ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
  return c;
#else
  return _mm512_fmadd_ps(a, b, c);
#endif
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256 fma_f32x8(__m256 c, __m256 a,
                                                             __m256 b) noexcept {
#if defined(__clang__)
  __asm__("vfmadd231ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
  return c;
#else
  return _mm256_fmadd_ps(a, b, c);
#endif
}
MORELLO_UNUSED MORELLO_TARGET static inline float hsum_f32x16(__m512 v) noexcept {
  const __m256 low = _mm512_maskz_extractf32x8_ps(0xff, v, 0);
  const __m256 high = _mm512_maskz_extractf32x8_ps(0xff, v, 1);
  const __m256 o = _mm256_add_ps(low, high);
  const __m128 q = _mm_add_ps(_mm256_castps256_ps128(o), _mm256_extractf128_ps(o, 1));
  const __m128 d = _mm_add_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_add_ss(d, _mm_movehdup_ps(d)));
}
)";

constinit const Rows avx512_f32 = {.kernels = kKernels, .accesses = {}, .prelude = kPrelude};

}  // namespace morello::kernels
