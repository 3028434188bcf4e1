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
// exponents of two factors, about half into each: both are normal, and what overflows or is
// subnormal is the last product only. That half is a sum of its own, x in units of 2 ln2 and
// 1.5 * 2^23 + 127, whose last bits are the exponent as it is stored; the table has 127 more. (To
// shift it out of the bits of t, to mask and to bias it is an operation more: 5.9 cycles a vector
// for 5.6, by Clang 14 7.2 for 6.6; Zen 4.) Beyond the limits results are 0 and infinite already;
// NaN passes as the second operand of min and max.
// All floats: at most 1.18 units in the last place. Granite Rapids, cycles per vector by GCC 12 and
// Clang 14: 7.6 and 7.1 (Eigen 3.4: 15.8 and 16.0); degree 5 and no table takes 0.8 more. Zen 4,
// GCC 12: 8.0, where the lookup and the multiply-adds want the same pipe, hence two operations more
// than there are.
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
      _mm256_setr_epi32(0x7f000000, 0x7efb95c2, 0x7ef837f0, 0x7ef5fed7, 0x7ef504f3, 0x7ef5672a,
                        0x7ef744fd, 0x7efac0c7),
      _mm256_castps_si256(t));
  const __m256i all = _mm256_slli_epi32(_mm256_castps_si256(t), 20);
  const __m256 half =
      _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p-1f), _mm256_set1_ps(0x1.8000fep+23f));
  const __m256i rest = _mm256_slli_epi32(_mm256_castps_si256(half), 23);
  const __m256 power = _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_add_epi32(roots, all), rest));
  return _mm256_mul_ps(_mm256_fmadd_ps(_mm256_mul_ps(power, r), q, power),
                       _mm256_castsi256_ps(rest));
}
)";

// The same where x is not positive: 2^(n + 32) is normal as it is, so that one factor has all of
// the exponent (the table has 32 more) and the other one is 2^-32. A positive x counts as 0. All
// floats up to 0: at most 1.18 units in the last place. 0.81 to 0.86 of the time of exp_f32x8 (Zen
// 4; GCC 12 and Clang 14).
static constexpr std::string_view kExpNonpositive = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m256
exp_nonpositive_f32x8(__m256 x) noexcept {
  const __m256 magic = _mm256_set1_ps(0x1.8p+20f);
  x = _mm256_max_ps(_mm256_set1_ps(-104.0f), _mm256_min_ps(_mm256_setzero_ps(), x));
  const __m256 t = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p+0f), magic);
  const __m256 k = _mm256_sub_ps(t, magic);
  __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0x1.62e430p-1f), x);
  r = _mm256_fnmadd_ps(k, _mm256_set1_ps(-0x1.05c610p-29f), r);
  __m256 q = _mm256_fmadd_ps(r, _mm256_set1_ps(0x1.556a28p-3f), _mm256_set1_ps(0x1.0008aep-1f));
  q = _mm256_fmadd_ps(r, q, _mm256_set1_ps(1.0f));
  const __m256i roots = _mm256_permutevar8x32_epi32(
      _mm256_setr_epi32(0x4f800000, 0x4f7b95c2, 0x4f7837f0, 0x4f75fed7, 0x4f7504f3, 0x4f75672a,
                        0x4f7744fd, 0x4f7ac0c7),
      _mm256_castps_si256(t));
  const __m256 power = _mm256_castsi256_ps(
      _mm256_add_epi32(roots, _mm256_slli_epi32(_mm256_castps_si256(t), 20)));
  return _mm256_mul_ps(_mm256_fmadd_ps(_mm256_mul_ps(power, r), q, power),
                       _mm256_set1_ps(0x1p-32f));
}
)";

// A value that no compiler takes apart: nothing that computes with it can be joined with what made
// it.
static constexpr std::string_view kRounded = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m256
rounded_f32x8(__m256 x) noexcept {
  __asm__("" : "+x"(x));
  return x;
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

// |x| * p(|x|), p of degree 6 in |x| - c, in eight pieces of 67/128 with c in the middle:
// adding 1.5 * 2^23 puts the number of the piece into the low bits. 3.5e-8 of erf, 5.2e-8 in the
// first piece, where it is the rounding of 2 / sqrt(pi). From 3.9193 on it rounds to 1, and there
// the product is 1 exactly. All floats: at most 2.30 units in the last place. Cycles as above: 8.1
// and 8.0 (1 - e^-g with a polynomial for g takes 13.3 and 12.0; the bound of x from both sides,
// for its sign, 10.1 by GCC).
static constexpr std::string_view kErf = R"(
alignas(32) static constexpr float erf_table_f32x8[7][8] = {
    {0x1.20dd76p+0f, 0x1.08847ep+0f, 0x1.a5389ap-1f, 0x1.3d73e2p-1f, 0x1.e7933p-2f, 0x1.872cfep-2f,
     0x1.460bfep-2f, 0x1.17789ep-2f},
    {-0x1.075e02p-16f, -0x1.56f926p-2f, -0x1.b3d4d6p-2f, -0x1.55d278p-2f, -0x1.c3f892p-3f,
     -0x1.29fe18p-3f, -0x1.9f2fe4p-4f, -0x1.3117aap-4f},
    {-0x1.807116p-2f, -0x1.be9f24p-3f, 0x1.e23b18p-6f, 0x1.de2866p-4f, 0x1.7613d4p-4f,
     0x1.bdabcep-5f, 0x1.07e7c6p-5f, 0x1.4d0258p-6f},
    {-0x1.72042cp-7f, 0x1.5b65c6p-3f, 0x1.d71b0ap-4f, 0x1.72a9e4p-8f, -0x1.ad6428p-6f,
     -0x1.34e1ep-6f, -0x1.4c4b12p-7f, -0x1.6b50ccp-8f},
    {0x1.91321p-3f, 0x1.b19302p-6f, -0x1.e4e05ep-5f, -0x1.1a27ep-5f, -0x1.310f5ap-10f,
     0x1.4399e2p-8f, 0x1.98867p-9f, 0x1.9c3476p-10f},
    {-0x1.20b40ep-2f, -0x1.8ff3bp-5f, -0x1.066a12p-7f, 0x1.15cafep-6f, 0x1.b59ae8p-8f,
     -0x1.e28d2ep-13f, -0x1.a9023cp-11f, -0x1.a82e06p-12f},
    {0x1.54ab2p-2f, 0x1.f2c512p-10f, 0x1.17c05cp-6f, -0x1.61cfep-12f, -0x1.362f0ap-9f,
     0x1.0a2012p-11f, -0x1.7b25fcp-12f, -0x1.18766ap-11f}};
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m256
piece_f32x8(const float* table, __m256 index) noexcept {
  return _mm256_permutevar8x32_ps(_mm256_load_ps(table), _mm256_castps_si256(index));
}
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m256
erf_f32x8(__m256 x) noexcept {
  const float(&p)[7][8] = erf_table_f32x8;
  const __m256 sign = _mm256_set1_ps(-0.0f);
  const __m256 magic = _mm256_set1_ps(0x1.8p+23f);
  const __m256 a = _mm256_min_ps(_mm256_set1_ps(0x1.f5aba2p+1f), _mm256_andnot_ps(sign, x));
  const __m256 t = _mm256_fmadd_ps(a, _mm256_set1_ps(128.0f / 67.0f), magic);
  const __m256 r = _mm256_fnmadd_ps(_mm256_sub_ps(t, magic), _mm256_set1_ps(67.0f / 128.0f), a);
  __m256 y = _mm256_fmadd_ps(r, piece_f32x8(p[6], t), piece_f32x8(p[5], t));
  y = _mm256_fmadd_ps(r, y, piece_f32x8(p[4], t));
  y = _mm256_fmadd_ps(r, y, piece_f32x8(p[3], t));
  y = _mm256_fmadd_ps(r, y, piece_f32x8(p[2], t));
  y = _mm256_fmadd_ps(r, y, piece_f32x8(p[1], t));
  y = _mm256_fmadd_ps(r, y, piece_f32x8(p[0], t));
  return _mm256_or_ps(_mm256_mul_ps(a, y), _mm256_and_ps(sign, x));
}
)";

// x = 2^n * m with m = 1 + f from 0.75 to 1.5, by the bits of x: log x = n * ln2 + f + f^2 * q(f),
// where q begins with -1/2 and has six more coefficients (4.1e-8 of log m). ln2 goes in two parts,
// of which the larger one times n is exact; f, which is exact, comes last but that. What is
// subnormal is scaled before; 0, what is less, infinity and NaN have results of their own.
// All floats: at most 1.46 units in the last place.
static constexpr std::string_view kLog = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m256
log_f32x8(__m256 x) noexcept {
  const __m256 zero = _mm256_setzero_ps();
  const __m256 tiny = _mm256_cmp_ps(x, _mm256_set1_ps(0x1p-126f), _CMP_LT_OQ);
  const __m256 scaled = _mm256_blendv_ps(x, _mm256_mul_ps(x, _mm256_set1_ps(0x1p+23f)), tiny);
  const __m256i bits = _mm256_castps_si256(scaled);
  const __m256i n = _mm256_srai_epi32(_mm256_sub_epi32(bits, _mm256_set1_epi32(0x3f400000)), 23);
  const __m256 m = _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(n, 23)));
  const __m256 e =
      _mm256_sub_ps(_mm256_cvtepi32_ps(n), _mm256_and_ps(tiny, _mm256_set1_ps(23.0f)));
  const __m256 f = _mm256_sub_ps(m, _mm256_set1_ps(1.0f));
  __m256 q = _mm256_fmadd_ps(f, _mm256_set1_ps(0x1.c79a08p-5f), _mm256_set1_ps(-0x1.f04828p-4f));
  q = _mm256_fmadd_ps(f, q, _mm256_set1_ps(0x1.31417ap-3f));
  q = _mm256_fmadd_ps(f, q, _mm256_set1_ps(-0x1.57d55ap-3f));
  q = _mm256_fmadd_ps(f, q, _mm256_set1_ps(0x1.993ca6p-3f));
  q = _mm256_fmadd_ps(f, q, _mm256_set1_ps(-0x1.ffeceap-3f));
  q = _mm256_fmadd_ps(f, q, _mm256_set1_ps(0x1.5555b2p-2f));
  q = _mm256_fmadd_ps(f, q, _mm256_set1_ps(-0.5f));
  const __m256 low = _mm256_mul_ps(e, _mm256_set1_ps(0x1.7f7d1cp-20f));
  const __m256 rest = _mm256_add_ps(_mm256_fmadd_ps(_mm256_mul_ps(f, f), q, low), f);
  const __m256 sum = _mm256_fmadd_ps(e, _mm256_set1_ps(0x1.62e4p-1f), rest);
  const __m256 none =
      _mm256_blendv_ps(_mm256_set1_ps(-__builtin_inff()), _mm256_set1_ps(__builtin_nanf("")),
                       _mm256_cmp_ps(x, zero, _CMP_LT_OQ));
  const __m256 all = _mm256_blendv_ps(sum, none, _mm256_cmp_ps(x, zero, _CMP_LE_OQ));
  return _mm256_blendv_ps(x, all, _mm256_cmp_ps(x, _mm256_set1_ps(__builtin_inff()), _CMP_LT_OQ));
}
)";

static constexpr std::string_view kExpHelpers[] = {kExp};
static constexpr std::string_view kExpNonpositiveHelpers[] = {kExpNonpositive};
static constexpr std::string_view kRoundedHelpers[] = {kRounded};
static constexpr std::string_view kTanhHelpers[] = {kExpm1, kTanh};
static constexpr std::string_view kErfHelpers[] = {kErf};
static constexpr std::string_view kLogHelpers[] = {kLog};

// Of two operands, max and min give the second where one is NaN; the first one's NaN are put back,
// as all ones. Where a machine does not say what divisions take, they are multiply-adds of as many
// cycles as the divider takes no other (Skylake).
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
     .uops = {.divide = 10}},
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
     .uops = {.fma = 9, .alu = 11},
     .temps = 6,
     .ulps = 1,
     .helpers = kExpHelpers},
    {.name = "exp_nonpositive_f32x8",
     .fn = Fn::kExpNonpositive,
     .lanes = 8,
     .code = "{c} = exp_nonpositive_f32x8({a});",
     .uops = {.fma = 8, .alu = 9},
     .temps = 6,
     .ulps = 1,
     .helpers = kExpNonpositiveHelpers},
    {.name = "rounded_f32x8",
     .fn = Fn::kRounded,
     .lanes = 8,
     .code = "{c} = rounded_f32x8({a});",
     .uops = {},
     .helpers = kRoundedHelpers},
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
     .uops = {.fma = 10, .alu = 11},
     .temps = 7,
     .ulps = 2,
     .helpers = kErfHelpers},
    {.name = "log_f32x8",
     .fn = Fn::kLog,
     .lanes = 8,
     .code = "{c} = log_f32x8({a});",
     .uops = {.fma = 13, .alu = 20},
     .temps = 8,
     .ulps = 1,
     .helpers = kLogHelpers},
    {.name = "sqrt_f32x8",
     .fn = Fn::kSqrt,
     .lanes = 8,
     .code = "{c} = _mm256_sqrt_ps({a});",
     .uops = {.divide = 12}},
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
