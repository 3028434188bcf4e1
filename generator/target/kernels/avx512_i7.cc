// What avx2_i7.cc has, in twice the width: products of u8 and i7 for a CPU with AVX-512 that has no
// VNNI, and quads of u8.
#include "target/kernels/avx512_quads.h"
#include "target/kernels/i7.h"

namespace morello::kernels {

using enum Access::Kind;

static constexpr std::string_view kByWeights =
    "{c} = _mm512_add_epi32({c}, _mm512_madd_epi16(_mm512_maddubs_epi16({a}, {b}), "
    "_mm512_set1_epi16(1)));";
static constexpr std::string_view kWeightsBy =
    "{c} = _mm512_add_epi32({c}, _mm512_madd_epi16(_mm512_maddubs_epi16({b}, {a}), "
    "_mm512_set1_epi16(1)));";
static constexpr std::string_view kSum = "{s} = hsum_i32x16({c});";

static constexpr Kernel kKernels[] = {
    i7_quads(16, "maddubs_u8i7x64", "(a: u8[1,4], b: i7[4,16]): i32[1,16] = matmul(a, b)",
             Dtype::u8, Dtype::i7, kByWeights),
    i7_quads(16, "maddubs_i7u8x64", "(a: i7[1,4], b: u8[4,16]): i32[1,16] = matmul(a, b)",
             Dtype::i7, Dtype::u8, kWeightsBy),
    i7_quads(16, "dot_u8i7x64", "(a: u8[1,64], b: i7[64,1]): i32[1,1] = matmul(a, b)", Dtype::u8,
             Dtype::i7, kByWeights, kSum),
    i7_quads(16, "dot_i7u8x64", "(a: i7[1,64], b: u8[64,1]): i32[1,1] = matmul(a, b)", Dtype::i7,
             Dtype::u8, kWeightsBy, kSum),
};

static constexpr Access kAccesses[] = {
    quads16(kVector, "load_u8x16x4", Dtype::u8, "(x: u8[64]): i32[64] = convert(x)"),
    quads16(kVector, "load_i7x16x4", Dtype::i7, "(x: i7[64]): i32[64] = convert(x)"),
    quads16(kBroadcast, "broadcast_u8x16x4", Dtype::u8, "(x: u8[4]): i32[4] = convert(x)"),
    quads16(kBroadcast, "broadcast_i7x16x4", Dtype::i7, "(x: i7[4]): i32[4] = convert(x)"),
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __mmask64 first_64(std::ptrdiff_t n) noexcept {
  return n >= 64 ? ~static_cast<__mmask64>(0) : (static_cast<__mmask64>(1) << n) - 1u;
}
MORELLO_UNUSED MORELLO_TARGET static inline __m512i broadcast_8bit_quad_x16(const void* p) noexcept {
  std::int32_t quad;
  __builtin_memcpy(&quad, p, sizeof quad);
  return _mm512_set1_epi32(quad);
}
)";

constinit const Rows avx512_i7 = {.kernels = kKernels, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
