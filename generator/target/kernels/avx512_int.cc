// AVX-512 integer arithmetic (F and BW). Everything is what avx2_int.cc has in twice the width:
// 8-bit products as exact sums of 16-bit pairs, whose registers are of i16 whatever the 8-bit type
// was.
#include "target/tables.h"

namespace morello::kernels {

static constexpr Kernel kKernels[] = {
    {.name = "madd_i16x32",
     .implements = "(a: u8[1,2], b: i8[2,16]): i32[1,16] = matmul(a, b)",
     .lanes = 16,
     .group = 2,
     .input = Dtype::i16,
     .output = Dtype::i32,
     .code = "{c} = _mm512_add_epi32({c}, _mm512_madd_epi16({a}, {b}));",
     .uops = {.fma = 1, .alu = 1},
     .latency = 1,
     .temps = 1},
    {.name = "dot_i16x32",
     .implements = "(a: u8[1,32], b: i8[32,1]): i32[1,1] = matmul(a, b)",
     .lanes = 16,
     .group = 2,
     .lanes_reduce = true,
     .input = Dtype::i16,
     .output = Dtype::i32,
     .code = "{c} = _mm512_add_epi32({c}, _mm512_madd_epi16({a}, {b}));",
     .finish = "{s} = hsum_i32x16({c});",
     .uops = {.fma = 1, .alu = 1},
     .latency = 1,
     .temps = 1},
    // Needs no pairs, hence no packing; vpmulld is two multiplies on most cores.
    {.name = "mac_i32x16",
     .implements = "(a: u8[1,1], b: i8[1,16]): i32[1,16] = matmul(a, b)",
     .lanes = 16,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm512_add_epi32({c}, _mm512_mullo_epi32({a}, {b}));",
     .uops = {.fma = 2, .alu = 1},
     .latency = 1,
     .temps = 1},
    {.name = "map_i32x16",
     .implements = "(a: i32[16]): i32[16] = convert(a)",
     .lanes = 16,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32},
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline std::int32_t hsum_i32x16(__m512i v) noexcept {
  const __m256i low = _mm512_maskz_extracti64x4_epi64(0xf, v, 0);
  const __m256i high = _mm512_maskz_extracti64x4_epi64(0xf, v, 1);
  const __m256i o = _mm256_add_epi32(low, high);
  const __m128i q = _mm_add_epi32(_mm256_castsi256_si128(o), _mm256_extracti128_si256(o, 1));
  const __m128i d = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(d, _mm_shuffle_epi32(d, 0xb1)));
}
)";

constinit const Rows avx512_int = {.kernels = kKernels, .accesses = {}, .prelude = kPrelude};

}  // namespace morello::kernels
