// Products of u8 and i7 where the CPU has no VNNI: vpmaddubsw multiplies 32 pairs and adds
// neighbours in 16 bits, which hold 2 * 255 * 64; vpmaddwd by ones adds neighbours of these into 8
// sums of 32 bits. Three instructions for 32 products, where bytes of eight bits take four. And
// quads of u8, for VNNI too.
#include "target/kernels/avx2_quads.h"
#include "target/kernels/i7.h"

namespace morello::kernels {

using enum Access::Kind;

static constexpr std::string_view kByWeights =
    "{c} = _mm256_add_epi32({c}, _mm256_madd_epi16(_mm256_maddubs_epi16({a}, {b}), "
    "_mm256_set1_epi16(1)));";
static constexpr std::string_view kWeightsBy =
    "{c} = _mm256_add_epi32({c}, _mm256_madd_epi16(_mm256_maddubs_epi16({b}, {a}), "
    "_mm256_set1_epi16(1)));";
static constexpr std::string_view kSum = "{s} = hsum_i32x8({c});";

static constexpr Kernel kKernels[] = {
    i7_quads(8, "maddubs_u8i7x32", "(a: u8[1,4], b: i7[4,8]): i32[1,8] = matmul(a, b)", Dtype::u8,
             Dtype::i7, kByWeights),
    i7_quads(8, "maddubs_i7u8x32", "(a: i7[1,4], b: u8[4,8]): i32[1,8] = matmul(a, b)", Dtype::i7,
             Dtype::u8, kWeightsBy),
    i7_quads(8, "dot_u8i7x32", "(a: u8[1,32], b: i7[32,1]): i32[1,1] = matmul(a, b)", Dtype::u8,
             Dtype::i7, kByWeights, kSum),
    i7_quads(8, "dot_i7u8x32", "(a: i7[1,32], b: u8[32,1]): i32[1,1] = matmul(a, b)", Dtype::i7,
             Dtype::u8, kWeightsBy, kSum),
};

static constexpr Access kAccesses[] = {
    quads8(kVector, "load_u8x8x4", Dtype::u8, "(x: u8[32]): i32[32] = convert(x)"),
    quads8(kVector, "load_i7x8x4", Dtype::i7, "(x: i7[32]): i32[32] = convert(x)"),
    quads8(kBroadcast, "broadcast_u8x8x4", Dtype::u8, "(x: u8[4]): i32[4] = convert(x)"),
    quads8(kBroadcast, "broadcast_i7x8x4", Dtype::i7, "(x: i7[4]): i32[4] = convert(x)"),
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __m256i broadcast_8bit_quad(const void* p) noexcept {
  std::int32_t quad;
  __builtin_memcpy(&quad, p, sizeof quad);
  return _mm256_set1_epi32(quad);
}
)";

constinit const Rows avx2_i7 = {.kernels = kKernels, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
