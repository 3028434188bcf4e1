// Products of 8-bit integers where the CPU has AVX-VNNI: what avx512_vnni.cc has in half the width.
// Sixteen-bit pairs, of other types than u8 by i8, take one instruction where AVX2 takes two.
#include "target/tables.h"

namespace morello::kernels {

using enum Access::Kind;

// A sum of `group` products per 32-bit lane; lanes along a parallel dim or along the reduction.
static constexpr Kernel dot8(std::string_view name, std::string_view implements, int group, Dtype a,
                             Dtype b, std::string_view code, bool lanes_reduce) {
  return {.name = name,
          .implements = implements,
          .lanes = 8,
          .group = group,
          .lanes_reduce = lanes_reduce,
          .input = a,
          .input_b = b,
          .output = Dtype::i32,
          .code = code,
          .finish = lanes_reduce ? "{s} = hsum_i32x8({c});" : "",
          .uops = {.fma = 1},
          .latency = 5};
}

static constexpr std::string_view kBytes = "{c} = _mm256_dpbusd_avx_epi32({c}, {a}, {b});";
static constexpr std::string_view kPairs = "{c} = _mm256_dpwssd_avx_epi32({c}, {a}, {b});";

static constexpr Kernel kKernels[] = {
    dot8("dpbusd_i8x32", "(a: u8[1,4], b: i8[4,8]): i32[1,8] = matmul(a, b)", 4, Dtype::u8,
         Dtype::i8, kBytes, false),
    dot8("dot_i8x32", "(a: u8[1,32], b: i8[32,1]): i32[1,1] = matmul(a, b)", 4, Dtype::u8,
         Dtype::i8, kBytes, true),
    dot8("dpwssd_i16x16", "(a: u8[1,2], b: i8[2,8]): i32[1,8] = matmul(a, b)", 2, Dtype::i16,
         Dtype::i16, kPairs, false),
    dot8("dpwssd_dot_i16x16", "(a: u8[1,16], b: i8[16,1]): i32[1,1] = matmul(a, b)", 2, Dtype::i16,
         Dtype::i16, kPairs, true),
};

// A row of quads: four consecutive elements per 32-bit lane.
static constexpr Access quads8(Access::Kind kind, std::string_view name, Dtype dtype,
                               std::string_view implements, std::string_view code,
                               std::string_view partial = "") {
  return {.name = name,
          .implements = implements,
          .kind = kind,
          .memory = dtype,
          .reg = dtype,
          .lanes = 8,
          .group = 4,
          .code = code,
          .uops = {.load = 1},
          .partial = partial,
          .partial_uops = {.alu = 4, .load = 3}};
}

static constexpr std::string_view kLoad =
    "{r0} = _mm256_loadu_si256(reinterpret_cast<const __m256i*>({p}));";
static constexpr std::string_view kPart = "{r0} = first_bytes_32({p}, {n});";
static constexpr std::string_view kQuad = "{r0} = broadcast_8bit_quad({p});";

static constexpr Access kAccesses[] = {
    quads8(kVector, "load_u8x8x4", Dtype::u8, "(x: u8[32]): i32[32] = convert(x)", kLoad, kPart),
    quads8(kVector, "load_i8x8x4", Dtype::i8, "(x: i8[32]): i32[32] = convert(x)", kLoad, kPart),
    quads8(kBroadcast, "broadcast_u8x8x4", Dtype::u8, "(x: u8[4]): i32[4] = convert(x)", kQuad),
    quads8(kBroadcast, "broadcast_i8x8x4", Dtype::i8, "(x: i8[4]): i32[4] = convert(x)", kQuad),
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __m256i broadcast_8bit_quad(const void* p) noexcept {
  std::int32_t quad;
  __builtin_memcpy(&quad, p, sizeof quad);
  return _mm256_set1_epi32(quad);
}
)";

constinit const Rows avx2_vnni = {.kernels = kKernels, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
