// Rows of two, three and four elements that follow one another, taken apart and put together in
// AVX2 registers: what a tile of few columns is, a picture's colours, or the halves of complex
// numbers. Halves of a register are 16 bytes from two places, so that nothing crosses them.
//
// In threes: 16 bytes of (x y z x y z ..) have x in places of which the next 16 bytes have another
// element, as 3 does not divide how many they are. So all x of three such registers are blended
// into one, in an order that one shuffle mends; and the other way round.
#include "target/tables.h"

namespace morello::kernels {

static constexpr Transpose kTransposes[] = {
    {.name = "interleave_4bytes_2x8",
     .bytes = 4,
     .rows = 2,
     .columns = 8,
     .dense_columns = true,
     .code = "interleave_4bytes_2x8({s0}, {s1}, {d0});"},
    {.name = "interleave_4bytes_3x8",
     .bytes = 4,
     .rows = 3,
     .columns = 8,
     .dense_columns = true,
     .code = "interleave_4bytes_3x8({s0}, {s1}, {s2}, {d0});"},
    {.name = "interleave_4bytes_4x8",
     .bytes = 4,
     .rows = 4,
     .columns = 8,
     .dense_columns = true,
     .code = "interleave_4bytes_4x8({s0}, {s1}, {s2}, {s3}, {d0});"},
    {.name = "deinterleave_4bytes_8x2",
     .bytes = 4,
     .rows = 8,
     .columns = 2,
     .dense_rows = true,
     .code = "deinterleave_4bytes_8x2({s0}, {d0}, {d1});"},
    {.name = "deinterleave_4bytes_8x3",
     .bytes = 4,
     .rows = 8,
     .columns = 3,
     .dense_rows = true,
     .code = "deinterleave_4bytes_8x3({s0}, {d0}, {d1}, {d2});"},
    {.name = "interleave_2bytes_2x8",
     .bytes = 2,
     .rows = 2,
     .columns = 8,
     .dense_columns = true,
     .code = "interleave_2bytes({s0}, {s1}, {d0});",
     .partial = "interleave_2bytes_part({s0}, {s1}, {d0}, {n});"},
    {.name = "interleave_2bytes_3x16",
     .bytes = 2,
     .rows = 3,
     .columns = 16,
     .dense_columns = true,
     .code = "interleave_2bytes_3x16({s0}, {s1}, {s2}, {d0});"},
    {.name = "interleave_2bytes_4x8",
     .bytes = 2,
     .rows = 4,
     .columns = 8,
     .dense_columns = true,
     .code = "interleave_2bytes_4x8({s0}, {s1}, {s2}, {s3}, {d0});",
     .partial = "interleave_2bytes_4x8_part({s0}, {s1}, {s2}, {s3}, {d0}, {n});"},
    {.name = "deinterleave_2bytes_16x2",
     .bytes = 2,
     .rows = 16,
     .columns = 2,
     .dense_rows = true,
     .code = "deinterleave_2bytes_16x2({s0}, {d0}, {d1});"},
    {.name = "deinterleave_2bytes_16x3",
     .bytes = 2,
     .rows = 16,
     .columns = 3,
     .dense_rows = true,
     .code = "deinterleave_2bytes_16x3({s0}, {d0}, {d1}, {d2});"},
    {.name = "deinterleave_2bytes_8x4",
     .bytes = 2,
     .rows = 8,
     .columns = 4,
     .dense_rows = true,
     .code = "deinterleave_2bytes_8x4({s0}, {d0}, {d1}, {d2}, {d3});"},
    {.name = "interleave_1byte_2x16",
     .bytes = 1,
     .rows = 2,
     .columns = 16,
     .dense_columns = true,
     .code = "interleave_1byte({s0}, {s1}, {d0});",
     .partial = "interleave_1byte_part({s0}, {s1}, {d0}, {n});"},
    // The quads of a panel.
    {.name = "interleave_1byte_4x16",
     .bytes = 1,
     .rows = 4,
     .columns = 16,
     .dense_columns = true,
     .code = "interleave_1byte_quads({s0}, {s1}, {s2}, {s3}, {d0});",
     .partial = "interleave_1byte_quads_part({s0}, {s1}, {s2}, {s3}, {d0}, {n});"},
    {.name = "deinterleave_1byte_16x2",
     .bytes = 1,
     .rows = 16,
     .columns = 2,
     .dense_rows = true,
     .code = "deinterleave_1byte_16x2({s0}, {d0}, {d1});"},
    {.name = "deinterleave_1byte_16x3",
     .bytes = 1,
     .rows = 16,
     .columns = 3,
     .dense_rows = true,
     .code = "deinterleave_1byte_16x3({s0}, {d0}, {d1}, {d2});"},
    {.name = "deinterleave_1byte_16x4",
     .bytes = 1,
     .rows = 16,
     .columns = 4,
     .dense_rows = true,
     .code = "deinterleave_1byte_16x4({s0}, {d0}, {d1}, {d2}, {d3});"},
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __m256i load_32(const void* p) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
MORELLO_UNUSED MORELLO_TARGET static inline __m128i load_16(const void* p) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256i load_16_16(const void* p,
                                                               const void* q) noexcept {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load_16(p)), load_16(q), 1);
}
MORELLO_UNUSED MORELLO_TARGET static inline void store_16(void* p, __m128i v) noexcept {
  _mm_storeu_si128(static_cast<__m128i*>(p), v);
}
MORELLO_UNUSED MORELLO_TARGET static inline void store_32(void* p, __m256i v) noexcept {
  _mm256_storeu_si256(static_cast<__m256i*>(p), v);
}
MORELLO_UNUSED MORELLO_TARGET static inline void store_16_16(void* p, void* q,
                                                             __m256i v) noexcept {
  store_16(p, _mm256_castsi256_si128(v));
  store_16(q, _mm256_extracti128_si256(v, 1));
}
MORELLO_UNUSED MORELLO_TARGET static inline void store_8_8(void* p, void* q, __m128i v) noexcept {
  const long long low = _mm_cvtsi128_si64(v), high = _mm_extract_epi64(v, 1);
  __builtin_memcpy(p, &low, sizeof low);
  __builtin_memcpy(q, &high, sizeof high);
}
MORELLO_UNUSED MORELLO_TARGET static inline void store_4_4_4_4(void* p0, void* p1, void* p2,
                                                               void* p3, __m128i v) noexcept {
  const int v0 = _mm_cvtsi128_si32(v), v1 = _mm_extract_epi32(v, 1);
  const int v2 = _mm_extract_epi32(v, 2), v3 = _mm_extract_epi32(v, 3);
  __builtin_memcpy(p0, &v0, sizeof v0);
  __builtin_memcpy(p1, &v1, sizeof v1);
  __builtin_memcpy(p2, &v2, sizeof v2);
  __builtin_memcpy(p3, &v3, sizeof v3);
}
MORELLO_UNUSED MORELLO_TARGET static inline void store_columns(__m128i r0, __m128i r1, __m128i r2,
                                                             __m128i r3, void* d0, void* d1,
                                                             void* d2, void* d3) noexcept {
  const __m128i a = _mm_unpacklo_epi32(r0, r1), b = _mm_unpacklo_epi32(r2, r3);
  const __m128i c = _mm_unpackhi_epi32(r0, r1), d = _mm_unpackhi_epi32(r2, r3);
  store_16(d0, _mm_unpacklo_epi64(a, b));
  store_16(d1, _mm_unpackhi_epi64(a, b));
  store_16(d2, _mm_unpacklo_epi64(c, d));
  store_16(d3, _mm_unpackhi_epi64(c, d));
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256i threes_4bytes(__m256i a, __m256i b,
                                                                  __m256i c) noexcept {
  return _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x22), c, 0x44);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256i threes_2bytes(__m256i a, __m256i b,
                                                                  __m256i c) noexcept {
  return _mm256_blend_epi16(_mm256_blend_epi16(a, b, 0x92), c, 0x24);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m128i threes_1byte(__m128i a, __m128i b,
                                                                 __m128i c) noexcept {
  const __m128i second = _mm_setr_epi8(0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0);
  const __m128i third = _mm_setr_epi8(0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0);
  return _mm_blendv_epi8(_mm_blendv_epi8(a, b, second), c, third);
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_4bytes_2x8(const void* s0,
                                                                       const void* s1,
                                                                       void* d0) noexcept {
  const __m256i r0 = load_32(s0), r1 = load_32(s1);
  const __m256i a = _mm256_unpacklo_epi32(r0, r1), b = _mm256_unpackhi_epi32(r0, r1);
  char* const p = static_cast<char*>(d0);
  store_16_16(p, p + 32, a);
  store_16_16(p + 16, p + 48, b);
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_4bytes_3x8(const void* s0,
                                                                       const void* s1,
                                                                       const void* s2,
                                                                       void* d0) noexcept {
  const __m256i x = _mm256_shuffle_epi32(load_32(s0), 0x6c);
  const __m256i y = _mm256_shuffle_epi32(load_32(s1), 0xb1);
  const __m256i z = _mm256_shuffle_epi32(load_32(s2), 0xc6);
  char* const p = static_cast<char*>(d0);
  store_16_16(p, p + 48, threes_4bytes(x, y, z));
  store_16_16(p + 16, p + 64, threes_4bytes(y, z, x));
  store_16_16(p + 32, p + 80, threes_4bytes(z, x, y));
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_4bytes_4x8(const void* s0,
                                                                       const void* s1,
                                                                       const void* s2,
                                                                       const void* s3,
                                                                       void* d0) noexcept {
  const __m256i r0 = load_32(s0), r1 = load_32(s1), r2 = load_32(s2), r3 = load_32(s3);
  const __m256i a = _mm256_unpacklo_epi32(r0, r1), b = _mm256_unpacklo_epi32(r2, r3);
  const __m256i c = _mm256_unpackhi_epi32(r0, r1), d = _mm256_unpackhi_epi32(r2, r3);
  char* const p = static_cast<char*>(d0);
  store_16_16(p, p + 64, _mm256_unpacklo_epi64(a, b));
  store_16_16(p + 16, p + 80, _mm256_unpackhi_epi64(a, b));
  store_16_16(p + 32, p + 96, _mm256_unpacklo_epi64(c, d));
  store_16_16(p + 48, p + 112, _mm256_unpackhi_epi64(c, d));
}
MORELLO_UNUSED MORELLO_TARGET static inline void deinterleave_4bytes_8x2(
    const void* s0, void* d0, void* d1) noexcept {
  const char* const p = static_cast<const char*>(s0);
  const __m256 a = _mm256_castsi256_ps(load_16_16(p, p + 32));
  const __m256 b = _mm256_castsi256_ps(load_16_16(p + 16, p + 48));
  store_32(d0, _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)));
  store_32(d1, _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)));
}
MORELLO_UNUSED MORELLO_TARGET static inline void deinterleave_4bytes_8x3(
    const void* s0, void* d0, void* d1, void* d2) noexcept {
  const char* const p = static_cast<const char*>(s0);
  const __m256i a = load_16_16(p, p + 48), b = load_16_16(p + 16, p + 64);
  const __m256i c = load_16_16(p + 32, p + 80);
  store_32(d0, _mm256_shuffle_epi32(threes_4bytes(a, c, b), 0x6c));
  store_32(d1, _mm256_shuffle_epi32(threes_4bytes(b, a, c), 0xb1));
  store_32(d2, _mm256_shuffle_epi32(threes_4bytes(c, b, a), 0xc6));
}
MORELLO_UNUSED MORELLO_TARGET static inline void store_bytes(void* p, int n, __m128i v) noexcept {
  unsigned char all[16];
  if (n >= 16) return store_16(p, v);
  store_16(all, v);
  unsigned char* const to = static_cast<unsigned char*>(p);
  if (n >= 8) {
    __builtin_memcpy(to, all, 8);
    __builtin_memcpy(to + n - 8, all + n - 8, 8);
  } else if (n >= 4) {
    __builtin_memcpy(to, all, 4);
    __builtin_memcpy(to + n - 4, all + n - 4, 4);
  } else if (n >= 1) {
    to[0] = all[0];
    if (n >= 2) to[1] = all[1];
    if (n >= 3) to[2] = all[2];
  }
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_2bytes(const void* s0, const void* s1,
                                                                   void* d0) noexcept {
  const __m128i r0 = load_16(s0), r1 = load_16(s1);
  store_16(d0, _mm_unpacklo_epi16(r0, r1));
  store_16(static_cast<char*>(d0) + 16, _mm_unpackhi_epi16(r0, r1));
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_2bytes_part(const void* s0,
                                                                        const void* s1, void* d0,
                                                                        int n) noexcept {
  const __m128i r0 = first_bytes(s0, 2 * n), r1 = first_bytes(s1, 2 * n);
  store_bytes(d0, 4 * n, _mm_unpacklo_epi16(r0, r1));
  store_bytes(static_cast<char*>(d0) + 16, 4 * n - 16, _mm_unpackhi_epi16(r0, r1));
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_2bytes_3x16(
    const void* s0, const void* s1, const void* s2, void* d0) noexcept {
  const __m256i to_x = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15, 4, 5, 10, 11));
  const __m256i to_y = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(10, 11, 0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15, 4, 5));
  const __m256i to_z = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(4, 5, 10, 11, 0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15));
  const __m256i x = _mm256_shuffle_epi8(load_32(s0), to_x);
  const __m256i y = _mm256_shuffle_epi8(load_32(s1), to_y);
  const __m256i z = _mm256_shuffle_epi8(load_32(s2), to_z);
  char* const p = static_cast<char*>(d0);
  store_16_16(p, p + 48, threes_2bytes(x, y, z));
  store_16_16(p + 16, p + 64, threes_2bytes(z, x, y));
  store_16_16(p + 32, p + 80, threes_2bytes(y, z, x));
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_2bytes_4x8(const void* s0,
                                                                       const void* s1,
                                                                       const void* s2,
                                                                       const void* s3,
                                                                       void* d0) noexcept {
  const __m128i r0 = load_16(s0), r1 = load_16(s1), r2 = load_16(s2), r3 = load_16(s3);
  const __m128i a = _mm_unpacklo_epi16(r0, r1), b = _mm_unpacklo_epi16(r2, r3);
  const __m128i c = _mm_unpackhi_epi16(r0, r1), d = _mm_unpackhi_epi16(r2, r3);
  char* const p = static_cast<char*>(d0);
  store_16(p, _mm_unpacklo_epi32(a, b));
  store_16(p + 16, _mm_unpackhi_epi32(a, b));
  store_16(p + 32, _mm_unpacklo_epi32(c, d));
  store_16(p + 48, _mm_unpackhi_epi32(c, d));
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_2bytes_4x8_part(
    const void* s0, const void* s1, const void* s2, const void* s3, void* d0, int n) noexcept {
  const __m128i r0 = first_bytes(s0, 2 * n), r1 = first_bytes(s1, 2 * n);
  const __m128i r2 = first_bytes(s2, 2 * n), r3 = first_bytes(s3, 2 * n);
  const __m128i a = _mm_unpacklo_epi16(r0, r1), b = _mm_unpacklo_epi16(r2, r3);
  const __m128i c = _mm_unpackhi_epi16(r0, r1), d = _mm_unpackhi_epi16(r2, r3);
  char* const p = static_cast<char*>(d0);
  store_bytes(p, 8 * n, _mm_unpacklo_epi32(a, b));
  store_bytes(p + 16, 8 * n - 16, _mm_unpackhi_epi32(a, b));
  store_bytes(p + 32, 8 * n - 32, _mm_unpacklo_epi32(c, d));
  store_bytes(p + 48, 8 * n - 48, _mm_unpackhi_epi32(c, d));
}
MORELLO_UNUSED MORELLO_TARGET static inline void deinterleave_2bytes_16x2(
    const void* s0, void* d0, void* d1) noexcept {
  const char* const p = static_cast<const char*>(s0);
  const __m256i a = load_16_16(p, p + 32), b = load_16_16(p + 16, p + 48);
  const __m256i zero = _mm256_setzero_si256();
  store_32(d0, _mm256_packus_epi32(_mm256_blend_epi16(a, zero, 0xaa),
                                   _mm256_blend_epi16(b, zero, 0xaa)));
  store_32(d1, _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16)));
}
MORELLO_UNUSED MORELLO_TARGET static inline void deinterleave_2bytes_16x3(
    const void* s0, void* d0, void* d1, void* d2) noexcept {
  const __m256i from_x = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15, 4, 5, 10, 11));
  const __m256i from_y = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(2, 3, 8, 9, 14, 15, 4, 5, 10, 11, 0, 1, 6, 7, 12, 13));
  const __m256i from_z = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(4, 5, 10, 11, 0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15));
  const char* const p = static_cast<const char*>(s0);
  const __m256i a = load_16_16(p, p + 48), b = load_16_16(p + 16, p + 64);
  const __m256i c = load_16_16(p + 32, p + 80);
  store_32(d0, _mm256_shuffle_epi8(threes_2bytes(a, b, c), from_x));
  store_32(d1, _mm256_shuffle_epi8(threes_2bytes(c, a, b), from_y));
  store_32(d2, _mm256_shuffle_epi8(threes_2bytes(b, c, a), from_z));
}
MORELLO_UNUSED MORELLO_TARGET static inline void deinterleave_2bytes_8x4(
    const void* s0, void* d0, void* d1, void* d2, void* d3) noexcept {
  const char* const p = static_cast<const char*>(s0);
  const __m128i r0 = load_16(p), r1 = load_16(p + 16), r2 = load_16(p + 32), r3 = load_16(p + 48);
  const __m128i a = _mm_unpacklo_epi16(r0, r1), b = _mm_unpackhi_epi16(r0, r1);
  const __m128i c = _mm_unpacklo_epi16(r2, r3), d = _mm_unpackhi_epi16(r2, r3);
  const __m128i low_a = _mm_unpacklo_epi16(a, b), low_c = _mm_unpacklo_epi16(c, d);
  const __m128i high_a = _mm_unpackhi_epi16(a, b), high_c = _mm_unpackhi_epi16(c, d);
  store_16(d0, _mm_unpacklo_epi64(low_a, low_c));
  store_16(d1, _mm_unpackhi_epi64(low_a, low_c));
  store_16(d2, _mm_unpacklo_epi64(high_a, high_c));
  store_16(d3, _mm_unpackhi_epi64(high_a, high_c));
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_1byte(const void* s0, const void* s1,
                                                                  void* d0) noexcept {
  const __m128i r0 = load_16(s0), r1 = load_16(s1);
  store_16(d0, _mm_unpacklo_epi8(r0, r1));
  store_16(static_cast<char*>(d0) + 16, _mm_unpackhi_epi8(r0, r1));
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_1byte_part(const void* s0,
                                                                       const void* s1, void* d0,
                                                                       int n) noexcept {
  const __m128i r0 = first_bytes(s0, n), r1 = first_bytes(s1, n);
  store_bytes(d0, 2 * n, _mm_unpacklo_epi8(r0, r1));
  store_bytes(static_cast<char*>(d0) + 16, 2 * n - 16, _mm_unpackhi_epi8(r0, r1));
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_1byte_quads(const void* s0,
                                                                        const void* s1,
                                                                        const void* s2,
                                                                        const void* s3,
                                                                        void* d0) noexcept {
  const __m128i r0 = load_16(s0), r1 = load_16(s1), r2 = load_16(s2), r3 = load_16(s3);
  const __m128i a = _mm_unpacklo_epi8(r0, r1), b = _mm_unpacklo_epi8(r2, r3);
  const __m128i c = _mm_unpackhi_epi8(r0, r1), d = _mm_unpackhi_epi8(r2, r3);
  char* const p = static_cast<char*>(d0);
  store_16(p, _mm_unpacklo_epi16(a, b));
  store_16(p + 16, _mm_unpackhi_epi16(a, b));
  store_16(p + 32, _mm_unpacklo_epi16(c, d));
  store_16(p + 48, _mm_unpackhi_epi16(c, d));
}
MORELLO_UNUSED MORELLO_TARGET static inline void interleave_1byte_quads_part(
    const void* s0, const void* s1, const void* s2, const void* s3, void* d0, int n) noexcept {
  const __m128i r0 = first_bytes(s0, n), r1 = first_bytes(s1, n);
  const __m128i r2 = first_bytes(s2, n), r3 = first_bytes(s3, n);
  const __m128i a = _mm_unpacklo_epi8(r0, r1), b = _mm_unpacklo_epi8(r2, r3);
  const __m128i c = _mm_unpackhi_epi8(r0, r1), d = _mm_unpackhi_epi8(r2, r3);
  char* const p = static_cast<char*>(d0);
  store_bytes(p, 4 * n, _mm_unpacklo_epi16(a, b));
  store_bytes(p + 16, 4 * n - 16, _mm_unpackhi_epi16(a, b));
  store_bytes(p + 32, 4 * n - 32, _mm_unpacklo_epi16(c, d));
  store_bytes(p + 48, 4 * n - 48, _mm_unpackhi_epi16(c, d));
}
MORELLO_UNUSED MORELLO_TARGET static inline void deinterleave_1byte_16x2(
    const void* s0, void* d0, void* d1) noexcept {
  const char* const p = static_cast<const char*>(s0);
  const __m128i a = load_16(p), b = load_16(p + 16), low = _mm_set1_epi16(0xff);
  store_16(d0, _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low)));
  store_16(d1, _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
}
MORELLO_UNUSED MORELLO_TARGET static inline void deinterleave_1byte_16x3(
    const void* s0, void* d0, void* d1, void* d2) noexcept {
  const __m128i from_x = _mm_setr_epi8(0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13);
  const __m128i from_y = _mm_setr_epi8(1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14);
  const __m128i from_z = _mm_setr_epi8(2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15);
  const char* const p = static_cast<const char*>(s0);
  const __m128i a = load_16(p), b = load_16(p + 16), c = load_16(p + 32);
  store_16(d0, _mm_shuffle_epi8(threes_1byte(a, c, b), from_x));
  store_16(d1, _mm_shuffle_epi8(threes_1byte(b, a, c), from_y));
  store_16(d2, _mm_shuffle_epi8(threes_1byte(c, b, a), from_z));
}
MORELLO_UNUSED MORELLO_TARGET static inline void deinterleave_1byte_16x4(
    const void* s0, void* d0, void* d1, void* d2, void* d3) noexcept {
  const __m128i fours = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const char* const p = static_cast<const char*>(s0);
  const __m128i r0 = _mm_shuffle_epi8(load_16(p), fours);
  const __m128i r1 = _mm_shuffle_epi8(load_16(p + 16), fours);
  const __m128i r2 = _mm_shuffle_epi8(load_16(p + 32), fours);
  const __m128i r3 = _mm_shuffle_epi8(load_16(p + 48), fours);
  store_columns(r0, r1, r2, r3, d0, d1, d2, d3);
}
)";

constinit const Rows avx2_interleave = {
    .kernels = {}, .accesses = {}, .transposes = kTransposes, .prelude = kPrelude};

}  // namespace morello::kernels
