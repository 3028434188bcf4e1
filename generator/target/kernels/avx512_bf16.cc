// Products of bf16 where the CPU has AVX512_BF16: vdpbf16ps multiplies 32 pairs and adds two
// neighbours each to 16 sums of f32. Products are exact and each addition rounds to nearest even,
// as with f32; but subnormal numbers count as 0, whether inputs, products or sums (docs/spec.md).
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
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __m512i broadcast_16bit_pair(const void* p) noexcept {
  std::int32_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return _mm512_set1_epi32(pair);
}
)";

constinit const Rows avx512_bf16 = {
    .kernels = kKernels, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
