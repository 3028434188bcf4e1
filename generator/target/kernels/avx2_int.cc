// AVX2 integer arithmetic. 8-bit products go through 16-bit pairs: vpmaddwd multiplies 16 pairs and
// adds neighbours into 8 sums of 32 bits, exactly (the saturating vpmaddubsw is not exact). Its
// inputs are registers of i16 with a group of two reduction elements per 32-bit lane, whatever
// the 8-bit type in memory was; the language has no i16 matmul, so `implements` names the 8-bit
// one. Of the exact forms that were tried, 2 instructions for 16 products are the fewest: weights
// in two halves of 4 bits, which vpmaddubsw cannot saturate, take 35 for 256 (147 Gop/s for 162).
#include "target/tables.h"

namespace morello::kernels {

static constexpr Kernel kKernels[] = {
    {.name = "madd_i16x16",
     .implements = "(a: u8[1,2], b: i8[2,8]): i32[1,8] = matmul(a, b)",
     .lanes = 8,
     .group = 2,
     .input = Dtype::i16,
     .output = Dtype::i32,
     .code = "{c} = _mm256_add_epi32({c}, _mm256_madd_epi16({a}, {b}));",
     .uops = {.fma = 1, .alu = 1},
     .latency = 1,
     .temps = 1},
    {.name = "dot_i16x16",
     .implements = "(a: u8[1,16], b: i8[16,1]): i32[1,1] = matmul(a, b)",
     .lanes = 8,
     .group = 2,
     .lanes_reduce = true,
     .input = Dtype::i16,
     .output = Dtype::i32,
     .code = "{c} = _mm256_add_epi32({c}, _mm256_madd_epi16({a}, {b}));",
     .finish = "{s} = hsum_i32x8({c});",
     .uops = {.fma = 1, .alu = 1},
     .latency = 1,
     .temps = 1},
    // Needs no pairs, hence no packing; vpmulld is two multiplies on most cores.
    {.name = "mac_i32x8",
     .implements = "(a: u8[1,1], b: i8[1,8]): i32[1,8] = matmul(a, b)",
     .lanes = 8,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32,
     .code = "{c} = _mm256_add_epi32({c}, _mm256_mullo_epi32({a}, {b}));",
     .uops = {.fma = 2, .alu = 1},
     .latency = 1,
     .temps = 1},
    {.name = "map_i32x8",
     .implements = "(a: i32[8]): i32[8] = convert(a)",
     .lanes = 8,
     .maps = true,
     .input = Dtype::i32,
     .output = Dtype::i32},
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline std::int32_t hsum_i32x8(__m256i v) noexcept {
  const __m128i q = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  const __m128i d = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(d, _mm_shuffle_epi32(d, 0xb1)));
}
)";

constinit const Rows avx2_int = {.kernels = kKernels, .accesses = {}, .prelude = kPrelude};

}  // namespace morello::kernels
