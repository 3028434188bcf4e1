// Functions of 16 floats or 32-bit integers, for AVX-512 F and DQ. Where coefficients come from and
// how errors are measured: avx2_math.cc. Forms with a mask, of all lanes, where those without start
// from a register of no value, of which GCC 12 warns.
#include "target/tables.h"

namespace morello::kernels {

// A constant that GCC 12 is to keep in a register: it folds those that it sees into memory
// operands, and ten loads of 64 bytes take longer than the arithmetic of exp (7.9 cycles per
// vector, for 6.1; Granite Rapids).
static constexpr std::string_view kHeld = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
held_f32x16(__m512 c) noexcept {
#if !defined(__clang__)
  __asm__("" : "+v"(c));
#endif
  return c;
}
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
constant_f32x16(float x) noexcept {
  return held_f32x16(_mm512_set1_ps(x));
}
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
table_f32x16(const float* p) noexcept {
  return held_f32x16(_mm512_load_ps(p));
}
)";

// t holds x in units of ln2/32, rounded, in its low bits: x = k * ln2 + r with k = n + j/32 and
// |r| <= ln2/64. e^r is quadratic (5.4e-8), 2^(j/32) comes from a table, and the scaling by 2^n
// (of k it takes the integer below) rounds once, whether the result overflows, is subnormal or
// neither. r is bounded where x is so large that it means nothing, or infinite or NaN, so that the
// scaling, by a k of no bounds, decides alone. (That is _mm512_range_ps, the smaller magnitude with
// the sign of r, in which GCC 12 warns of a sign without optimisation.)
// All floats: at most 1.75 units in the last place. Granite Rapids, cycles per vector by GCC 12 and
// Clang 14: 6.1 and 5.4 (Eigen 3.4: 11.5 both); by Clang with 16 entries and a cubic, or none and
// degree 5, 6.0. Zen 4: 8.3 and 8.1, as lookup and scaling keep pipes of multiply-adds busy, hence
// one more of these than there are.
static constexpr std::string_view kExp = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
exp_f32x16(__m512 x) noexcept {
  alignas(64) static constexpr float roots[32] = {
      0x1p+0f, 0x1.059b0ep+0f, 0x1.0b5586p+0f, 0x1.11301ep+0f, 0x1.172b84p+0f,
      0x1.1d4874p+0f, 0x1.2387a6p+0f, 0x1.29e9ep+0f, 0x1.306fep+0f, 0x1.371a74p+0f,
      0x1.3dea64p+0f, 0x1.44e086p+0f, 0x1.4bfdaep+0f, 0x1.5342b6p+0f, 0x1.5ab07ep+0f,
      0x1.6247ecp+0f, 0x1.6a09e6p+0f, 0x1.71f75ep+0f, 0x1.7a1148p+0f, 0x1.82589ap+0f,
      0x1.8ace54p+0f, 0x1.93737cp+0f, 0x1.9c4918p+0f, 0x1.a5503cp+0f, 0x1.ae89fap+0f,
      0x1.b7f77p+0f, 0x1.c199bep+0f, 0x1.cb720ep+0f, 0x1.d5818ep+0f, 0x1.dfc974p+0f,
      0x1.ea4afap+0f, 0x1.f50766p+0f,
  };
  const __m512 magic = constant_f32x16(0x1.8p+18f);
  const __m512 t = _mm512_fmadd_ps(x, constant_f32x16(0x1.715476p+0f), magic);
  const __m512 k = _mm512_sub_ps(t, magic);
  __m512 r = _mm512_fnmadd_ps(k, constant_f32x16(0x1.62e430p-1f), x);
  r = _mm512_fnmadd_ps(k, constant_f32x16(-0x1.05c610p-29f), r);
  __asm__("vrangeps $2, %1, %0, %0" : "+v"(r) : "v"(constant_f32x16(0.5f)));
  const __m512 root = _mm512_permutex2var_ps(table_f32x16(roots), _mm512_castps_si512(t),
                                             table_f32x16(roots + 16));
  const __m512 q = _mm512_fmadd_ps(r, constant_f32x16(0x1.00012cp-1f),
                                   constant_f32x16(0x1.0000f8p+0f));
  return _mm512_maskz_scalef_ps(0xffff, _mm512_fmadd_ps(_mm512_mul_ps(root, r), q, root), k);
}
)";

// A value that no compiler takes apart (avx2_math.cc).
static constexpr std::string_view kRounded = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
rounded_f32x16(__m512 x) noexcept {
  __asm__("" : "+v"(x));
  return x;
}
)";

// One of 32 floats per lane: index has it in its low five bits.
static constexpr std::string_view kLookup = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
lookup_f32x16(const float* table, __m512i index) noexcept {
  return _mm512_permutex2var_ps(table_f32x16(table), index, table_f32x16(table + 16));
}
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
with_sign_f32x16(__m512 size, __m512 sign) noexcept {
  const __m512 bit = constant_f32x16(-0.0f);
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(bit),
                                                       _mm512_castps_si512(sign),
                                                       _mm512_castps_si512(size), 0xca));
}
)";

// Polynomials of degree 5 in |x| - c, four for each power of two from 1/8 to 8, one below, with c =
// 0 and without a constant, and one up to 9.25, where the result has been 1 for long. Exponent and
// first bits of |x| choose: they count from 15 below 1/8, and wrap. (Weighted least squares by
// Lawson's weights, rounded and fitted again as above: 4.8e-8 of tanh, most of it the constants'.)
// All floats: at most 1.17 units in the last place. Granite Rapids, cycles per vector by GCC 12 and
// Clang 14: 10.0 and 9.9 (Eigen 3.4: 15.4 and 11.8); by e^(2|x|) - 1 and a division, as for AVX2,
// 14.4 both.
static constexpr std::string_view kTanh = R"(
alignas(64) static constexpr float tanh_table_f32x16[7][32] = {
    {0x1.2p+1f, 0x1.6p+1f, 0x1.ap+1f, 0x1.ep+1f, 0x1.2p+2f, 0x1.6p+2f, 0x1.ap+2f, 0x1.ep+2f,
     0x1.14p+3f, 0, 0, 0, 0, 0, 0, 0, 0x1.2p-3f, 0x1.6p-3f, 0x1.ap-3f, 0x1.ep-3f, 0x1.2p-2f,
     0x1.6p-2f, 0x1.ap-2f, 0x1.ep-2f, 0x1.2p-1f, 0x1.6p-1f, 0x1.ap-1f, 0x1.ep-1f, 0x1.2p+0f,
     0x1.6p+0f, 0x1.ap+0f, 0x1.ep+0f},
    {0x1.f4bfd6p-1f, 0x1.fbd50ap-1f, 0x1.fe767ap-1f, 0x1.ff6f18p-1f, 0x1.ffdfa6p-1f,
     0x1.fffbap-1f, 0x1.ffff68p-1f, 0x1.ffffecp-1f, 0x1.fffffep-1f, 0, 0, 0, 0, 0, 0, 0,
     0x1.1e1ddp-3f, 0x1.5c9308p-3f, 0x1.9a5f1cp-3f, 0x1.d7665cp-3f, 0x1.18a39ap-2f,
     0x1.52c2c6p-2f, 0x1.8a87e2p-2f, 0x1.bfae6ap-2f, 0x1.05087p-1f, 0x1.3157ep-1f, 0x1.5789p-1f,
     0x1.77d838p-1f, 0x1.9e5cb6p-1f, 0x1.c278a6p-1f, 0x1.d9c6fcp-1f, 0x1.e8789ep-1f},
    {0x1.641088p-5f, 0x1.09a7a6p-6f, 0x1.88ef7p-8f, 0x1.21a7b4p-9f, 0x1.02c04p-11f,
     0x1.18347ap-14f, 0x1.2f61b8p-17f, 0x1.4877ap-20f, 0x1.14fac6p-23f, 0, 0, 0, 0, 0, 0, 0x1p+0f,
     0x1.f601cap-1f, 0x1.f12b02p-1f, 0x1.eb715ap-1f, 0x1.e4dfbp-1f, 0x1.d98b38p-1f,
     0x1.c7f724p-1f, 0x1.b3ff3p-1f, 0x1.9e23acp-1f, 0x1.7aeae8p-1f, 0x1.49e6cp-1f, 0x1.197fdp-1f,
     0x1.d834dp-2f, 0x1.615002p-2f, 0x1.cea746p-3f, 0x1.265e34p-3f, 0x1.6fcfa6p-4f},
    {-0x1.5c37eep-5f, -0x1.077ddp-6f, -0x1.87ceaap-8f, -0x1.21664cp-9f, -0x1.0213e2p-11f,
     -0x1.1975aep-14f, -0x1.2a0378p-17f, -0x1.8b82b8p-20f, -0x1.7f0ad2p-23f, 0, 0, 0, 0, 0, 0,
     0x1.4f099ap-22f, -0x1.1872d4p-3f, -0x1.52b13cp-3f, -0x1.89eb32p-3f, -0x1.be2e76p-3f,
     -0x1.039298p-2f, -0x1.2db974p-2f, -0x1.500258p-2f, -0x1.6a0ep-2f, -0x1.826468p-2f,
     -0x1.897e82p-2f, -0x1.79cab4p-2f, -0x1.5a9b0ep-2f, -0x1.1df0bcp-2f, -0x1.9711fap-3f,
     -0x1.1068acp-3f, -0x1.5ee234p-4f},
    {0x1.bbced4p-6f, 0x1.5994fcp-7f, 0x1.0395d4p-8f, 0x1.80e732p-10f, 0x1.585fdp-12f,
     0x1.752912p-15f, 0x1.940fap-18f, 0x1.b579f4p-21f, 0x1.704b76p-24f, 0, 0, 0, 0, 0, 0,
     -0x1.555b2ep-2f, -0x1.3a926ep-2f, -0x1.2fe17p-2f, -0x1.204bep-2f, -0x1.0f1c7ap-2f,
     -0x1.e9639ap-3f, -0x1.989024p-3f, -0x1.42c328p-3f, -0x1.d5f5p-4f, -0x1.bd75fap-5f,
     0x1.d6aaa2p-7f, 0x1.06d64cp-4f, 0x1.845e68p-4f, 0x1.c68f5ap-4f, 0x1.97d56cp-4f,
     0x1.33dde2p-4f, 0x1.a85dcp-5f},
    {-0x1.9678p-7f, -0x1.508716p-8f, -0x1.013e64p-9f, -0x1.7f3344p-11f, -0x1.6c548cp-13f,
     -0x1.72a3aap-16f, -0x1.e753eap-19f, 0x1.91e58p-22f, 0x1.dc2a2ep-25f, 0, 0, 0, 0, 0, 0,
     0x1.efbdp-12f, -0x1.6eeca4p-5f, 0x1.cc6e86p-2f, 0x1.451374p-3f, -0x1.044a76p-2f,
     0x1.4c0b72p-3f, 0x1.8ee72ap-3f, 0x1.a3f134p-3f, 0x1.da3032p-4f, 0x1.444044p-3f,
     0x1.eeb86p-4f, 0x1.69c5c2p-4f, 0x1.35ffdap-5f, 0x1.ef3876p-9f, -0x1.549646p-6f,
     -0x1.95499ap-6f, -0x1.5abd0ep-6f},
    {0x1.048adp-8f, 0x1.f5e864p-10f, 0x1.9420dep-11f, 0x1.32dcaap-12f, 0x1.1e8572p-14f,
     0x1.376b5p-17f, 0x1.5154fap-20f, 0x1.6d4028p-23f, 0x1.3b3e4ap-26f, 0, 0, 0, 0, 0, 0,
     0x1.0a363p-3f, -0x1.85768ap+0f, 0x1.0361dcp+2f, 0x1.027a2ep-1f, -0x1.36a0acp+1f,
     0x1.4c8fcap-3f, 0x1.041ec8p-3f, 0x1.1572dap-3f, -0x1.0bc012p-2f, -0x1.0b5c52p-5f,
     -0x1.d46566p-5f, -0x1.70aebcp-5f, -0x1.f44ce6p-5f, -0x1.071c06p-5f, -0x1.3388f2p-7f,
     0x1.7f158cp-10f, 0x1.2ac36ep-8f}};
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
tanh_f32x16(__m512 x) noexcept {
  const float(&p)[7][32] = tanh_table_f32x16;
  const __m512 size = _mm512_andnot_ps(constant_f32x16(-0.0f), x);
  const __m512 a = _mm512_maskz_min_ps(0xffff, constant_f32x16(9.25f), size);
  const __m512i at = _mm512_maskz_srli_epi32(
      0xffff, _mm512_castps_si512(_mm512_maskz_max_ps(0xffff, a, constant_f32x16(0x1.ep-4f))), 21);
  const __m512 u = _mm512_sub_ps(a, lookup_f32x16(p[0], at));
  __m512 y = _mm512_fmadd_ps(u, lookup_f32x16(p[6], at), lookup_f32x16(p[5], at));
  y = _mm512_fmadd_ps(u, y, lookup_f32x16(p[4], at));
  y = _mm512_fmadd_ps(u, y, lookup_f32x16(p[3], at));
  y = _mm512_fmadd_ps(u, y, lookup_f32x16(p[2], at));
  y = _mm512_fmadd_ps(u, y, lookup_f32x16(p[1], at));
  return with_sign_f32x16(y, x);
}
)";

// Polynomials of degree 4 in |x| - c for the multiples c of 1/8, to 5.4e-8 of erf; the first has no
// constant, the last, from 3.8125 on, is 1. Adding 1.5 * 2^20 rounds to a multiple and leaves its
// number in the low bits. All floats: at most 2.14 units in the last place, next to 0. Granite
// Rapids, cycles per vector by GCC 12 and Clang 14: 8.4 and 8.1; by an exponential, as for AVX2,
// 15.0 and 15.5.
static constexpr std::string_view kErf = R"(
alignas(64) static constexpr float erf_table_f32x16[5][32] = {
    {0, 0x1.1f5e1ap-3f, 0x1.1af54ep-2f, 0x1.9dd0d2p-2f, 0x1.0a7ef6p-1f, 0x1.3f196ep-1f,
     0x1.6c1c98p-1f, 0x1.91724ap-1f, 0x1.af767ap-1f, 0x1.c6dad2p-1f, 0x1.d8865ep-1f,
     0x1.e5768cp-1f, 0x1.eea556p-1f, 0x1.f4f694p-1f, 0x1.f92d08p-1f, 0x1.fbe61ep-1f,
     0x1.fd9ae2p-1f, 0x1.fea422p-1f, 0x1.ff4048p-1f, 0x1.ff996p-1f, 0x1.ffcaa8p-1f,
     0x1.ffe514p-1f, 0x1.fff2dp-1f, 0x1.fff9bap-1f, 0x1.fffd1ap-1f, 0x1.fffeb4p-1f, 0x1.ffff7p-1f,
     0x1.ffffc4p-1f, 0x1.ffffe8p-1f, 0x1.fffff6p-1f, 0x1.fffffcp-1f, 0x1p+0f},
    {0x1.20dd74p+0f, 0x1.1c62f2p+0f, 0x1.0f5d1p+0f, 0x1.f5f0ccp-1f, 0x1.c1efcap-1f,
     0x1.86e96ap-1f, 0x1.492e44p-1f, 0x1.0cab64p-1f, 0x1.a911f2p-2f, 0x1.45e99ep-2f,
     0x1.e46532p-3f, 0x1.5ce596p-3f, 0x1.e7237cp-4f, 0x1.499d4ap-4f, 0x1.b05524p-5f,
     0x1.12ceap-5f, 0x1.529b72p-6f, 0x1.94620cp-7f, 0x1.d413a6p-8f, 0x1.0690ep-8f, 0x1.1d821ap-9f,
     0x1.2ce73cp-10f, 0x1.335f06p-11f, 0x1.30515ap-12f, 0x1.24064ap-13f, 0x1.0f9b2p-14f,
     0x1.e9af6cp-16f, 0x1.abd9d8p-17f, 0x1.6a52a6p-18f, 0x1.2963e2p-19f, 0x1.d92af2p-21f, 0},
    {0x1.b13ed4p-17f, -0x1.1c608cp-3f, -0x1.0f5c2cp-2f, -0x1.7870acp-2f, -0x1.c1f32p-2f,
     -0x1.e8a5fap-2f, -0x1.edcaaap-2f, -0x1.d633a4p-2f, -0x1.a90d9cp-2f, -0x1.6ea114p-2f,
     -0x1.2ec28ap-2f, -0x1.dfb81ap-3f, -0x1.6d6628p-3f, -0x1.0bd46cp-3f, -0x1.7a5a9ap-4f,
     -0x1.0183fep-4f, -0x1.52d968p-5f, -0x1.adfcfcp-6f, -0x1.07b38ep-6f, -0x1.36d986p-7f,
     -0x1.62fb8ap-8f, -0x1.8803cp-9f, -0x1.a92024p-10f, -0x1.b15992p-11f, -0x1.9d9dbap-12f,
     -0x1.ad74a4p-13f, -0x1.be0652p-14f, -0x1.28b516p-14f, -0x1.8cec5ep-15f, -0x1.559016p-18f,
     0x1.336876p-19f, 0},
    {-0x1.81ea2p-2f, -0x1.6ed22cp-2f, -0x1.3c32b4p-2f, -0x1.e0acfcp-3f, -0x1.2be97ep-3f,
     -0x1.c8ca5cp-5f, 0x1.b3bedap-6f, 0x1.7b983p-4f, 0x1.1aebdp-3f, 0x1.4c51f6p-3f,
     0x1.56c564p-3f, 0x1.433d82p-3f, 0x1.1c0984p-3f, 0x1.d6586ep-4f, 0x1.7167cep-4f,
     0x1.1471eep-4f, 0x1.8b8396p-5f, 0x1.0f122cp-5f, 0x1.64b518p-6f, 0x1.c342fap-7f,
     0x1.129952p-7f, 0x1.41dabep-8f, 0x1.6b94ap-9f, 0x1.8c1556p-10f, 0x1.a054a6p-11f,
     0x1.a66bbp-12f, 0x1.9ddfa4p-13f, 0x1.87b1dcp-14f, 0x1.662f4ap-15f, 0x1.3c8ee4p-16f,
     0x1.0e724p-17f, 0},
    {0x1.03c34cp-6f, 0x1.13a17cp-4f, 0x1.02031ap-3f, 0x1.4dc3f6p-3f, 0x1.7cce9p-3f,
     0x1.6cbf62p-3f, 0x1.3ce73ap-3f, 0x1.e802a6p-4f, 0x1.0dc908p-4f, 0x1.804f98p-6f,
     -0x1.c928fp-9f, -0x1.047762p-5f, -0x1.443c06p-5f, -0x1.88089p-5f, -0x1.7023a6p-5f,
     -0x1.899136p-5f, -0x1.c7d866p-6f, -0x1.633ccap-6f, -0x1.bac6a4p-7f, -0x1.386534p-6f,
     -0x1.dd9ddcp-7f, -0x1.472472p-7f, -0x1.5d7c38p-10f, -0x1.c97e2ep-9f, -0x1.7c6bd2p-8f,
     -0x1.1b584p-14f, 0x1.0d5e72p-9f, 0x1.694b8ep-8f, 0x1.77bf4ep-8f, -0x1.4b6a78p-11f,
     -0x1.2f1a2ap-10f, 0}};
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
erf_f32x16(__m512 x) noexcept {
  const float(&p)[5][32] = erf_table_f32x16;
  const __m512 magic = constant_f32x16(0x1.8p+20f);
  const __m512 size = _mm512_andnot_ps(constant_f32x16(-0.0f), x);
  const __m512 a = _mm512_maskz_min_ps(0xffff, constant_f32x16(3.875f), size);
  const __m512 t = _mm512_add_ps(a, magic);
  const __m512i at = _mm512_castps_si512(t);
  const __m512 u = _mm512_sub_ps(a, _mm512_sub_ps(t, magic));
  __m512 y = _mm512_fmadd_ps(u, lookup_f32x16(p[4], at), lookup_f32x16(p[3], at));
  y = _mm512_fmadd_ps(u, y, lookup_f32x16(p[2], at));
  y = _mm512_fmadd_ps(u, y, lookup_f32x16(p[1], at));
  y = _mm512_fmadd_ps(u, y, lookup_f32x16(p[0], at));
  return with_sign_f32x16(y, x);
}
)";

// As log_f32x8. What takes numbers apart has -inf and inf for exponents of 0 and infinity, 1 for
// their significands, and NaN for those of what is less than 0: nothing is to be mended. (These are
// _mm512_getmant_ps, from 0.75 to 1.5 and with NaN, and _mm512_getexp_ps, in which GCC 12 warns of
// a sign without optimisation.)
// All floats: at most 1.46 units in the last place.
static constexpr std::string_view kLog = R"(
MORELLO_UNUSED MORELLO_TARGET __attribute__((always_inline)) static inline __m512
log_f32x16(__m512 x) noexcept {
  const __m512 one = constant_f32x16(1.0f);
  __m512 m, below;
  __asm__("vgetmantps $11, %1, %0" : "=v"(m) : "v"(x));
  __asm__("vgetexpps %1, %0" : "=v"(below) : "v"(x));
  const __m512 e =
      _mm512_mask_add_ps(below, _mm512_cmp_ps_mask(m, one, _CMP_LT_OQ), below, one);
  const __m512 f = _mm512_sub_ps(m, one);
  __m512 q = _mm512_fmadd_ps(f, constant_f32x16(0x1.c79a08p-5f), constant_f32x16(-0x1.f04828p-4f));
  q = _mm512_fmadd_ps(f, q, constant_f32x16(0x1.31417ap-3f));
  q = _mm512_fmadd_ps(f, q, constant_f32x16(-0x1.57d55ap-3f));
  q = _mm512_fmadd_ps(f, q, constant_f32x16(0x1.993ca6p-3f));
  q = _mm512_fmadd_ps(f, q, constant_f32x16(-0x1.ffeceap-3f));
  q = _mm512_fmadd_ps(f, q, constant_f32x16(0x1.5555b2p-2f));
  q = _mm512_fmadd_ps(f, q, constant_f32x16(-0.5f));
  const __m512 low = _mm512_mul_ps(e, constant_f32x16(0x1.7f7d1cp-20f));
  const __m512 rest = _mm512_add_ps(_mm512_fmadd_ps(_mm512_mul_ps(f, f), q, low), f);
  return _mm512_fmadd_ps(e, constant_f32x16(0x1.62e4p-1f), rest);
}
)";

static constexpr std::string_view kExpHelpers[] = {kHeld, kExp};
static constexpr std::string_view kRoundedHelpers[] = {kRounded};
static constexpr std::string_view kTanhHelpers[] = {kHeld, kLookup, kTanh};
static constexpr std::string_view kErfHelpers[] = {kHeld, kLookup, kErf};
static constexpr std::string_view kLogHelpers[] = {kHeld, kLog};

// Of two operands, max and min give the second where one is NaN; where the first one is, it stays.
static constexpr Function kFunctions[] = {
    {.name = "add_f32x16",
     .fn = Fn::kAdd,
     .lanes = 16,
     .code = "{c} = _mm512_add_ps({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "sub_f32x16",
     .fn = Fn::kSub,
     .lanes = 16,
     .code = "{c} = _mm512_sub_ps({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "mul_f32x16",
     .fn = Fn::kMul,
     .lanes = 16,
     .code = "{c} = _mm512_mul_ps({a}, {b});",
     .uops = {.fma = 1}},
    {.name = "div_f32x16",
     .fn = Fn::kDiv,
     .lanes = 16,
     .code = "{c} = _mm512_div_ps({a}, {b});",
     .uops = {.divide = 20}},
    {.name = "max_f32x16",
     .fn = Fn::kMax,
     .lanes = 16,
     .code = "{c} = _mm512_mask_max_ps({a}, _mm512_cmp_ps_mask({a}, {a}, _CMP_ORD_Q), {a}, {b});",
     .uops = {.alu = 2}},
    {.name = "min_f32x16",
     .fn = Fn::kMin,
     .lanes = 16,
     .code = "{c} = _mm512_mask_min_ps({a}, _mm512_cmp_ps_mask({a}, {a}, _CMP_ORD_Q), {a}, {b});",
     .uops = {.alu = 2}},
    {.name = "neg_f32x16",
     .fn = Fn::kNeg,
     .lanes = 16,
     .code = "{c} = _mm512_xor_ps({a}, _mm512_set1_ps(-0.0f));",
     .uops = {.alu = 1}},
    {.name = "lt_f32x16",
     .fn = Fn::kLess,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask({a}, {b}, _CMP_LT_OQ), "
             "_mm512_set1_ps(1.0f));",
     .uops = {.alu = 2}},
    {.name = "le_f32x16",
     .fn = Fn::kLessEqual,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask({a}, {b}, _CMP_LE_OQ), "
             "_mm512_set1_ps(1.0f));",
     .uops = {.alu = 2}},
    {.name = "eq_f32x16",
     .fn = Fn::kEqual,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask({a}, {b}, _CMP_EQ_OQ), "
             "_mm512_set1_ps(1.0f));",
     .uops = {.alu = 2}},
    {.name = "select_f32x16",
     .fn = Fn::kSelect,
     .lanes = 16,
     .code = "{c} = _mm512_mask_blend_ps(_mm512_cmp_ps_mask({a}, _mm512_setzero_ps(), "
             "_CMP_NEQ_UQ), {d}, {b});",
     .uops = {.alu = 2}},
    {.name = "exp_f32x16",
     .fn = Fn::kExp,
     .lanes = 16,
     .code = "{c} = exp_f32x16({a});",
     .uops = {.fma = 7, .alu = 5},
     .temps = 12,
     .ulps = 2,
     .helpers = kExpHelpers},
    {.name = "exp_nonpositive_f32x16",
     .fn = Fn::kExpNonpositive,
     .lanes = 16,
     .code = "{c} = exp_f32x16({a});",
     .uops = {.fma = 7, .alu = 5},
     .temps = 12,
     .ulps = 2,
     .helpers = kExpHelpers},
    {.name = "rounded_f32x16",
     .fn = Fn::kRounded,
     .lanes = 16,
     .code = "{c} = rounded_f32x16({a});",
     .uops = {},
     .helpers = kRoundedHelpers},
    {.name = "tanh_f32x16",
     .fn = Fn::kTanh,
     .lanes = 16,
     .code = "{c} = tanh_f32x16({a});",
     .uops = {.fma = 5, .alu = 13},
     .temps = 16,
     .ulps = 1,
     .helpers = kTanhHelpers},
    {.name = "erf_f32x16",
     .fn = Fn::kErf,
     .lanes = 16,
     .code = "{c} = erf_f32x16({a});",
     .uops = {.fma = 4, .alu = 11},
     .temps = 16,
     .ulps = 2,
     .helpers = kErfHelpers},
    {.name = "log_f32x16",
     .fn = Fn::kLog,
     .lanes = 16,
     .code = "{c} = log_f32x16({a});",
     .uops = {.fma = 10, .alu = 8},
     .temps = 12,
     .ulps = 1,
     .helpers = kLogHelpers},
    {.name = "sqrt_f32x16",
     .fn = Fn::kSqrt,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_sqrt_ps(0xffff, {a});",
     .uops = {.divide = 24}},
    {.name = "float_f32x16",
     .fn = Fn::kToFloat,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_cvtepi32_ps(0xffff, {a});",
     .uops = {.alu = 1}},
    {.name = "add_i32x16",
     .fn = Fn::kAdd,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_add_epi32({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "sub_i32x16",
     .fn = Fn::kSub,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_sub_epi32({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "mul_i32x16",
     .fn = Fn::kMul,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_mullo_epi32({a}, {b});",
     .uops = {.fma = 2}},
    {.name = "max_i32x16",
     .fn = Fn::kMax,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_max_epi32(0xffff, {a}, {b});",
     .uops = {.alu = 1}},
    {.name = "min_i32x16",
     .fn = Fn::kMin,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_min_epi32(0xffff, {a}, {b});",
     .uops = {.alu = 1}},
    {.name = "neg_i32x16",
     .fn = Fn::kNeg,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_sub_epi32(_mm512_setzero_si512(), {a});",
     .uops = {.alu = 1}},
    {.name = "lt_i32x16",
     .fn = Fn::kLess,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_set1_epi32(_mm512_cmplt_epi32_mask({a}, {b}), 1);",
     .uops = {.alu = 2}},
    {.name = "le_i32x16",
     .fn = Fn::kLessEqual,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_set1_epi32(_mm512_cmple_epi32_mask({a}, {b}), 1);",
     .uops = {.alu = 2}},
    {.name = "eq_i32x16",
     .fn = Fn::kEqual,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_maskz_set1_epi32(_mm512_cmpeq_epi32_mask({a}, {b}), 1);",
     .uops = {.alu = 2}},
    {.name = "select_i32x16",
     .fn = Fn::kSelect,
     .type = Dtype::i32,
     .lanes = 16,
     .code = "{c} = _mm512_mask_blend_epi32(_mm512_test_epi32_mask({a}, {a}), {d}, {b});",
     .uops = {.alu = 2}},
};

constinit const Rows avx512_math = {
    .kernels = {}, .accesses = {}, .functions = kFunctions, .prelude = {}};

}  // namespace morello::kernels
