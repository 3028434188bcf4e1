// Products of u8 and i8 where the CPU has AVX-512 VNNI: vpdpbusd multiplies 64 pairs and adds four
// neighbours each to 16 sums of 32 bits, exactly: unlike vpmaddubsw, nothing saturates on the way.
// Two a cycle and a latency of 5 on a Granite Rapids, measured; two on Zen 5.
#include "target/tables.h"

namespace morello::kernels {

using enum Access::Kind;

static constexpr Kernel kKernels[] = {
    {.name = "dpbusd_i8x64",
     .implements = "(a: u8[1,4], b: i8[4,16]): i32[1,16] = matmul(a, b)",
     .lanes = 16,
     .group = 4,
     .input = Dtype::u8,
     .input_b = Dtype::i8,
     .output = Dtype::i32,
     .code = "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});",
     .uops = {.fma = 1},
     .latency = 5},
    {.name = "dot_i8x64",
     .implements = "(a: u8[1,64], b: i8[64,1]): i32[1,1] = matmul(a, b)",
     .lanes = 16,
     .group = 4,
     .lanes_reduce = true,
     .input = Dtype::u8,
     .input_b = Dtype::i8,
     .output = Dtype::i32,
     .code = "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});",
     .finish = "{s} = hsum_i32x16({c});",
     .uops = {.fma = 1},
     .latency = 5},
    // Sixteen-bit pairs, of other types than u8 by i8.
    {.name = "dpwssd_i16x32",
     .implements = "(a: u8[1,2], b: i8[2,16]): i32[1,16] = matmul(a, b)",
     .lanes = 16,
     .group = 2,
     .input = Dtype::i16,
     .output = Dtype::i32,
     .code = "{c} = _mm512_dpwssd_epi32({c}, {a}, {b});",
     .uops = {.fma = 1},
     .latency = 5},
    {.name = "dpwssd_dot_i16x32",
     .implements = "(a: u8[1,32], b: i8[32,1]): i32[1,1] = matmul(a, b)",
     .lanes = 16,
     .group = 2,
     .lanes_reduce = true,
     .input = Dtype::i16,
     .output = Dtype::i32,
     .code = "{c} = _mm512_dpwssd_epi32({c}, {a}, {b});",
     .finish = "{s} = hsum_i32x16({c});",
     .uops = {.fma = 1},
     .latency = 5},
};

// A row of quads: four consecutive elements per 32-bit lane.
static constexpr Access quads16(Access::Kind kind, std::string_view name, Dtype dtype,
                                std::string_view implements, std::string_view code, Uops uops,
                                std::string_view partial = "") {
  Uops masked = uops;
  masked.alu += 1;
  return {.name = name,
          .implements = implements,
          .kind = kind,
          .memory = dtype,
          .reg = dtype,
          .lanes = 16,
          .group = 4,
          .code = code,
          .uops = uops,
          .partial = partial,
          .partial_uops = masked};
}

static constexpr Access kAccesses[] = {
    quads16(kVector, "load_u8x16x4", Dtype::u8, "(x: u8[64]): i32[64] = convert(x)",
            "{r0} = _mm512_loadu_si512({p});", {.load = 1},
            "{r0} = _mm512_maskz_loadu_epi8(first_64({count}), {p});"),
    quads16(kVector, "load_i8x16x4", Dtype::i8, "(x: i8[64]): i32[64] = convert(x)",
            "{r0} = _mm512_loadu_si512({p});", {.load = 1},
            "{r0} = _mm512_maskz_loadu_epi8(first_64({count}), {p});"),
    quads16(kBroadcast, "broadcast_u8x16x4", Dtype::u8, "(x: u8[4]): i32[4] = convert(x)",
            "{r0} = broadcast_8bit_quad_x16({p});", {.load = 1}),
    quads16(kBroadcast, "broadcast_i8x16x4", Dtype::i8, "(x: i8[4]): i32[4] = convert(x)",
            "{r0} = broadcast_8bit_quad_x16({p});", {.load = 1}),
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __mmask64 first_64(std::ptrdiff_t n) noexcept {
  return (static_cast<__mmask64>(1) << n) - 1u;
}
MORELLO_UNUSED MORELLO_TARGET static inline __m512i broadcast_8bit_quad_x16(const void* p) noexcept {
  std::int32_t quad;
  __builtin_memcpy(&quad, p, sizeof quad);
  return _mm512_set1_epi32(quad);
}
)";

constinit const Rows avx512_vnni = {
    .kernels = kKernels, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
