// One element at a time, in portable C++. 32-bit integers wrap (computed unsigned: signed overflow
// is undefined). Conversions of bf16 and f16 work on bits; tests/target/rows_test.cc goes through
// all of them.
#include "target/tables.h"

namespace morello::kernels {

static constexpr Kernel kKernels[] = {
    {.name = "fma_f32",
     .implements = "(a: f32[1,1], b: f32[1,1]): f32[1,1] = matmul(a, b)",
     .maps = true,
     .code = "{c} += {a} * {b};",
     .uops = {.fma = 1, .alu = 1},
     .latency = 4},
    {.name = "fma_i32",
     .implements = "(a: u8[1,1], b: i8[1,1]): i32[1,1] = matmul(a, b)",
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = wrap_add({c}, wrap_mul({a}, {b}));",
     .uops = {.fma = 1, .alu = 1},
     .latency = 1},
    {.name = "map_f32", .implements = "(a: f32[1]): f32[1] = convert(a)", .maps = true},
    {.name = "map_i32",
     .implements = "(a: i32[1]): i32[1] = convert(a)",
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32},
    {.name = "move_f32",
     .implements = "(a: f32[1]): f32[1] = convert(a)",
     .maps = true,
     .moves = true},
    {.name = "move_i32",
     .implements = "(a: i32[1]): i32[1] = convert(a)",
     .maps = true,
     .moves = true,
     .input = Dtype::i32,
     .output = Dtype::i32},
    {.name = "sum_f32",
     .implements = "(a: f32[1,1]): f32[1] = reduce_sum(a, axis=0)",
     .maps = true,
     .code = "{c} += {a};",
     .uops = {.alu = 1},
     .latency = 4},
    {.name = "sum_i32",
     .implements = "(a: i32[1,1]): i32[1] = reduce_sum(a, axis=0)",
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = wrap_add({c}, {a});",
     .uops = {.alu = 1},
     .latency = 1},
    {.name = "max_f32",
     .implements = "(a: f32[1,1]): f32[1] = reduce_max(a, axis=0)",
     .maps = true,
     .code = "{c} = {a} > {c} || {a} != {a} ? {a} : {c};",
     .uops = {.alu = 4},
     .latency = 5},
    {.name = "max_i32",
     .implements = "(a: i32[1,1]): i32[1] = reduce_max(a, axis=0)",
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = {a} > {c} ? {a} : {c};",
     .uops = {.alu = 2},
     .latency = 2},
    {.name = "min_f32",
     .implements = "(a: f32[1,1]): f32[1] = reduce_min(a, axis=0)",
     .maps = true,
     .code = "{c} = {a} < {c} || {a} != {a} ? {a} : {c};",
     .uops = {.alu = 4},
     .latency = 5},
    {.name = "min_i32",
     .implements = "(a: i32[1,1]): i32[1] = reduce_min(a, axis=0)",
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = {a} < {c} ? {a} : {c};",
     .uops = {.alu = 2},
     .latency = 2},
};

constexpr Access load(std::string_view name, std::string_view implements, Dtype memory, Dtype reg,
                      std::string_view code, Uops uops) {
  return {.name = name,
          .implements = implements,
          .kind = Access::Kind::kBroadcast,
          .memory = memory,
          .reg = reg,
          .code = code,
          .uops = uops};
}
constexpr Access store(std::string_view name, std::string_view implements, Dtype memory, Dtype reg,
                       std::string_view code, Uops uops) {
  return {.name = name,
          .implements = implements,
          .kind = Access::Kind::kStore,
          .memory = memory,
          .reg = reg,
          .code = code,
          .uops = uops};
}

static constexpr Access kAccesses[] = {
    load("load_f32", "(x: f32[1]): f32[1] = convert(x)", Dtype::f32, Dtype::f32, "{r0} = *({p});",
         {.load = 1}),
    load("load_bf16", "(x: bf16[1]): f32[1] = convert(x)", Dtype::bf16, Dtype::f32,
         "{r0} = bf16_to_f32(*({p}));", {.alu = 2, .load = 1}),
    load("load_f16", "(x: f16[1]): f32[1] = convert(x)", Dtype::f16, Dtype::f32,
         "{r0} = f16_to_f32(*({p}));", {.alu = 8, .load = 1}),
    load("load_i32", "(x: i32[1]): i32[1] = convert(x)", Dtype::i32, Dtype::i32, "{r0} = *({p});",
         {.load = 1}),
    load("load_i16", "(x: i16[1]): i32[1] = convert(x)", Dtype::i16, Dtype::i32, "{r0} = *({p});",
         {.load = 1}),
    load("load_u8", "(x: u8[1]): i32[1] = convert(x)", Dtype::u8, Dtype::i32, "{r0} = *({p});",
         {.load = 1}),
    load("load_i8", "(x: i8[1]): i32[1] = convert(x)", Dtype::i8, Dtype::i32, "{r0} = *({p});",
         {.load = 1}),
    load("load_i32_f32", "(x: i32[1]): f32[1] = convert(x)", Dtype::i32, Dtype::f32,
         "{r0} = static_cast<float>(*({p}));", {.alu = 1, .load = 1}),
    load("load_i16_f32", "(x: i16[1]): f32[1] = convert(x)", Dtype::i16, Dtype::f32,
         "{r0} = static_cast<float>(*({p}));", {.alu = 1, .load = 1}),
    load("load_u8_f32", "(x: u8[1]): f32[1] = convert(x)", Dtype::u8, Dtype::f32,
         "{r0} = static_cast<float>(*({p}));", {.alu = 1, .load = 1}),
    load("load_i8_f32", "(x: i8[1]): f32[1] = convert(x)", Dtype::i8, Dtype::f32,
         "{r0} = static_cast<float>(*({p}));", {.alu = 1, .load = 1}),
    // To i16, for copies into packed panels of 16-bit pairs.
    load("load_i16_i16", "(x: i16[1]): i32[1] = convert(x)", Dtype::i16, Dtype::i16,
         "{r0} = *({p});", {.load = 1}),
    load("load_u8_i16", "(x: u8[1]): i32[1] = convert(x)", Dtype::u8, Dtype::i16, "{r0} = *({p});",
         {.load = 1}),
    load("load_i8_i16", "(x: i8[1]): i32[1] = convert(x)", Dtype::i8, Dtype::i16, "{r0} = *({p});",
         {.load = 1}),
    store("store_f32", "(x: f32[1]): f32[1] = convert(x)", Dtype::f32, Dtype::f32, "*({p}) = {r0};",
          {.store = 1}),
    store("store_bf16", "(x: f32[1]): bf16[1] = convert(x)", Dtype::bf16, Dtype::f32,
          "*({p}) = f32_to_bf16({r0});", {.alu = 8, .store = 1}),
    store("store_f16", "(x: f32[1]): f16[1] = convert(x)", Dtype::f16, Dtype::f32,
          "*({p}) = f32_to_f16({r0});", {.alu = 12, .store = 1}),
    store("store_i32", "(x: i32[1]): i32[1] = convert(x)", Dtype::i32, Dtype::i32, "*({p}) = {r0};",
          {.store = 1}),
    store("store_i16", "(x: i32[1]): i16[1] = convert(x)", Dtype::i16, Dtype::i32,
          "*({p}) = clamp_i16({r0});", {.alu = 2, .store = 1}),
    // Of what was loaded so.
    store("store_u8", "(x: u8[1]): i32[1] = convert(x)", Dtype::u8, Dtype::i32,
          "*({p}) = static_cast<std::uint8_t>({r0});", {.store = 1}),
    store("store_i8", "(x: i8[1]): i32[1] = convert(x)", Dtype::i8, Dtype::i32,
          "*({p}) = static_cast<std::int8_t>({r0});", {.store = 1}),
    store("store_i16_i16", "(x: i16[1]): i32[1] = convert(x)", Dtype::i16, Dtype::i16,
          "*({p}) = {r0};", {.store = 1}),
};

// f16 to f32: the exponent's bias grows by 112; a denormal m * 2^-24 is (2^-14 + m * 2^-24) -
// 2^-14. f32 to f16: denormals by adding 1/2, whose last place is 2^-24, so the addition itself
// rounds to nearest even; others by an integer addition that does. Too large becomes infinity, NaN
// stays a quiet NaN. No step meets an f32 denormal, so the modes that flush them do not matter.
static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float f32_from_bits(std::uint32_t bits) noexcept {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
MORELLO_UNUSED MORELLO_TARGET static inline std::uint32_t bits_from_f32(float value) noexcept {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
MORELLO_UNUSED MORELLO_TARGET static inline float bf16_to_f32(std::uint16_t x) noexcept {
  return f32_from_bits(static_cast<std::uint32_t>(x) << 16);
}
MORELLO_UNUSED MORELLO_TARGET static inline std::uint16_t f32_to_bf16(float x) noexcept {
  const std::uint32_t bits = bits_from_f32(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
MORELLO_UNUSED MORELLO_TARGET static inline float f16_to_f32(std::uint16_t x) noexcept {
  const std::uint32_t half = x;
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t mantissa = half & 0x3ffu;
  std::uint32_t bits = ((half & 0x7fffu) << 13) + 0x38000000u;
  if ((half & 0x7c00u) == 0u) {
    bits = bits_from_f32(f32_from_bits(0x38800000u | (mantissa << 13)) - 0.00006103515625f);
  } else if ((half & 0x7c00u) == 0x7c00u) {
    bits = 0x7f800000u | (mantissa << 13) | (mantissa != 0u ? 0x400000u : 0u);
  }
  return f32_from_bits(sign | bits);
}
MORELLO_UNUSED MORELLO_TARGET static inline std::uint16_t f32_to_f16(float x) noexcept {
  const std::uint32_t bits = bits_from_f32(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x47800000u) {
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    half = bits_from_f32(f32_from_bits(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}
MORELLO_UNUSED MORELLO_TARGET static inline std::int32_t wrap_add(std::int32_t a,
                                                                  std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
MORELLO_UNUSED MORELLO_TARGET static inline std::int16_t clamp_i16(std::int32_t x) noexcept {
  return static_cast<std::int16_t>(x < -32768 ? -32768 : x > 32767 ? 32767 : x);
}
MORELLO_UNUSED MORELLO_TARGET static inline std::int32_t wrap_mul(std::int32_t a,
                                                                  std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}
)";

constinit const Rows scalar = {.kernels = kKernels, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
