// Reductions of 16 floats or 32-bit integers per register, NaNs as in avx2_reduce.cc. Forms with a
// mask, of all lanes, where those without start from a register of no value, of which GCC 12 warns.
#include "target/tables.h"

namespace morello::kernels {

static constexpr std::string_view kMaxF32 = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float hmax_f32x16(__m512 v) noexcept {
  if (_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q) != 0) return __builtin_nanf("");
  const __m256 o = _mm256_max_ps(_mm512_maskz_extractf32x8_ps(0xff, v, 0),
                               _mm512_maskz_extractf32x8_ps(0xff, v, 1));
  const __m128 q = _mm_max_ps(_mm256_castps256_ps128(o), _mm256_extractf128_ps(o, 1));
  const __m128 d = _mm_max_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_max_ss(d, _mm_movehdup_ps(d)));
}
)";
static constexpr std::string_view kMaxI32 = R"(
MORELLO_UNUSED MORELLO_TARGET static inline std::int32_t hmax_i32x16(__m512i v) noexcept {
  const __m256i o = _mm256_max_epi32(_mm512_maskz_extracti64x4_epi64(0xf, v, 0),
                                   _mm512_maskz_extracti64x4_epi64(0xf, v, 1));
  const __m128i q = _mm_max_epi32(_mm256_castsi256_si128(o), _mm256_extracti128_si256(o, 1));
  const __m128i d = _mm_max_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(d, _mm_shuffle_epi32(d, 0xb1)));
}
)";
static constexpr std::string_view kMinF32 = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float hmin_f32x16(__m512 v) noexcept {
  if (_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q) != 0) return __builtin_nanf("");
  const __m256 o = _mm256_min_ps(_mm512_maskz_extractf32x8_ps(0xff, v, 0),
                               _mm512_maskz_extractf32x8_ps(0xff, v, 1));
  const __m128 q = _mm_min_ps(_mm256_castps256_ps128(o), _mm256_extractf128_ps(o, 1));
  const __m128 d = _mm_min_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_min_ss(d, _mm_movehdup_ps(d)));
}
)";
static constexpr std::string_view kMinI32 = R"(
MORELLO_UNUSED MORELLO_TARGET static inline std::int32_t hmin_i32x16(__m512i v) noexcept {
  const __m256i o = _mm256_min_epi32(_mm512_maskz_extracti64x4_epi64(0xf, v, 0),
                                   _mm512_maskz_extracti64x4_epi64(0xf, v, 1));
  const __m128i q = _mm_min_epi32(_mm256_castsi256_si128(o), _mm256_extracti128_si256(o, 1));
  const __m128i d = _mm_min_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  return _mm_cvtsi128_si32(_mm_min_epi32(d, _mm_shuffle_epi32(d, 0xb1)));
}
)";

// No NaN among them.
static constexpr std::string_view kOrdered =
    "(_mm512_cmp_ps_mask({a}, {b}, _CMP_UNORD_Q) | "
    "_mm512_cmp_ps_mask({c}, {d}, _CMP_UNORD_Q)) == 0";

static constexpr std::string_view kMaxF32Helpers[] = {kMaxF32};
static constexpr std::string_view kMaxI32Helpers[] = {kMaxI32};
static constexpr std::string_view kMinF32Helpers[] = {kMinF32};
static constexpr std::string_view kMinI32Helpers[] = {kMinI32};

static constexpr Kernel kKernels[] = {
    {.name = "sum_f32x16",
     .implements = "(a: f32[1,16]): f32[16] = reduce_sum(a, axis=0)",
     .lanes = 16,
     .maps = true,
     .code = "{c} = _mm512_add_ps({c}, {a});",
     .uops = {.alu = 1},
     .latency = 4},
    {.name = "hsum_f32x16",
     .implements = "(a: f32[16]): f32 = reduce_sum(a, axis=0)",
     .lanes = 16,
     .lanes_reduce = true,
     .maps = true,
     .code = "{c} = _mm512_add_ps({c}, {a});",
     .finish = "{s} = hsum_f32x16({c});",
     .uops = {.alu = 1},
     .latency = 4},
    {.name = "max_f32x16",
     .implements = "(a: f32[1,16]): f32[16] = reduce_max(a, axis=0)",
     .lanes = 16,
     .maps = true,
     .code = "{c} = _mm512_mask_max_ps({a}, _mm512_cmp_ps_mask({a}, {a}, _CMP_ORD_Q), {a}, {c});",
     .pair =
         "{c} = _mm512_mask_max_ps(_mm512_set1_ps(__builtin_nanf(\"\")), "
         "_mm512_cmp_ps_mask({a}, {b}, _CMP_ORD_Q), _mm512_maskz_max_ps(0xffff, {a}, {b}), {c});",
     .uops = {.alu = 2},
     .latency = 4},
    {.name = "hmax_f32x16",
     .implements = "(a: f32[16]): f32 = reduce_max(a, axis=0)",
     .lanes = 16,
     .lanes_reduce = true,
     .maps = true,
     .code = "{c} = _mm512_mask_max_ps({a}, _mm512_cmp_ps_mask({a}, {a}, _CMP_ORD_Q), {a}, {c});",
     .pair =
         "{c} = _mm512_mask_max_ps(_mm512_set1_ps(__builtin_nanf(\"\")), "
         "_mm512_cmp_ps_mask({a}, {b}, _CMP_ORD_Q), _mm512_maskz_max_ps(0xffff, {a}, {b}), {c});",
     .finish = "{s} = hmax_f32x16({c});",
     .ordered = kOrdered,
     .join = "{c} = _mm512_maskz_max_ps(0xffff, {a}, {b});",
     .ordered_uops = {.alu = 3},
     .join_uops = {.alu = 1},
     .uops = {.alu = 2},
     .latency = 4,
     .helpers = kMaxF32Helpers},
    {.name = "min_f32x16",
     .implements = "(a: f32[1,16]): f32[16] = reduce_min(a, axis=0)",
     .lanes = 16,
     .maps = true,
     .code = "{c} = _mm512_mask_min_ps({a}, _mm512_cmp_ps_mask({a}, {a}, _CMP_ORD_Q), {a}, {c});",
     .pair =
         "{c} = _mm512_mask_min_ps(_mm512_set1_ps(__builtin_nanf(\"\")), "
         "_mm512_cmp_ps_mask({a}, {b}, _CMP_ORD_Q), _mm512_maskz_min_ps(0xffff, {a}, {b}), {c});",
     .uops = {.alu = 2},
     .latency = 4},
    {.name = "hmin_f32x16",
     .implements = "(a: f32[16]): f32 = reduce_min(a, axis=0)",
     .lanes = 16,
     .lanes_reduce = true,
     .maps = true,
     .code = "{c} = _mm512_mask_min_ps({a}, _mm512_cmp_ps_mask({a}, {a}, _CMP_ORD_Q), {a}, {c});",
     .pair =
         "{c} = _mm512_mask_min_ps(_mm512_set1_ps(__builtin_nanf(\"\")), "
         "_mm512_cmp_ps_mask({a}, {b}, _CMP_ORD_Q), _mm512_maskz_min_ps(0xffff, {a}, {b}), {c});",
     .finish = "{s} = hmin_f32x16({c});",
     .ordered = kOrdered,
     .join = "{c} = _mm512_maskz_min_ps(0xffff, {a}, {b});",
     .ordered_uops = {.alu = 3},
     .join_uops = {.alu = 1},
     .uops = {.alu = 2},
     .latency = 4,
     .helpers = kMinF32Helpers},
    {.name = "sum_i32x16",
     .implements = "(a: i32[1,16]): i32[16] = reduce_sum(a, axis=0)",
     .lanes = 16,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm512_add_epi32({c}, {a});",
     .uops = {.alu = 1},
     .latency = 1},
    {.name = "hsum_i32x16",
     .implements = "(a: i32[16]): i32 = reduce_sum(a, axis=0)",
     .lanes = 16,
     .lanes_reduce = true,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm512_add_epi32({c}, {a});",
     .finish = "{s} = hsum_i32x16({c});",
     .uops = {.alu = 1},
     .latency = 1},
    {.name = "max_i32x16",
     .implements = "(a: i32[1,16]): i32[16] = reduce_max(a, axis=0)",
     .lanes = 16,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm512_maskz_max_epi32(0xffff, {c}, {a});",
     .uops = {.alu = 1},
     .latency = 1},
    {.name = "hmax_i32x16",
     .implements = "(a: i32[16]): i32 = reduce_max(a, axis=0)",
     .lanes = 16,
     .lanes_reduce = true,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm512_maskz_max_epi32(0xffff, {c}, {a});",
     .finish = "{s} = hmax_i32x16({c});",
     .uops = {.alu = 1},
     .latency = 1,
     .helpers = kMaxI32Helpers},
    {.name = "min_i32x16",
     .implements = "(a: i32[1,16]): i32[16] = reduce_min(a, axis=0)",
     .lanes = 16,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm512_maskz_min_epi32(0xffff, {c}, {a});",
     .uops = {.alu = 1},
     .latency = 1},
    {.name = "hmin_i32x16",
     .implements = "(a: i32[16]): i32 = reduce_min(a, axis=0)",
     .lanes = 16,
     .lanes_reduce = true,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm512_maskz_min_epi32(0xffff, {c}, {a});",
     .finish = "{s} = hmin_i32x16({c});",
     .uops = {.alu = 1},
     .latency = 1,
     .helpers = kMinI32Helpers},
};

constinit const Rows avx512_reduce = {.kernels = kKernels, .accesses = {}, .prelude = {}};

}  // namespace morello::kernels
