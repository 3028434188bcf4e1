// Functions of one float or 32-bit integer, in portable C++ that calls no library: emitted headers
// depend on nothing but the compiler. What rounds is computed in double and rounded at the end;
// errors are measured over all 2^32 floats against the double functions of the C library.
// Coefficients are minimax ones (Remez exchange in 40 digits).
#include "target/tables.h"

namespace morello::kernels {

static constexpr std::string_view kBits = R"(
MORELLO_UNUSED MORELLO_TARGET static inline double f64_from_bits(std::uint64_t bits) noexcept {
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
MORELLO_UNUSED MORELLO_TARGET static inline std::uint64_t bits_from_f64(double value) noexcept {
  std::uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
MORELLO_UNUSED MORELLO_TARGET static inline float with_sign_f32(double size, float sign) noexcept {
  return f32_from_bits(bits_from_f32(static_cast<float>(size)) |
                       (bits_from_f32(sign) & 0x80000000u));
}
MORELLO_UNUSED MORELLO_TARGET static inline float absolute_f32(float x) noexcept {
  return f32_from_bits(bits_from_f32(x) & 0x7fffffffu);
}
)";

// e^x = 2^n * (1 + p) with |r| <= ln2/2, x = n * ln2 + r, p = e^r - 1 to 2.1e-9 of itself. Adding
// 1.5 * 2^52 rounds n into the low bits.
static constexpr std::string_view kSplit = R"(
struct Exponential {
  double power;  // 2^n
  double rest;   // e^r - 1
};
MORELLO_UNUSED MORELLO_TARGET static inline Exponential exponential(double x) noexcept {
  const double t = x * 0x1.71547652b82fep+0 + 0x1.8p+52;
  const double r = x - (t - 0x1.8p+52) * 0x1.62e42fefa39efp-1;
  double q = 0x1.6d823f924f4edp-10 + r * 0x1.a2f34368d06dfp-13;
  q = 0x1.11169cf20ed9cp-7 + r * q;
  q = 0x1.5554a95586089p-5 + r * q;
  q = 0x1.55554aff44231p-3 + r * q;
  q = 0x1.0000002623c52p-1 + r * q;
  return {f64_from_bits((bits_from_f64(t) + 1023u) << 52), r + r * r * q};
}
)";

// Above the first limit results are infinite, below the second 0. All floats: at most 0.51 units in
// the last place.
static constexpr std::string_view kExp = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float exp_f32(float x) noexcept {
  if (x > 0x1.62e42ep+6f) return __builtin_inff();
  const Exponential e = exponential(x < -104.0f ? -104.0 : static_cast<double>(x));
  return static_cast<float>(e.power + e.power * e.rest);
}
)";

// A value that no compiler takes apart (avx2_math.cc).
static constexpr std::string_view kRounded = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float rounded_f32(float x) noexcept {
#if defined(__x86_64__)
  __asm__("" : "+x"(x));
  return x;
#else
  volatile float kept = x;
  return kept;
#endif
}
)";

// m / (m + 2) with m = e^(2|x|) - 1. From 9.02 on it rounds to 1. All floats: at most 0.53 units in
// the last place.
static constexpr std::string_view kTanh = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float tanh_f32(float x) noexcept {
  const double a = static_cast<double>(absolute_f32(x));
  const Exponential e = exponential(a > 10.0 ? 20.0 : 2.0 * a);
  const double m = (e.power - 1.0) + e.power * e.rest;
  return with_sign_f32(m / (m + 2.0), x);
}
)";

// 1 - e^-g with g = -log(1 - erf(|x|)), which is |x| times a polynomial (4.1e-10 of erf). From 3.92
// on it rounds to 1. All floats: at most 0.54 units in the last place.
static constexpr std::string_view kErf = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float erf_f32(float x) noexcept {
  const double size = static_cast<double>(absolute_f32(x));
  const double a = size > 4.0 ? 4.0 : size;
  double g = -0x1.66452f7dbc8f0p-16 + a * 0x1.4052ce6a185f3p-20;
  g = 0x1.5f3b96f067766p-13 + a * g;
  g = -0x1.845525aea27edp-11 + a * g;
  g = 0x1.d7b0951c4e45ep-10 + a * g;
  g = -0x1.095a92987f115p-12 + a * g;
  g = -0x1.39396c780c75cp-6 + a * g;
  g = 0x1.a4f37ea47b168p-4 + a * g;
  g = 0x1.45f308f2f59d8p-1 + a * g;
  g = 0x1.20dd750227d64p+0 + a * g;
  const Exponential e = exponential(-(a * g));
  return with_sign_f32((1.0 - e.power) - e.power * e.rest, x);
}
)";

// n * ln2 + log(m) with m = x / 2^n from 0.75 to 1.5, and log(m) = 2 atanh((m - 1) / (m + 1)) by
// its series (1.1e-11 of it). All floats: at most 0.51 units in the last place.
static constexpr std::string_view kLog = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float log_f32(float x) noexcept {
  if (!(x > 0.0f)) return x < 0.0f ? __builtin_nanf("") : x == 0.0f ? -__builtin_inff() : x;
  if (x > 0x1.fffffep+127f) return x;
  const std::uint64_t bits = bits_from_f64(static_cast<double>(x));
  const std::int64_t n = static_cast<std::int64_t>(bits - 0x3fe8000000000000u) >> 52;
  const double m = f64_from_bits(bits - (static_cast<std::uint64_t>(n) << 52));
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double q = 2.0 / 11.0 + z * (2.0 / 13.0);
  q = 2.0 / 9.0 + z * q;
  q = 2.0 / 7.0 + z * q;
  q = 2.0 / 5.0 + z * q;
  q = 2.0 / 3.0 + z * q;
  return static_cast<float>(static_cast<double>(n) * 0x1.62e42fefa39efp-1 +
                            (2.0 * s + s * z * q));
}
)";

// Correctly rounded. y, an inverse root, is within 3.5% by halving the exponent and within 2^-50
// after four of Newton's steps; the root s then takes one more, whose error stays below 2^-51 of
// it. No root of a float is as close as that to the middle between two: the square of such a
// middle has a last bit that floats of its size lack, so they are 2^-48 apart, and the roots 2^-51
// of their size at least.
// __builtin_sqrtf() would call the C library for what may be negative, unless told that nobody
// looks at errno.
static constexpr std::string_view kSqrt = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float sqrt_f32(float x) noexcept {
  if (!(x > 0.0f)) return x < 0.0f ? __builtin_nanf("") : x;
  if (x > 0x1.fffffep+127f) return x;
  const double a = static_cast<double>(x);
  double y = f64_from_bits(0x5fe6eb50c7b537a9u - (bits_from_f64(a) >> 1));
  for (int step = 0; step < 4; ++step) y *= 1.5 - 0.5 * a * y * y;
  const double s = a * y;
  return static_cast<float>(s + 0.5 * y * (a - s * s));
}
)";

static constexpr std::string_view kWrapSub = R"(
MORELLO_UNUSED MORELLO_TARGET static inline std::int32_t wrap_sub(std::int32_t a,
                                                                  std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}
)";

static constexpr std::string_view kExpHelpers[] = {kBits, kSplit, kExp};
static constexpr std::string_view kRoundedHelpers[] = {kRounded};
static constexpr std::string_view kTanhHelpers[] = {kBits, kSplit, kTanh};
static constexpr std::string_view kErfHelpers[] = {kBits, kSplit, kErf};
static constexpr std::string_view kLogHelpers[] = {kBits, kSplit, kLog};
static constexpr std::string_view kSqrtHelpers[] = {kBits, kSqrt};
static constexpr std::string_view kSubHelpers[] = {kWrapSub};

static constexpr Function kFunctions[] = {
    {.name = "add_f32", .fn = Fn::kAdd, .code = "{c} = {a} + {b};", .uops = {.alu = 1}},
    {.name = "sub_f32", .fn = Fn::kSub, .code = "{c} = {a} - {b};", .uops = {.alu = 1}},
    {.name = "mul_f32", .fn = Fn::kMul, .code = "{c} = {a} * {b};", .uops = {.fma = 1}},
    {.name = "div_f32", .fn = Fn::kDiv, .code = "{c} = {a} / {b};", .uops = {.fma = 6}},
    {.name = "max_f32",
     .fn = Fn::kMax,
     .code = "{c} = {a} > {b} || {a} != {a} ? {a} : {b};",
     .uops = {.alu = 4}},
    {.name = "min_f32",
     .fn = Fn::kMin,
     .code = "{c} = {a} < {b} || {a} != {a} ? {a} : {b};",
     .uops = {.alu = 4}},
    {.name = "neg_f32", .fn = Fn::kNeg, .code = "{c} = -{a};", .uops = {.alu = 1}},
    {.name = "lt_f32",
     .fn = Fn::kLess,
     .code = "{c} = {a} < {b} ? 1.0f : 0.0f;",
     .uops = {.alu = 2}},
    {.name = "le_f32",
     .fn = Fn::kLessEqual,
     .code = "{c} = {a} <= {b} ? 1.0f : 0.0f;",
     .uops = {.alu = 2}},
    {.name = "eq_f32",
     .fn = Fn::kEqual,
     .code = "{c} = {a} == {b} ? 1.0f : 0.0f;",
     .uops = {.alu = 2}},
    {.name = "select_f32",
     .fn = Fn::kSelect,
     .code = "{c} = {a} != 0.0f ? {b} : {d};",
     .uops = {.alu = 2}},
    {.name = "exp_f32",
     .fn = Fn::kExp,
     .code = "{c} = exp_f32({a});",
     .uops = {.fma = 10, .alu = 16},
     .ulps = 1,
     .helpers = kExpHelpers},
    {.name = "exp_nonpositive_f32",
     .fn = Fn::kExpNonpositive,
     .code = "{c} = exp_f32({a});",
     .uops = {.fma = 10, .alu = 16},
     .ulps = 1,
     .helpers = kExpHelpers},
    {.name = "rounded_f32",
     .fn = Fn::kRounded,
     .code = "{c} = rounded_f32({a});",
     .uops = {},
     .helpers = kRoundedHelpers},
    {.name = "tanh_f32",
     .fn = Fn::kTanh,
     .code = "{c} = tanh_f32({a});",
     .uops = {.fma = 18, .alu = 22},
     .ulps = 1,
     .helpers = kTanhHelpers},
    {.name = "erf_f32",
     .fn = Fn::kErf,
     .code = "{c} = erf_f32({a});",
     .uops = {.fma = 20, .alu = 29},
     .ulps = 1,
     .helpers = kErfHelpers},
    {.name = "log_f32",
     .fn = Fn::kLog,
     .code = "{c} = log_f32({a});",
     .uops = {.fma = 18, .alu = 14},
     .ulps = 1,
     .helpers = kLogHelpers},
    {.name = "sqrt_f32",
     .fn = Fn::kSqrt,
     .code = "{c} = sqrt_f32({a});",
     .uops = {.fma = 20, .alu = 12},
     .helpers = kSqrtHelpers},
    {.name = "float_f32",
     .fn = Fn::kToFloat,
     .code = "{c} = static_cast<float>({a});",
     .uops = {.alu = 1}},
    {.name = "add_i32",
     .fn = Fn::kAdd,
     .type = Dtype::i32,
     .code = "{c} = wrap_add({a}, {b});",
     .uops = {.alu = 1}},
    {.name = "sub_i32",
     .fn = Fn::kSub,
     .type = Dtype::i32,
     .code = "{c} = wrap_sub({a}, {b});",
     .uops = {.alu = 1},
     .helpers = kSubHelpers},
    {.name = "mul_i32",
     .fn = Fn::kMul,
     .type = Dtype::i32,
     .code = "{c} = wrap_mul({a}, {b});",
     .uops = {.fma = 1}},
    {.name = "max_i32",
     .fn = Fn::kMax,
     .type = Dtype::i32,
     .code = "{c} = {a} > {b} ? {a} : {b};",
     .uops = {.alu = 2}},
    {.name = "min_i32",
     .fn = Fn::kMin,
     .type = Dtype::i32,
     .code = "{c} = {a} < {b} ? {a} : {b};",
     .uops = {.alu = 2}},
    {.name = "neg_i32",
     .fn = Fn::kNeg,
     .type = Dtype::i32,
     .code = "{c} = wrap_sub(0, {a});",
     .uops = {.alu = 1},
     .helpers = kSubHelpers},
    {.name = "lt_i32",
     .fn = Fn::kLess,
     .type = Dtype::i32,
     .code = "{c} = {a} < {b} ? 1 : 0;",
     .uops = {.alu = 2}},
    {.name = "le_i32",
     .fn = Fn::kLessEqual,
     .type = Dtype::i32,
     .code = "{c} = {a} <= {b} ? 1 : 0;",
     .uops = {.alu = 2}},
    {.name = "eq_i32",
     .fn = Fn::kEqual,
     .type = Dtype::i32,
     .code = "{c} = {a} == {b} ? 1 : 0;",
     .uops = {.alu = 2}},
    {.name = "select_i32",
     .fn = Fn::kSelect,
     .type = Dtype::i32,
     .code = "{c} = {a} != 0 ? {b} : {d};",
     .uops = {.alu = 2}},
};

constinit const Rows scalar_math = {
    .kernels = {}, .accesses = {}, .functions = kFunctions, .prelude = {}};

}  // namespace morello::kernels
