// Transpositions in AVX2 registers. Rows i and i + 4 share a register, one in either half (the
// load that inserts the upper half needs no shuffle), so that no unpacking crosses halves. Columns
// of six are stored as eight where the store of the next column puts the last two right. Loads and
// stores are those of avx2_interleave.cc.
#include "target/tables.h"

namespace morello::kernels {

static constexpr Transpose kTransposes[] = {
    {.name = "transpose_4bytes_8x4",
     .bytes = 4,
     .rows = 8,
     .columns = 4,
     .code = "transpose_4bytes_8x4({s0}, {s1}, {s2}, {s3}, {s4}, {s5}, {s6}, "
             "{s7},\n"
             "                     {d0}, {d1}, {d2}, {d3});"},
    {.name = "transpose_4bytes_6x4_dense",
     .bytes = 4,
     .rows = 6,
     .columns = 4,
     .dense_columns = true,
     .code = "transpose_4bytes_6x4_dense({s0}, {s1}, {s2}, {s3}, {s4}, {s5}, {d0});"},
    {.name = "transpose_4bytes_4x4",
     .bytes = 4,
     .rows = 4,
     .columns = 4,
     .code = "transpose_4bytes_4x4({s0}, {s1}, {s2}, {s3}, {d0}, {d1}, {d2}, "
             "{d3});"},
    {.name = "transpose_4bytes_2x4",
     .bytes = 4,
     .rows = 2,
     .columns = 4,
     .code = "transpose_4bytes_2x4({s0}, {s1}, {d0}, {d1}, {d2}, {d3});"},
    {.name = "transpose_2bytes_8x8",
     .bytes = 2,
     .rows = 8,
     .columns = 8,
     .code = "transpose_2bytes_8x8({s0}, {s1}, {s2}, {s3}, {s4}, {s5}, {s6}, "
             "{s7},\n"
             "                     {d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, "
             "{d7});"},
    {.name = "transpose_2bytes_4x8",
     .bytes = 2,
     .rows = 4,
     .columns = 8,
     .code = "transpose_2bytes_4x8({s0}, {s1}, {s2}, {s3},\n"
             "                     {d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, "
             "{d7});"},
    {.name = "transpose_2bytes_2x8",
     .bytes = 2,
     .rows = 2,
     .columns = 8,
     .code = "transpose_2bytes_2x8({s0}, {s1},\n"
             "                     {d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, "
             "{d7});"},
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline void transpose_4bytes_8x4(
    const void* s0, const void* s1, const void* s2, const void* s3, const void* s4, const void* s5,
    const void* s6, const void* s7, void* d0, void* d1, void* d2, void* d3) noexcept {
  const __m256i r0 = load_16_16(s0, s4), r1 = load_16_16(s1, s5);
  const __m256i r2 = load_16_16(s2, s6), r3 = load_16_16(s3, s7);
  const __m256i a = _mm256_unpacklo_epi32(r0, r1), b = _mm256_unpacklo_epi32(r2, r3);
  const __m256i c = _mm256_unpackhi_epi32(r0, r1), d = _mm256_unpackhi_epi32(r2, r3);
  store_32(d0, _mm256_unpacklo_epi64(a, b));
  store_32(d1, _mm256_unpackhi_epi64(a, b));
  store_32(d2, _mm256_unpacklo_epi64(c, d));
  store_32(d3, _mm256_unpackhi_epi64(c, d));
}
MORELLO_UNUSED MORELLO_TARGET static inline void transpose_4bytes_6x4_dense(
    const void* s0, const void* s1, const void* s2, const void* s3, const void* s4, const void* s5,
    void* d0) noexcept {
  const __m256i r0 = load_16_16(s0, s4), r1 = load_16_16(s1, s5);
  const __m256i r2 = _mm256_castsi128_si256(load_16(s2));
  const __m256i r3 = _mm256_castsi128_si256(load_16(s3));
  const __m256i a = _mm256_unpacklo_epi32(r0, r1), b = _mm256_unpacklo_epi32(r2, r3);
  const __m256i c = _mm256_unpackhi_epi32(r0, r1), d = _mm256_unpackhi_epi32(r2, r3);
  const __m256i last = _mm256_unpackhi_epi64(c, d);
  char* const p = static_cast<char*>(d0);
  store_32(p, _mm256_unpacklo_epi64(a, b));
  store_32(p + 24, _mm256_unpackhi_epi64(a, b));
  store_32(p + 48, _mm256_unpacklo_epi64(c, d));
  store_16(p + 72, _mm256_castsi256_si128(last));
  const long long end = _mm_cvtsi128_si64(_mm256_extracti128_si256(last, 1));
  __builtin_memcpy(p + 88, &end, sizeof end);
}
MORELLO_UNUSED MORELLO_TARGET static inline void transpose_4bytes_4x4(
    const void* s0, const void* s1, const void* s2, const void* s3, void* d0, void* d1, void* d2,
    void* d3) noexcept {
  const __m128i r0 = load_16(s0), r1 = load_16(s1), r2 = load_16(s2), r3 = load_16(s3);
  store_columns(r0, r1, r2, r3, d0, d1, d2, d3);
}
MORELLO_UNUSED MORELLO_TARGET static inline void transpose_4bytes_2x4(
    const void* s0, const void* s1, void* d0, void* d1, void* d2, void* d3) noexcept {
  const __m128i r0 = load_16(s0), r1 = load_16(s1);
  store_8_8(d0, d1, _mm_unpacklo_epi32(r0, r1));
  store_8_8(d2, d3, _mm_unpackhi_epi32(r0, r1));
}
MORELLO_UNUSED MORELLO_TARGET static inline void transpose_2bytes_8x8(
    const void* s0, const void* s1, const void* s2, const void* s3, const void* s4, const void* s5,
    const void* s6, const void* s7, void* d0, void* d1, void* d2, void* d3, void* d4, void* d5,
    void* d6, void* d7) noexcept {
  const __m256i r0 = load_16_16(s0, s4), r1 = load_16_16(s1, s5);
  const __m256i r2 = load_16_16(s2, s6), r3 = load_16_16(s3, s7);
  const __m256i a = _mm256_unpacklo_epi16(r0, r1), b = _mm256_unpacklo_epi16(r2, r3);
  const __m256i c = _mm256_unpackhi_epi16(r0, r1), d = _mm256_unpackhi_epi16(r2, r3);
  store_16_16(d0, d1, _mm256_permute4x64_epi64(_mm256_unpacklo_epi32(a, b), 0xd8));
  store_16_16(d2, d3, _mm256_permute4x64_epi64(_mm256_unpackhi_epi32(a, b), 0xd8));
  store_16_16(d4, d5, _mm256_permute4x64_epi64(_mm256_unpacklo_epi32(c, d), 0xd8));
  store_16_16(d6, d7, _mm256_permute4x64_epi64(_mm256_unpackhi_epi32(c, d), 0xd8));
}
MORELLO_UNUSED MORELLO_TARGET static inline void transpose_2bytes_4x8(
    const void* s0, const void* s1, const void* s2, const void* s3, void* d0, void* d1, void* d2,
    void* d3, void* d4, void* d5, void* d6, void* d7) noexcept {
  const __m128i r0 = load_16(s0), r1 = load_16(s1), r2 = load_16(s2), r3 = load_16(s3);
  const __m128i a = _mm_unpacklo_epi16(r0, r1), b = _mm_unpacklo_epi16(r2, r3);
  const __m128i c = _mm_unpackhi_epi16(r0, r1), d = _mm_unpackhi_epi16(r2, r3);
  store_8_8(d0, d1, _mm_unpacklo_epi32(a, b));
  store_8_8(d2, d3, _mm_unpackhi_epi32(a, b));
  store_8_8(d4, d5, _mm_unpacklo_epi32(c, d));
  store_8_8(d6, d7, _mm_unpackhi_epi32(c, d));
}
MORELLO_UNUSED MORELLO_TARGET static inline void transpose_2bytes_2x8(
    const void* s0, const void* s1, void* d0, void* d1, void* d2, void* d3, void* d4, void* d5,
    void* d6, void* d7) noexcept {
  const __m128i r0 = load_16(s0), r1 = load_16(s1);
  store_4_4_4_4(d0, d1, d2, d3, _mm_unpacklo_epi16(r0, r1));
  store_4_4_4_4(d4, d5, d6, d7, _mm_unpackhi_epi16(r0, r1));
}
)";

constinit const Rows avx2_transpose = {
    .kernels = {}, .accesses = {}, .transposes = kTransposes, .prelude = kPrelude};

}  // namespace morello::kernels
