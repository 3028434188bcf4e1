// How AVX2 registers are filled from memory and stored. A load that widens costs a shuffle
// (vpmovzx, vpmovsx) beside the load; a broadcast of 32 bits is free with the load.
#include "target/tables.h"

namespace morello::kernels {

using enum Access::Kind;

// A row for one element per 32-bit lane.
static constexpr Access lanes8(Access::Kind kind, std::string_view name, Dtype memory, Dtype reg,
                               std::string_view implements, std::string_view code, Uops uops) {
  return {.name = name,
          .implements = implements,
          .kind = kind,
          .memory = memory,
          .reg = reg,
          .lanes = 8,
          .code = code,
          .uops = uops};
}

// A row of i16 pairs: two consecutive elements per 32-bit lane.
static constexpr Access pairs8(Access::Kind kind, std::string_view name, Dtype memory,
                               std::string_view implements, std::string_view code, Uops uops) {
  Access a = lanes8(kind, name, memory, Dtype::i16, implements, code, uops);
  a.group = 2;
  return a;
}

// Of 32-bit elements a load can be masked: no lane that is off is read or faults.
static constexpr Access maskable(Access a, std::string_view partial) {
  a.partial = partial;
  a.partial_uops = {.alu = a.uops.alu + 1, .load = a.uops.load};
  return a;
}

// A masked store is one or two cycles on Intel's cores and twelve on AMD's, whatever the mask (Zen
// 3, vmaskmovps, measured): the first elements go in parts of 16, 8 and 4 bytes, three at the most.
static constexpr Access stored_in_parts(Access a, std::string_view partial) {
  a.partial = partial;
  a.partial_uops = {.alu = a.uops.alu + 1, .shuffle = 1, .store = 2 * a.uops.store};
  return a;
}

// Smaller elements cannot be masked: first_bytes() brings a part of 16 bytes by two loads that
// overlap, or less. (G: bf16 1x512x401 by rows, one partial vector in 51: 9.4 us; by way of a local
// array 18, because a load of 16 bytes waits for the smaller stores before it. 1x512x400: 9.3.)
static constexpr Access in_parts(Access a, std::string_view partial) {
  a.partial = partial;
  a.partial_uops = a.uops;
  a.partial_uops.alu += 3;
  a.partial_uops.load += 1;
  return a;
}

// Its constants stay in registers where these suffice; leaves that have none left load them at
// every use, by another row. (GCC 12 would rather keep a sum on the stack: of twelve sums, two
// vectors of b, one of a and the constant that widens bf16, one sum was stored and loaded every
// four steps; a step took 6.5 cycles for 6.0. Where registers are free, loading it costs: 1x640x512
// of bf16 by AVX2, b in L2, 1.21 of the time.)
static constexpr Access spared(Access a, int constants, std::string_view crowded) {
  a.constants = constants;
  a.crowded = crowded;
  return a;
}

static constexpr Access stand_in(Access a) {
  a.stands_in = true;
  return a;
}

// Past the caches in pieces of 16 bytes, which is what allocators align: the pieces of a line meet
// in a buffer of the core before they leave. (G: as fast as pieces of 32; avx512_access.cc.)
static constexpr Access streamed(Access a, std::string_view code) {
  a.streamed = code;
  a.streamed_alignment = 16;
  return a;
}

// Sixteen packed bf16: even positions in {r0}, odd ones in {r1}. Two cheap operations for 16
// elements where widening in order takes four; the order is undone by whoever packed the operand.
// The mask is a constant in a register. GCC 12 would load twice, the second time as an operand of
// the `and`, which splits in two where the address has an index: bf16 1x640 by 640x512 by columns,
// in L2, 11.8 us, and 9.9 us with the vector held in a register (Granite Rapids); no slower with
// Clang.
static constexpr Access kSplitBf16 = {
    .name = "load_bf16x8x2",
    .implements = "(x: bf16[16]): f32[16] = convert(x)",
    .kind = kVector,
    .memory = Dtype::bf16,
    .reg = Dtype::f32,
    .lanes = 8,
    .regs = 2,
    .code =
        "__m256i {t} = _mm256_loadu_si256(reinterpret_cast<const __m256i*>({p}));\n"
        "__asm__(\"\" : \"+x\"({t}));\n"
        "{r0} = _mm256_castsi256_ps(_mm256_slli_epi32({t}, 16));\n"
        "{r1} = _mm256_castsi256_ps(_mm256_and_si256({t}, _mm256_set1_epi32(-65536)));",
    .uops = {.alu = 2, .load = 1},
    .temps = 1,
    .partial =
        "const __m256i {t} = first_bytes_32({p}, 2 * {n});\n"
        "{r0} = _mm256_castsi256_ps(_mm256_slli_epi32({t}, 16));\n"
        "{r1} = _mm256_castsi256_ps(_mm256_and_si256({t}, _mm256_set1_epi32(-65536)));",
    .partial_uops = {.alu = 6, .load = 3}};

static constexpr Access kStoreBf16 = {.name = "store_bf16x8",
                                      .implements = "(x: f32[8]): bf16[8] = convert(x)",
                                      .kind = kStore,
                                      .memory = Dtype::bf16,
                                      .reg = Dtype::f32,
                                      .lanes = 8,
                                      .code =
                                          "_mm_storeu_si128(reinterpret_cast<__m128i*>({p}), "
                                          "f32x8_to_bf16({r0}));",
                                      .uops = {.alu = 6, .shuffle = 2, .store = 1},
                                      .temps = 5,
                                      .streamed =
                                          "_mm_stream_si128(reinterpret_cast<__m128i*>({p}), "
                                          "f32x8_to_bf16({r0}));",
                                      .streamed_alignment = 16};

static constexpr Access kAccesses[] = {
    maskable(
        lanes8(kVector, "load_f32x8", Dtype::f32, Dtype::f32, "(x: f32[8]): f32[8] = convert(x)",
               "{r0} = _mm256_loadu_ps({p});", {.load = 1}),
        "{r0} = _mm256_maskload_ps({p}, first_lanes({count}));"),
    spared(in_parts(lanes8(kVector, "load_bf16x8", Dtype::bf16, Dtype::f32,
                           "(x: bf16[8]): f32[8] = convert(x)",
                           "{r0} = bf16x8_to_f32(_mm_loadu_si128("
                           "reinterpret_cast<const __m128i*>({p})));",
                           {.alu = 1, .shuffle = 1, .load = 1}),
                    "{r0} = bf16x8_to_f32(first_bytes({p}, 2 * {n}));"),
           1, "load_bf16x8_crowded"),
    stand_in(in_parts(lanes8(kVector, "load_bf16x8_crowded", Dtype::bf16, Dtype::f32,
                             "(x: bf16[8]): f32[8] = convert(x)",
                             "{r0} = bf16x8_to_f32_crowded(_mm_loadu_si128("
                             "reinterpret_cast<const __m128i*>({p})));",
                             {.alu = 1, .shuffle = 1, .load = 2}),
                      "{r0} = bf16x8_to_f32_crowded(first_bytes({p}, 2 * {n}));")),
    kSplitBf16,
    in_parts(
        lanes8(kVector, "load_f16x8", Dtype::f16, Dtype::f32, "(x: f16[8]): f32[8] = convert(x)",
               "{r0} = f16x8_to_f32(_mm_loadu_si128(reinterpret_cast<const __m128i*>({p})));",
               {.alu = 2, .load = 1}),
        "{r0} = f16x8_to_f32(first_bytes({p}, 2 * {n}));"),
    maskable(lanes8(kVector, "load_i32x8_f32", Dtype::i32, Dtype::f32,
                    "(x: i32[8]): f32[8] = convert(x)",
                    "{r0} = _mm256_cvtepi32_ps(_mm256_loadu_si256("
                    "reinterpret_cast<const __m256i*>({p})));",
                    {.alu = 1, .load = 1}),
             "{r0} = _mm256_cvtepi32_ps(_mm256_maskload_epi32({p}, first_lanes({count})));"),
    in_parts(lanes8(kVector, "load_i16x8_f32", Dtype::i16, Dtype::f32,
                    "(x: i16[8]): f32[8] = convert(x)",
                    "{r0} = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128("
                    "reinterpret_cast<const __m128i*>({p}))));",
                    {.alu = 2, .shuffle = 1, .load = 1}),
             "{r0} = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(first_bytes({p}, 2 * {n})));"),
    in_parts(
        lanes8(kVector, "load_u8x8_f32", Dtype::u8, Dtype::f32, "(x: u8[8]): f32[8] = convert(x)",
               "{r0} = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64("
               "reinterpret_cast<const __m128i*>({p}))));",
               {.alu = 2, .shuffle = 1, .load = 1}),
        "{r0} = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(first_bytes({p}, {n})));"),
    in_parts(
        lanes8(kVector, "load_i8x8_f32", Dtype::i8, Dtype::f32, "(x: i8[8]): f32[8] = convert(x)",
               "{r0} = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64("
               "reinterpret_cast<const __m128i*>({p}))));",
               {.alu = 2, .shuffle = 1, .load = 1}),
        "{r0} = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(first_bytes({p}, {n})));"),

    maskable(
        lanes8(kVector, "load_i32x8", Dtype::i32, Dtype::i32, "(x: i32[8]): i32[8] = convert(x)",
               "{r0} = _mm256_loadu_si256(reinterpret_cast<const __m256i*>({p}));", {.load = 1}),
        "{r0} = _mm256_maskload_epi32({p}, first_lanes({count}));"),
    in_parts(
        lanes8(kVector, "load_i16x8", Dtype::i16, Dtype::i32, "(x: i16[8]): i32[8] = convert(x)",
               "{r0} = _mm256_cvtepi16_epi32(_mm_loadu_si128("
               "reinterpret_cast<const __m128i*>({p})));",
               {.alu = 1, .shuffle = 1, .load = 1}),
        "{r0} = _mm256_cvtepi16_epi32(first_bytes({p}, 2 * {n}));"),
    in_parts(lanes8(kVector, "load_u8x8", Dtype::u8, Dtype::i32, "(x: u8[8]): i32[8] = convert(x)",
                    "{r0} = _mm256_cvtepu8_epi32(_mm_loadl_epi64("
                    "reinterpret_cast<const __m128i*>({p})));",
                    {.alu = 1, .shuffle = 1, .load = 1}),
             "{r0} = _mm256_cvtepu8_epi32(first_bytes({p}, {n}));"),
    in_parts(lanes8(kVector, "load_i8x8", Dtype::i8, Dtype::i32, "(x: i8[8]): i32[8] = convert(x)",
                    "{r0} = _mm256_cvtepi8_epi32(_mm_loadl_epi64("
                    "reinterpret_cast<const __m128i*>({p})));",
                    {.alu = 1, .shuffle = 1, .load = 1}),
             "{r0} = _mm256_cvtepi8_epi32(first_bytes({p}, {n}));"),

    in_parts(
        pairs8(kVector, "load_i16x8x2", Dtype::i16, "(x: i16[16]): i32[16] = convert(x)",
               "{r0} = _mm256_loadu_si256(reinterpret_cast<const __m256i*>({p}));", {.load = 1}),
        "{r0} = first_bytes_32({p}, 2 * {n});"),
    in_parts(pairs8(kVector, "load_u8x8x2", Dtype::u8, "(x: u8[16]): i32[16] = convert(x)",
                    "{r0} = _mm256_cvtepu8_epi16(_mm_loadu_si128("
                    "reinterpret_cast<const __m128i*>({p})));",
                    {.alu = 1, .shuffle = 1, .load = 1}),
             "{r0} = _mm256_cvtepu8_epi16(first_bytes({p}, {n}));"),
    in_parts(pairs8(kVector, "load_i8x8x2", Dtype::i8, "(x: i8[16]): i32[16] = convert(x)",
                    "{r0} = _mm256_cvtepi8_epi16(_mm_loadu_si128("
                    "reinterpret_cast<const __m128i*>({p})));",
                    {.alu = 1, .shuffle = 1, .load = 1}),
             "{r0} = _mm256_cvtepi8_epi16(first_bytes({p}, {n}));"),

    by_fours(
        lanes8(kBroadcast, "broadcast_f32x8", Dtype::f32, Dtype::f32,
               "(x: f32[1]): f32[1] = convert(x)", "{r0} = _mm256_broadcast_ss({p});", {.load = 1}),
        "{r0} = _mm256_broadcast_ps(static_cast<const __m128*>("
        "static_cast<const void*>({p})));",
        "{r0} = _mm256_permute_ps({p}, {n} * 0x55);"),
    lanes8(kBroadcast, "broadcast_bf16x8", Dtype::bf16, Dtype::f32,
           "(x: bf16[1]): f32[1] = convert(x)",
           "{r0} = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_set1_epi16("
           "static_cast<short>(*({p}))), 16));",
           {.alu = 2, .load = 1}),
    lanes8(
        kBroadcast, "broadcast_f16x8", Dtype::f16, Dtype::f32, "(x: f16[1]): f32[1] = convert(x)",
        "{r0} = f16x8_to_f32(_mm_set1_epi16(static_cast<short>(*({p}))));", {.alu = 3, .load = 1}),
    lanes8(kBroadcast, "broadcast_i32x8", Dtype::i32, Dtype::i32,
           "(x: i32[1]): i32[1] = convert(x)", "{r0} = _mm256_set1_epi32(*({p}));", {.load = 1}),
    lanes8(kBroadcast, "broadcast_i16x8", Dtype::i16, Dtype::i32,
           "(x: i16[1]): i32[1] = convert(x)", "{r0} = _mm256_set1_epi32(*({p}));",
           {.alu = 2, .load = 1}),
    lanes8(kBroadcast, "broadcast_u8x8", Dtype::u8, Dtype::i32, "(x: u8[1]): i32[1] = convert(x)",
           "{r0} = _mm256_set1_epi32(*({p}));", {.alu = 2, .load = 1}),
    lanes8(kBroadcast, "broadcast_i8x8", Dtype::i8, Dtype::i32, "(x: i8[1]): i32[1] = convert(x)",
           "{r0} = _mm256_set1_epi32(*({p}));", {.alu = 2, .load = 1}),

    pairs8(kBroadcast, "broadcast_i16x8x2", Dtype::i16, "(x: i16[2]): i32[2] = convert(x)",
           "{r0} = broadcast_i16_pair({p});", {.load = 1}),
    pairs8(kBroadcast, "broadcast_u8x8x2", Dtype::u8, "(x: u8[2]): i32[2] = convert(x)",
           "{r0} = _mm256_cvtepu8_epi16(broadcast_8bit_pair({p}));",
           {.alu = 2, .shuffle = 1, .load = 1}),
    pairs8(kBroadcast, "broadcast_i8x8x2", Dtype::i8, "(x: i8[2]): i32[2] = convert(x)",
           "{r0} = _mm256_cvtepi8_epi16(broadcast_8bit_pair({p}));",
           {.alu = 2, .shuffle = 1, .load = 1}),

    streamed(stored_in_parts(lanes8(kStore, "store_f32x8", Dtype::f32, Dtype::f32,
                                    "(x: f32[8]): f32[8] = convert(x)",
                                    "_mm256_storeu_ps({p}, {r0});", {.store = 1}),
                             "store_first({p}, {r0}, {count});"),
             "stream_256({p}, _mm256_castps_si256({r0}));"),
    kStoreBf16,
    streamed(
        lanes8(kStore, "store_f16x8", Dtype::f16, Dtype::f32, "(x: f32[8]): f16[8] = convert(x)",
               "_mm_storeu_si128(reinterpret_cast<__m128i*>({p}), _mm256_cvtps_ph({r0}, "
               "_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));",
               {.alu = 2, .store = 1}),
        "_mm_stream_si128(reinterpret_cast<__m128i*>({p}), _mm256_cvtps_ph({r0}, "
        "_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));"),
    streamed(stored_in_parts(lanes8(kStore, "store_i32x8", Dtype::i32, Dtype::i32,
                                    "(x: i32[8]): i32[8] = convert(x)",
                                    "_mm256_storeu_si256(reinterpret_cast<__m256i*>({p}), {r0});",
                                    {.store = 1}),
                             "store_first({p}, _mm256_castsi256_ps({r0}), {count});"),
             "stream_256({p}, {r0});"),
    streamed(
        lanes8(kStore, "store_i16x8", Dtype::i16, Dtype::i32, "(x: i32[8]): i16[8] = convert(x)",
               "_mm_storeu_si128(reinterpret_cast<__m128i*>({p}), i32x8_to_i16({r0}));",
               {.alu = 2, .store = 1}),
        "_mm_stream_si128(reinterpret_cast<__m128i*>({p}), i32x8_to_i16({r0}));"),
    pairs8(kStore, "store_i16x8x2", Dtype::i16, "(x: i16[16]): i32[16] = convert(x)",
           "_mm256_storeu_si256(reinterpret_cast<__m256i*>({p}), {r0});", {.store = 1}),
};

// bf16 to f32 is one shuffle of what a load has put into both halves; it needs neither of the pipes
// that multiply. (G: tiles of 6 x 16 with b in L1, 114 Gflop/s, as with b in f32; by vpmovzxwd and
// vpslld 96 to 101, by vpslld and vpand of 16 in even and odd order 104. Compilers keep its mask in
// the register that leaves leave free, or in memory, which is no slower.)
//
// Clang compares numbers that it knows to come from f16 as such, one by one. Where it does not
// know, reduce_max of f16[30,96] takes 228 ns for 5814 (Clang 14, AVX2), by AVX-512 138 for 6592,
// and is compiled in a quarter of the time.
//
// f32 to bf16 rounds to nearest even by an integer addition; a NaN is cut and made quiet, since the
// addition could carry it into infinity.
static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __m256i first_lanes(std::ptrdiff_t n) noexcept {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<std::int32_t>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
MORELLO_UNUSED MORELLO_TARGET static inline void store_first(void* p, __m256 v, std::ptrdiff_t n) noexcept {
  char* to = static_cast<char*>(p);
  if (n >= 8) return _mm256_storeu_ps(static_cast<float*>(p), v);
  __m128 rest = _mm256_castps256_ps128(v);
  if ((n & 4) != 0) {
    __builtin_memcpy(to, &rest, 16);
    rest = _mm256_extractf128_ps(v, 1);
    to += 16;
  }
  if ((n & 2) != 0) {
    __builtin_memcpy(to, &rest, 8);
    rest = _mm_movehl_ps(rest, rest);
    to += 8;
  }
  if ((n & 1) != 0) __builtin_memcpy(to, &rest, 4);
}
MORELLO_UNUSED MORELLO_TARGET static inline void stream_256(void* p, __m256i v) noexcept {
  __m128i* const to = static_cast<__m128i*>(p);
  _mm_stream_si128(to, _mm256_castsi256_si128(v));
  _mm_stream_si128(to + 1, _mm256_extracti128_si256(v, 1));
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256 bf16x8_to_f32(__m128i v) noexcept {
  const __m256i high_halves =
      _mm256_setr_epi8(-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7, -1, -1, 8, 9, -1, -1,
                       10, 11, -1, -1, 12, 13, -1, -1, 14, 15);
  return _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(v), high_halves));
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256 bf16x8_to_f32_crowded(__m128i v) noexcept {
  alignas(32) static const signed char high_halves[32] = {
      -1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7, -1, -1, 8, 9, -1, -1,
      10, 11, -1, -1, 12, 13, -1, -1, 14, 15};
  __m256i x;
  __asm__("vpshufb %2, %1, %0" : "=x"(x) : "x"(_mm256_broadcastsi128_si256(v)), "m"(high_halves));
  return _mm256_castsi256_ps(x);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256 f16x8_to_f32(__m128i v) noexcept {
  __m256 x = _mm256_cvtph_ps(v);
#if defined(__clang__)
  __asm__("" : "+x"(x));
#endif
  return x;
}
MORELLO_UNUSED MORELLO_TARGET static inline __m128i load_8(const void* p) noexcept {
  return _mm_loadl_epi64(static_cast<const __m128i*>(p));
}
MORELLO_UNUSED MORELLO_TARGET static inline __m128i first_bytes(const void* p, int n) noexcept {
  const unsigned char* const b = static_cast<const unsigned char*>(p);
  if (n >= 16) return _mm_loadu_si128(static_cast<const __m128i*>(p));
  if (n > 8)
    return _mm_unpacklo_epi64(load_8(b), _mm_srli_epi64(load_8(b + n - 8), 8 * (16 - n)));
  if (n == 8) return load_8(b);
  std::uint32_t low = 0, high = 0;
  if (n >= 4) {
    __builtin_memcpy(&low, b, 4);
    __builtin_memcpy(&high, b + n - 4, 4);
    high = n == 4 ? 0 : high >> 8 * (8 - n);
    return _mm_cvtsi64_si128(static_cast<long long>(static_cast<std::uint64_t>(high) << 32 | low));
  }
  if (n >= 1) low = b[0];
  if (n >= 2) low |= static_cast<std::uint32_t>(b[1]) << 8;
  if (n >= 3) low |= static_cast<std::uint32_t>(b[2]) << 16;
  return _mm_cvtsi32_si128(static_cast<int>(low));
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256i first_bytes_32(const void* p, int n) noexcept {
  const __m128i high =
      n > 16 ? first_bytes(static_cast<const char*>(p) + 16, n - 16) : _mm_setzero_si128();
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first_bytes(p, n)), high, 1);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256i broadcast_i16_pair(
    const std::int16_t* p) noexcept {
  std::int32_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return _mm256_set1_epi32(pair);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m128i broadcast_8bit_pair(const void* p) noexcept {
  std::int16_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return _mm_set1_epi16(pair);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m128i i32x8_to_i16(__m256i v) noexcept {
  return _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}
MORELLO_UNUSED MORELLO_TARGET static inline __m128i f32x8_to_bf16(__m256 v) noexcept {
  const __m256i bits = _mm256_castps_si256(v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i carried = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));  // all ones is one
  const __m256i high = _mm256_shuffle_epi8(
      _mm256_or_si256(carried, nan),
      _mm256_setr_epi8(2, 3, 6, 7, 10, 11, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1,
                       2, 3, 6, 7, 10, 11, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1));
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(high, 0x08));
}
)";

constinit const Rows avx2_access = {.kernels = {}, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
