// Products of bf16 where the CPU has AVX512_BF16: vdpbf16ps multiplies 32 pairs and adds two
// neighbours each to 16 sums of f32. Products are exact and each addition rounds to nearest even,
// as with f32; but subnormal numbers count as 0, whether inputs, products or sums (docs/spec.md).
// vcvtneps2bf16 rounds as we do elsewhere by eight instructions, but to 0 what is subnormal. (Zen
// 5, in caches, of the time of those: relu of bf16 0.61, layer_norm 0.60, gelu_tanh 0.81, a product
// 708x11 by 11x421 to bf16 0.72. To look for subnormal numbers and branch took as long as those.)
// How many a core starts is the machine file's matter: two a cycle on Zen 5, one in two cycles, at
// a latency of 8, on a Granite Rapids, which has AMX for the same.
#include "target/tables.h"

namespace morello::kernels {

using enum Access::Kind;

// Adds to c where it is (avx2_f32.cc).
static constexpr std::string_view kDp =
    R"(__asm__("vdpbf16ps %2, %1, %0" : "+v"({c}) : "v"({a}), "v"({b}));)";

static constexpr Kernel kKernels[] = {
    {.name = "dp_bf16x32",
     .implements = "(a: bf16[1,2], b: bf16[2,16]): f32[1,16] = matmul(a, b)",
     .lanes = 16,
     .group = 2,
     .input = Dtype::bf16,
     .output = Dtype::f32,
     .code = kDp,
     .uops = {.bf16 = 1},
     .latency = 6},
    {.name = "dot_bf16x32",
     .implements = "(a: bf16[1,32], b: bf16[32,1]): f32[1,1] = matmul(a, b)",
     .lanes = 16,
     .group = 2,
     .lanes_reduce = true,
     .input = Dtype::bf16,
     .output = Dtype::f32,
     .code = kDp,
     .finish = "{s} = hsum_f32x16({c});",
     .uops = {.bf16 = 1},
     .latency = 6},
};

static constexpr Access kAccesses[] = {
    {.name = "load_pairs_bf16x16x2",
     .implements = "(x: bf16[32]): f32[32] = convert(x)",
     .kind = kVector,
     .memory = Dtype::bf16,
     .reg = Dtype::bf16,
     .lanes = 16,
     .group = 2,
     .code = "{r0} = _mm512_loadu_si512({p});",
     .uops = {.load = 1},
     .partial = "{r0} = _mm512_maskz_loadu_epi16(first_32({count}), {p});",
     .partial_uops = {.alu = 1, .load = 1}},
    {.name = "broadcast_pair_bf16x16x2",
     .implements = "(x: bf16[2]): f32[2] = convert(x)",
     .kind = kBroadcast,
     .memory = Dtype::bf16,
     .reg = Dtype::bf16,
     .lanes = 16,
     .group = 2,
     .code = "{r0} = broadcast_16bit_pair({p});",
     .uops = {.load = 1}},
    {.name = "round_bf16x16",
     .implements = "(x: f32[16]): bf16[16] = convert(x)",
     .kind = kStore,
     .memory = Dtype::bf16,
     .reg = Dtype::f32,
     .lanes = 16,
     .code = "_mm256_storeu_si256(reinterpret_cast<__m256i*>({p}), round_f32x16_to_bf16({r0}));",
     .uops = {.alu = 2, .shuffle = 1, .store = 1},
     .partial = "_mm256_mask_storeu_epi16({p}, first_16({count}), round_f32x16_to_bf16({r0}));",
     .partial_uops = {.alu = 3, .shuffle = 1, .store = 1},
     .streamed = "stream_256({p}, round_f32x16_to_bf16({r0}));",
     .streamed_alignment = 16,
     .flushes = true},
    {.name = "round_bf16x8",
     .implements = "(x: f32[8]): bf16[8] = convert(x)",
     .kind = kStore,
     .memory = Dtype::bf16,
     .reg = Dtype::f32,
     .lanes = 8,
     .code = "_mm_storeu_si128(reinterpret_cast<__m128i*>({p}), round_f32x8_to_bf16({r0}));",
     .uops = {.alu = 2, .shuffle = 1, .store = 1},
     .streamed = "_mm_stream_si128(reinterpret_cast<__m128i*>({p}), round_f32x8_to_bf16({r0}));",
     .streamed_alignment = 16,
     .flushes = true},
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __m256i round_f32x16_to_bf16(__m512 v) noexcept {
  __m256i out;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(out) : "v"(v));
  return out;
}
MORELLO_UNUSED MORELLO_TARGET static inline __m128i round_f32x8_to_bf16(__m256 v) noexcept {
  __m128i out;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(out) : "v"(v));
  return out;
}
MORELLO_UNUSED MORELLO_TARGET static inline __m512i broadcast_16bit_pair(const void* p) noexcept {
  std::int32_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return _mm512_set1_epi32(pair);
}
)";

constinit const Rows avx512_bf16 = {
    .kernels = kKernels, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
