// Functions of 8 floats or 32-bit integers, for AVX2 with FMA.
//
// Coefficients are minimax ones (Remez exchange in 40 digits, each rounded to f32 in turn, lowest
// power first, and the others fitted again). Errors of results are those over all 2^32 floats
// (tests/target/functions_test.cc, the exhaustive suite), against the double functions of the C
// library; GCC 12 and Clang 14 give the same bits.
#include "target/tables.h"

namespace morello::kernels {

// t holds x in units of ln2/8, rounded, in its low bits (adding 1.5 * 2^20 puts them there):
// x = k * ln2 + r with k = n + j/8 and |r| <= ln2/16. ln2 goes in two parts: one FMA with an f32
// would be 2.4 ulp off at the ends. e^r is a cubic (2.6e-8), 2^(j/8) comes from a table, less what
// the bits of j add to its significand, so that the bits of t need no masking. 2^n is put into the
// exponents of two factors, half into each: both are normal, and what overflows or is subnormal is
// the last product only. Beyond the limits results are 0 and infinite already; NaN passes as the
// second operand of min and max.
// All floats: at most 1.18 units in the last place. Granite Rapids, cycles per vector by GCC 12 and
// Clang 14: 7.6 and 7.1 (Eigen 3.4: 15.8 and 16.0); degree 5 and no table takes 0.8 more.
static constexpr std::string_view kExp = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m256
exp_f32x8(__m256 x) noexcept {
  const __m256 magic = _mm256_set1_ps(0x1.8p+20f);
  x = _mm256_max_ps(_mm256_set1_ps(-104.0f), _mm256_min_ps(_mm256_set1_ps(89.0f), x));
  const __m256 t = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p+0f), magic);
  const __m256 k = _mm256_sub_ps(t, magic);
  __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0x1.62e430p-1f), x);
  r = _mm256_fnmadd_ps(k, _mm256_set1_ps(-0x1.05c610p-29f), r);
  __m256 q = _mm256_fmadd_ps(r, _mm256_set1_ps(0x1.556a28p-3f), _mm256_set1_ps(0x1.0008aep-1f));
  q = _mm256_fmadd_ps(r, q, _mm256_set1_ps(1.0f));
  const __m256i roots = _mm256_permutevar8x32_epi32(
      _mm256_setr_epi32(0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a,
                        0x3f7744fd, 0x3f7ac0c7),
      _mm256_castps_si256(t));
  const __m256i all = _mm256_slli_epi32(_mm256_castps_si256(t), 20);
  const __m256i exponents = _mm256_castps_si256(_mm256_set1_ps(-__builtin_inff()));
  const __m256i half = _mm256_and_si256(_mm256_srai_epi32(all, 1), exponents);
  const __m256 power = _mm256_castsi256_ps(_mm256_add_epi32(roots, _mm256_sub_epi32(all, half)));
  const __m256 rest = _mm256_castsi256_ps(
      _mm256_add_epi32(half, _mm256_castps_si256(_mm256_set1_ps(1.0f))));
  return _mm256_mul_ps(_mm256_fmadd_ps(_mm256_mul_ps(power, r), q, power), rest);
}
)";

// e^r - 1 for |r| <= ln2/2: r + r^2 * q to 1.4e-8 of it.
static constexpr std::string_view kExpm1 = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m256
expm1_f32x8(__m256 r) noexcept {
  __m256 q = _mm256_fmadd_ps(r, _mm256_set1_ps(0x1.6acb1cp-10f), _mm256_set1_ps(0x1.122bf2p-7f));
  q = _mm256_fmadd_ps(r, q, _mm256_set1_ps(0x1.555798p-5f));
  q = _mm256_fmadd_ps(r, q, _mm256_set1_ps(0x1.5554aap-3f));
  q = _mm256_fmadd_ps(r, q, _mm256_set1_ps(0x1.fffffep-2f));
  return _mm256_fmadd_ps(_mm256_mul_ps(r, r), q, r);
}
)";

// m / (m + 2) with m = e^(2|x|) - 1 = 2^n * (e^r - 1) + (2^n - 1), which cancels nothing: accurate
// as far down as |x| goes. From 9.02 on it rounds to 1. All floats: at most 2.57 units in the last
// place. Cycles as above: 9.1 and 8.1 (Eigen 3.4, a rational function: 8.8 and 8.0).
static constexpr std::string_view kTanh = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m256
tanh_f32x8(__m256 x) noexcept {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  const __m256 magic = _mm256_set1_ps(0x1.8p+23f);
  const __m256 one = _mm256_set1_ps(1.0f);
  const __m256 a = _mm256_min_ps(_mm256_set1_ps(9.25f), _mm256_andnot_ps(sign, x));
  const __m256 twice = _mm256_add_ps(a, a);
  const __m256 t = _mm256_fmadd_ps(twice, _mm256_set1_ps(0x1.715476p+0f), magic);
  const __m256 n = _mm256_sub_ps(t, magic);
  const __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.62e430p-1f), twice);
  const __m256 power = _mm256_castsi256_ps(_mm256_add_epi32(
      _mm256_slli_epi32(_mm256_castps_si256(t), 23), _mm256_castps_si256(one)));
  const __m256 m = _mm256_fmadd_ps(power, expm1_f32x8(r), _mm256_sub_ps(power, one));
  const __m256 y = _mm256_div_ps(m, _mm256_add_ps(m, _mm256_set1_ps(2.0f)));
  return _mm256_or_ps(y, _mm256_and_ps(sign, x));
}
)";

// 1 - e^-g with g = -log(1 - erf(|x|)), which is |x| + |x| * p(|x|) (4.0e-8 of erf; an error of
// g counts the less the larger g is), and e^-g - 1 as in tanh. From 3.92 on it rounds to 1. All
// floats: at most 2.30 units in the last place. Cycles as above: 13.3 and 12.0.
static constexpr std::string_view kErf = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m256
erf_f32x8(__m256 x) noexcept {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  const __m256 magic = _mm256_set1_ps(0x1.8p+23f);
  const __m256 one = _mm256_set1_ps(1.0f);
  const __m256 a = _mm256_min_ps(_mm256_set1_ps(3.95f), _mm256_andnot_ps(sign, x));
  __m256 g = _mm256_fmadd_ps(a, _mm256_set1_ps(0x1.536c36p-15f), _mm256_set1_ps(-0x1.8d8a88p-12f));
  g = _mm256_fmadd_ps(a, g, _mm256_set1_ps(0x1.46ab18p-10f));
  g = _mm256_fmadd_ps(a, g, _mm256_set1_ps(0x1.c085a6p-13f));
  g = _mm256_fmadd_ps(a, g, _mm256_set1_ps(-0x1.3caa30p-6f));
  g = _mm256_fmadd_ps(a, g, _mm256_set1_ps(0x1.a522e4p-4f));
  g = _mm256_fmadd_ps(a, g, _mm256_set1_ps(0x1.45f290p-1f));
  g = _mm256_fmadd_ps(a, g, _mm256_set1_ps(0x1.06ebaep-3f));
  g = _mm256_fmadd_ps(a, g, a);
  const __m256 t = _mm256_fnmadd_ps(g, _mm256_set1_ps(0x1.715476p+0f), magic);
  const __m256 r = _mm256_fmsub_ps(_mm256_sub_ps(magic, t), _mm256_set1_ps(0x1.62e430p-1f), g);
  const __m256 power = _mm256_castsi256_ps(_mm256_add_epi32(
      _mm256_slli_epi32(_mm256_castps_si256(t), 23), _mm256_castps_si256(one)));
  const __m256 y = _mm256_fnmadd_ps(power, expm1_f32x8(r), _mm256_sub_ps(one, power));
  return _mm256_or_ps(y, _mm256_and_ps(sign, x));
}
)";

static constexpr std::string_view kExpHelpers[] = {kExp};
static constexpr std::string_view kTanhHelpers[] = {kExpm1, kTanh};
static constexpr std::string_view kErfHelpers[] = {kExpm1, kErf};

// Of two operands, max and min give the second where one is NaN; the first one's NaN are put back,
// as all ones. Division and square root: cycles in which the divider takes no other (Skylake).
static constexpr Function kFunctions[] = {
    {.name = "add_f32x8",
     .fn = Fn::kAdd,
     .lanes = 8,
     .code = "{c} = _mm256_add_ps({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "sub_f32x8",
     .fn = Fn::kSub,
     .lanes = 8,
     .code = "{c} = _mm256_sub_ps({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "mul_f32x8",
     .fn = Fn::kMul,
     .lanes = 8,
     .code = "{c} = _mm256_mul_ps({a}, {b});",
     .uops = {.fma = 1}},
    {.name = "div_f32x8",
     .fn = Fn::kDiv,
     .lanes = 8,
     .code = "{c} = _mm256_div_ps({a}, {b});",
     .uops = {.fma = 10}},
    {.name = "max_f32x8",
     .fn = Fn::kMax,
     .lanes = 8,
     .code = "{c} = _mm256_or_ps(_mm256_max_ps({a}, {b}), _mm256_cmp_ps({a}, {a}, _CMP_UNORD_Q));",
     .uops = {.alu = 3}},
    {.name = "min_f32x8",
     .fn = Fn::kMin,
     .lanes = 8,
     .code = "{c} = _mm256_or_ps(_mm256_min_ps({a}, {b}), _mm256_cmp_ps({a}, {a}, _CMP_UNORD_Q));",
     .uops = {.alu = 3}},
    {.name = "neg_f32x8",
     .fn = Fn::kNeg,
     .lanes = 8,
     .code = "{c} = _mm256_xor_ps({a}, _mm256_set1_ps(-0.0f));",
     .uops = {.alu = 1}},
    {.name = "lt_f32x8",
     .fn = Fn::kLess,
     .lanes = 8,
     .code = "{c} = _mm256_and_ps(_mm256_cmp_ps({a}, {b}, _CMP_LT_OQ), _mm256_set1_ps(1.0f));",
     .uops = {.alu = 2}},
    {.name = "le_f32x8",
     .fn = Fn::kLessEqual,
     .lanes = 8,
     .code = "{c} = _mm256_and_ps(_mm256_cmp_ps({a}, {b}, _CMP_LE_OQ), _mm256_set1_ps(1.0f));",
     .uops = {.alu = 2}},
    {.name = "eq_f32x8",
     .fn = Fn::kEqual,
     .lanes = 8,
     .code = "{c} = _mm256_and_ps(_mm256_cmp_ps({a}, {b}, _CMP_EQ_OQ), _mm256_set1_ps(1.0f));",
     .uops = {.alu = 2}},
    {.name = "select_f32x8",
     .fn = Fn::kSelect,
     .lanes = 8,
     .code =
         "{c} = _mm256_blendv_ps({b}, {d}, _mm256_cmp_ps({a}, _mm256_setzero_ps(), _CMP_EQ_OQ));",
     .uops = {.alu = 4}},
    {.name = "exp_f32x8",
     .fn = Fn::kExp,
     .lanes = 8,
     .code = "{c} = exp_f32x8({a});",
     .uops = {.fma = 8, .alu = 10},
     .temps = 6,
     .ulps = 1,
     .helpers = kExpHelpers},
    {.name = "tanh_f32x8",
     .fn = Fn::kTanh,
     .lanes = 8,
     .code = "{c} = tanh_f32x8({a});",
     .uops = {.fma = 19, .alu = 10},
     .temps = 7,
     .ulps = 3,
     .helpers = kTanhHelpers},
    {.name = "erf_f32x8",
     .fn = Fn::kErf,
     .lanes = 8,
     .code = "{c} = erf_f32x8({a});",
     .uops = {.fma = 17, .alu = 8},
     .temps = 7,
     .ulps = 2,
     .helpers = kErfHelpers},
    {.name = "sqrt_f32x8",
     .fn = Fn::kSqrt,
     .lanes = 8,
     .code = "{c} = _mm256_sqrt_ps({a});",
     .uops = {.fma = 12}},
    {.name = "sqrt_f32x1",
     .fn = Fn::kSqrt,
     .code = "{c} = _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss({a})));",
     .uops = {.fma = 6}},
    {.name = "float_f32x8",
     .fn = Fn::kToFloat,
     .lanes = 8,
     .code = "{c} = _mm256_cvtepi32_ps({a});",
     .uops = {.alu = 1}},
    {.name = "add_i32x8",
     .fn = Fn::kAdd,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_add_epi32({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "sub_i32x8",
     .fn = Fn::kSub,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_sub_epi32({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "mul_i32x8",
     .fn = Fn::kMul,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_mullo_epi32({a}, {b});",
     .uops = {.fma = 2}},
    {.name = "max_i32x8",
     .fn = Fn::kMax,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_max_epi32({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "min_i32x8",
     .fn = Fn::kMin,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_min_epi32({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "neg_i32x8",
     .fn = Fn::kNeg,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_sub_epi32(_mm256_setzero_si256(), {a});",
     .uops = {.alu = 1}},
    {.name = "lt_i32x8",
     .fn = Fn::kLess,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_srli_epi32(_mm256_cmpgt_epi32({b}, {a}), 31);",
     .uops = {.alu = 2}},
    {.name = "le_i32x8",
     .fn = Fn::kLessEqual,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_add_epi32(_mm256_cmpgt_epi32({a}, {b}), _mm256_set1_epi32(1));",
     .uops = {.alu = 2}},
    {.name = "eq_i32x8",
     .fn = Fn::kEqual,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_srli_epi32(_mm256_cmpeq_epi32({a}, {b}), 31);",
     .uops = {.alu = 2}},
    {.name = "select_i32x8",
     .fn = Fn::kSelect,
     .type = Dtype::i32,
     .lanes = 8,
     .code = "{c} = _mm256_blendv_epi8({b}, {d}, _mm256_cmpeq_epi32({a}, _mm256_setzero_si256()));",
     .uops = {.alu = 4}},
};

constinit const Rows avx2_math = {
    .kernels = {}, .accesses = {}, .functions = kFunctions, .prelude = {}};

}  // namespace morello::kernels
