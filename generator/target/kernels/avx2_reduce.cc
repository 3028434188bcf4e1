// Reductions of 8 floats or 32-bit integers per register. Of two operands the maximum and the
// minimum give the second where one is NaN: a sum that is NaN stays, and a NaN that comes is put
// in. Asking the new value for it, and not the sum, leaves one instruction between sums, and takes
// a register. (14 sums of 16 registers, some of them on the stack: 1.6 times as long as 7 and 7.)
#include "target/tables.h"

namespace morello::kernels {

static constexpr std::string_view kMaxF32 = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float hmax_f32x8(__m256 v) noexcept {
  if (_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)) != 0) return __builtin_nanf("");
  const __m128 q = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 d = _mm_max_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_max_ss(d, _mm_movehdup_ps(d)));
}
)";
static constexpr std::string_view kMaxI32 = R"(
MORELLO_UNUSED MORELLO_TARGET static inline std::int32_t hmax_i32x8(__m256i v) noexcept {
  const __m128i q = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  const __m128i d = _mm_max_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(d, _mm_shuffle_epi32(d, 0xb1)));
}
)";
static constexpr std::string_view kMinF32 = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float hmin_f32x8(__m256 v) noexcept {
  if (_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)) != 0) return __builtin_nanf("");
  const __m128 q = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 d = _mm_min_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_min_ss(d, _mm_movehdup_ps(d)));
}
)";
static constexpr std::string_view kMinI32 = R"(
MORELLO_UNUSED MORELLO_TARGET static inline std::int32_t hmin_i32x8(__m256i v) noexcept {
  const __m128i q = _mm_min_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  const __m128i d = _mm_min_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  return _mm_cvtsi128_si32(_mm_min_epi32(d, _mm_shuffle_epi32(d, 0xb1)));
}
)";

// No NaN among them.
static constexpr std::string_view kOrdered =
    "_mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps({a}, {b}, _CMP_UNORD_Q), "
    "_mm256_cmp_ps({c}, {d}, _CMP_UNORD_Q))) == 0";

static constexpr std::string_view kMaxF32Helpers[] = {kMaxF32};
static constexpr std::string_view kMaxI32Helpers[] = {kMaxI32};
static constexpr std::string_view kMinF32Helpers[] = {kMinF32};
static constexpr std::string_view kMinI32Helpers[] = {kMinI32};

static constexpr Kernel kKernels[] = {
    {.name = "sum_f32x8",
     .implements = "(a: f32[1,8]): f32[8] = reduce_sum(a, axis=0)",
     .lanes = 8,
     .maps = true,
     .code = "{c} = _mm256_add_ps({c}, {a});",
     .uops = {.alu = 1},
     .latency = 4},
    {.name = "hsum_f32x8",
     .implements = "(a: f32[8]): f32 = reduce_sum(a, axis=0)",
     .lanes = 8,
     .lanes_reduce = true,
     .maps = true,
     .code = "{c} = _mm256_add_ps({c}, {a});",
     .finish = "{s} = hsum_f32x8({c});",
     .uops = {.alu = 1},
     .latency = 4},
    {.name = "max_f32x8",
     .implements = "(a: f32[1,8]): f32[8] = reduce_max(a, axis=0)",
     .lanes = 8,
     .maps = true,
     .code = "{c} = _mm256_or_ps(_mm256_max_ps({a}, {c}), _mm256_cmp_ps({a}, {a}, _CMP_UNORD_Q));",
     .pair = "{c} = _mm256_or_ps(_mm256_max_ps(_mm256_max_ps({a}, {b}), {c}), "
             "_mm256_cmp_ps({a}, {b}, _CMP_UNORD_Q));",
     .uops = {.alu = 2},
     .latency = 5,
     .temps = 1},
    {.name = "hmax_f32x8",
     .implements = "(a: f32[8]): f32 = reduce_max(a, axis=0)",
     .lanes = 8,
     .lanes_reduce = true,
     .maps = true,
     .code = "{c} = _mm256_or_ps(_mm256_max_ps({a}, {c}), _mm256_cmp_ps({a}, {a}, _CMP_UNORD_Q));",
     .pair = "{c} = _mm256_or_ps(_mm256_max_ps(_mm256_max_ps({a}, {b}), {c}), "
             "_mm256_cmp_ps({a}, {b}, _CMP_UNORD_Q));",
     .finish = "{s} = hmax_f32x8({c});",
     .ordered = kOrdered,
     .join = "{c} = _mm256_max_ps({a}, {b});",
     .ordered_uops = {.alu = 4},
     .join_uops = {.alu = 1},
     .uops = {.alu = 2},
     .latency = 5,
     .helpers = kMaxF32Helpers},
    {.name = "min_f32x8",
     .implements = "(a: f32[1,8]): f32[8] = reduce_min(a, axis=0)",
     .lanes = 8,
     .maps = true,
     .code = "{c} = _mm256_or_ps(_mm256_min_ps({a}, {c}), _mm256_cmp_ps({a}, {a}, _CMP_UNORD_Q));",
     .pair = "{c} = _mm256_or_ps(_mm256_min_ps(_mm256_min_ps({a}, {b}), {c}), "
             "_mm256_cmp_ps({a}, {b}, _CMP_UNORD_Q));",
     .uops = {.alu = 2},
     .latency = 5,
     .temps = 1},
    {.name = "hmin_f32x8",
     .implements = "(a: f32[8]): f32 = reduce_min(a, axis=0)",
     .lanes = 8,
     .lanes_reduce = true,
     .maps = true,
     .code = "{c} = _mm256_or_ps(_mm256_min_ps({a}, {c}), _mm256_cmp_ps({a}, {a}, _CMP_UNORD_Q));",
     .pair = "{c} = _mm256_or_ps(_mm256_min_ps(_mm256_min_ps({a}, {b}), {c}), "
             "_mm256_cmp_ps({a}, {b}, _CMP_UNORD_Q));",
     .finish = "{s} = hmin_f32x8({c});",
     .ordered = kOrdered,
     .join = "{c} = _mm256_min_ps({a}, {b});",
     .ordered_uops = {.alu = 4},
     .join_uops = {.alu = 1},
     .uops = {.alu = 2},
     .latency = 5,
     .helpers = kMinF32Helpers},
    {.name = "sum_i32x8",
     .implements = "(a: i32[1,8]): i32[8] = reduce_sum(a, axis=0)",
     .lanes = 8,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm256_add_epi32({c}, {a});",
     .uops = {.alu = 1},
     .latency = 1},
    {.name = "hsum_i32x8",
     .implements = "(a: i32[8]): i32 = reduce_sum(a, axis=0)",
     .lanes = 8,
     .lanes_reduce = true,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm256_add_epi32({c}, {a});",
     .finish = "{s} = hsum_i32x8({c});",
     .uops = {.alu = 1},
     .latency = 1},
    {.name = "max_i32x8",
     .implements = "(a: i32[1,8]): i32[8] = reduce_max(a, axis=0)",
     .lanes = 8,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm256_max_epi32({c}, {a});",
     .uops = {.alu = 1},
     .latency = 1},
    {.name = "hmax_i32x8",
     .implements = "(a: i32[8]): i32 = reduce_max(a, axis=0)",
     .lanes = 8,
     .lanes_reduce = true,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm256_max_epi32({c}, {a});",
     .finish = "{s} = hmax_i32x8({c});",
     .uops = {.alu = 1},
     .latency = 1,
     .helpers = kMaxI32Helpers},
    {.name = "min_i32x8",
     .implements = "(a: i32[1,8]): i32[8] = reduce_min(a, axis=0)",
     .lanes = 8,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm256_min_epi32({c}, {a});",
     .uops = {.alu = 1},
     .latency = 1},
    {.name = "hmin_i32x8",
     .implements = "(a: i32[8]): i32 = reduce_min(a, axis=0)",
     .lanes = 8,
     .lanes_reduce = true,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm256_min_epi32({c}, {a});",
     .finish = "{s} = hmin_i32x8({c});",
     .uops = {.alu = 1},
     .latency = 1,
     .helpers = kMinI32Helpers},
};

// Also of dot products (avx2_f32.cc, avx512_f32.cc).
static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float hsum_f32x8(__m256 v) noexcept {
  const __m128 q = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 d = _mm_add_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_add_ss(d, _mm_movehdup_ps(d)));
}
)";

constinit const Rows avx2_reduce = {.kernels = kKernels, .accesses = {}, .prelude = kPrelude};

}  // namespace morello::kernels
