// How AVX-512 registers are filled from memory and stored. A load that widens costs a shuffle
// (vpmovzx, vpmovsx) beside the load; a broadcast of 32 bits is free with the load. Every row that
// moves more than one element has a masked form, down to bytes (BW, VL): no lane that is off is
// read, written or faults.
//
// Intrinsics that only move or convert are called in their maskz form, with all lanes on: the plain
// ones of GCC 12 pass an undefined register and warn that it is uninitialized (its bug 105593). The
// compilers make the plain instruction of it.
#include "target/tables.h"

namespace morello::kernels {

using enum Access::Kind;

// A mask beside what a row does anyway: made of a constant, outside the loops.
static constexpr Uops masked(Uops u) {
  u.alu += 1;
  return u;
}

// A row for one element per 32-bit lane.
static constexpr Access lanes16(Access::Kind kind, std::string_view name, Dtype memory, Dtype reg,
                                std::string_view implements, std::string_view code, Uops uops,
                                std::string_view partial = "") {
  return {.name = name,
          .implements = implements,
          .kind = kind,
          .memory = memory,
          .reg = reg,
          .lanes = 16,
          .code = code,
          .uops = uops,
          .partial = partial,
          .partial_uops = masked(uops)};
}

// Past the caches in pieces of 16 bytes, which is what allocators align: the pieces of a line meet
// in a buffer of the core before they leave. Whole lines where they can be. (G: rms_norm of 64 MiB
// into 64 MiB, 6.9 ns a line; in pieces of 32 bytes 7.6, of 16 7.5, beginning within lines 7.6;
// stored into the caches 11.1.)
static constexpr Access streamed(Access a, std::string_view code) {
  a.streamed = code;
  a.streamed_alignment = 16;
  return a;
}

// A row of i16 pairs: two consecutive elements per 32-bit lane.
static constexpr Access pairs16(Access::Kind kind, std::string_view name, Dtype memory,
                                std::string_view implements, std::string_view code, Uops uops,
                                std::string_view partial = "") {
  Access a = lanes16(kind, name, memory, Dtype::i16, implements, code, uops, partial);
  a.group = 2;
  return a;
}

// Thirty-two packed bf16: even positions in {r0}, odd ones in {r1}. Two cheap operations for 32
// elements where widening in order takes four; the order is undone by whoever packed the operand.
// The mask is a constant in a register.
static constexpr Access kSplitBf16 = {
    .name = "load_bf16x16x2",
    .implements = "(x: bf16[32]): f32[32] = convert(x)",
    .kind = kVector,
    .memory = Dtype::bf16,
    .reg = Dtype::f32,
    .lanes = 16,
    .regs = 2,
    .code =
        "const __m512i {t} = _mm512_loadu_si512({p});\n"
        "{r0} = _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, {t}, 16));\n"
        "{r1} = _mm512_castsi512_ps(_mm512_and_si512({t}, _mm512_set1_epi32(-65536)));",
    .uops = {.alu = 2, .load = 1},
    .temps = 1,
    .partial =
        "const __m512i {t} = _mm512_maskz_loadu_epi16(first_32({count}), {p});\n"
        "{r0} = _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, {t}, 16));\n"
        "{r1} = _mm512_castsi512_ps(_mm512_and_si512({t}, _mm512_set1_epi32(-65536)));",
    .partial_uops = masked({.alu = 2, .load = 1})};

// What rounds takes 6 instructions and a shuffle; priced as one more, since it comes behind all
// else and fills the queue of what waits. (Zen 4, a vector of bf16 to bf16: silu that rounds in its
// leaf 18.7 cycles, in a loop of its own behind it 16.3; convert of f32 in L2 4.2. With vpmovdw and
// another NaN 10 instructions, 4.7. AVX512_BF16 has an instruction: avx512_bf16.cc.)
static constexpr Access kStoreBf16 = {
    .name = "store_bf16x16",
    .implements = "(x: f32[16]): bf16[16] = convert(x)",
    .kind = kStore,
    .memory = Dtype::bf16,
    .reg = Dtype::f32,
    .lanes = 16,
    .code = "_mm256_storeu_si256(reinterpret_cast<__m256i*>({p}), f32x16_to_bf16({r0}));",
    .uops = {.alu = 7, .shuffle = 1, .store = 1},
    .temps = 5,
    .partial = "_mm256_mask_storeu_epi16({p}, first_16({count}), f32x16_to_bf16({r0}));",
    .partial_uops = masked({.alu = 7, .shuffle = 1, .store = 1}),
    .streamed = "stream_256({p}, f32x16_to_bf16({r0}));",
    .streamed_alignment = 16};

static constexpr Access kAccesses[] = {
    lanes16(kVector, "load_f32x16", Dtype::f32, Dtype::f32, "(x: f32[16]): f32[16] = convert(x)",
            "{r0} = _mm512_loadu_ps({p});", {.load = 1},
            "{r0} = _mm512_maskz_loadu_ps(first_16({count}), {p});"),
    lanes16(kVector, "load_bf16x16", Dtype::bf16, Dtype::f32, "(x: bf16[16]): f32[16] = convert(x)",
            "{r0} = bf16x16_to_f32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>({p})));",
            {.alu = 2, .shuffle = 1, .load = 1},
            "{r0} = bf16x16_to_f32(_mm256_maskz_loadu_epi16(first_16({count}), {p}));"),
    kSplitBf16,
    lanes16(kVector, "load_f16x16", Dtype::f16, Dtype::f32, "(x: f16[16]): f32[16] = convert(x)",
            "{r0} = f16x16_to_f32(_mm256_loadu_si256(reinterpret_cast<const "
            "__m256i*>({p})));",
            {.alu = 2, .load = 1},
            "{r0} = f16x16_to_f32(_mm256_maskz_loadu_epi16(first_16({count}), {p}));"),
    lanes16(
        kVector, "load_i32x16_f32", Dtype::i32, Dtype::f32, "(x: i32[16]): f32[16] = convert(x)",
        "{r0} = _mm512_maskz_cvtepi32_ps(0xffff, _mm512_loadu_si512({p}));", {.alu = 1, .load = 1},
        "{r0} = _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_loadu_epi32(first_16({count}), "
        "{p}));"),
    lanes16(kVector, "load_i16x16_f32", Dtype::i16, Dtype::f32,
            "(x: i16[16]): f32[16] = convert(x)",
            "{r0} = _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepi16_epi32(0xffff, "
            "_mm256_loadu_si256("
            "reinterpret_cast<const __m256i*>({p}))));",
            {.alu = 2, .shuffle = 1, .load = 1},
            "{r0} = _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepi16_epi32(0xffff, "
            "_mm256_maskz_loadu_epi16(first_16({count}), {p})));"),
    lanes16(kVector, "load_u8x16_f32", Dtype::u8, Dtype::f32, "(x: u8[16]): f32[16] = convert(x)",
            "{r0} = _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepu8_epi32(0xffff, "
            "_mm_loadu_si128("
            "reinterpret_cast<const __m128i*>({p}))));",
            {.alu = 2, .shuffle = 1, .load = 1},
            "{r0} = _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepu8_epi32(0xffff, "
            "_mm_maskz_loadu_epi8(first_16({count}), {p})));"),
    lanes16(kVector, "load_i8x16_f32", Dtype::i8, Dtype::f32, "(x: i8[16]): f32[16] = convert(x)",
            "{r0} = _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepi8_epi32(0xffff, "
            "_mm_loadu_si128("
            "reinterpret_cast<const __m128i*>({p}))));",
            {.alu = 2, .shuffle = 1, .load = 1},
            "{r0} = _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepi8_epi32(0xffff, "
            "_mm_maskz_loadu_epi8(first_16({count}), {p})));"),

    lanes16(kVector, "load_i32x16", Dtype::i32, Dtype::i32, "(x: i32[16]): i32[16] = convert(x)",
            "{r0} = _mm512_loadu_si512({p});", {.load = 1},
            "{r0} = _mm512_maskz_loadu_epi32(first_16({count}), {p});"),
    lanes16(
        kVector, "load_i16x16", Dtype::i16, Dtype::i32, "(x: i16[16]): i32[16] = convert(x)",
        "{r0} = _mm512_maskz_cvtepi16_epi32(0xffff, _mm256_loadu_si256("
        "reinterpret_cast<const __m256i*>({p})));",
        {.alu = 1, .shuffle = 1, .load = 1},
        "{r0} = _mm512_maskz_cvtepi16_epi32(0xffff, _mm256_maskz_loadu_epi16(first_16({count}), "
        "{p}));"),
    lanes16(
        kVector, "load_u8x16", Dtype::u8, Dtype::i32, "(x: u8[16]): i32[16] = convert(x)",
        "{r0} = _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128("
        "reinterpret_cast<const __m128i*>({p})));",
        {.alu = 1, .shuffle = 1, .load = 1},
        "{r0} = _mm512_maskz_cvtepu8_epi32(0xffff, _mm_maskz_loadu_epi8(first_16({count}), {p}));"),
    lanes16(
        kVector, "load_i8x16", Dtype::i8, Dtype::i32, "(x: i8[16]): i32[16] = convert(x)",
        "{r0} = _mm512_maskz_cvtepi8_epi32(0xffff, _mm_loadu_si128("
        "reinterpret_cast<const __m128i*>({p})));",
        {.alu = 1, .shuffle = 1, .load = 1},
        "{r0} = _mm512_maskz_cvtepi8_epi32(0xffff, _mm_maskz_loadu_epi8(first_16({count}), {p}));"),

    pairs16(kVector, "load_i16x16x2", Dtype::i16, "(x: i16[32]): i32[32] = convert(x)",
            "{r0} = _mm512_loadu_si512({p});", {.load = 1},
            "{r0} = _mm512_maskz_loadu_epi16(first_32({count}), {p});"),
    pairs16(kVector, "load_u8x16x2", Dtype::u8, "(x: u8[32]): i32[32] = convert(x)",
            "{r0} = _mm512_cvtepu8_epi16(_mm256_loadu_si256("
            "reinterpret_cast<const __m256i*>({p})));",
            {.alu = 1, .shuffle = 1, .load = 1},
            "{r0} = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(first_32({count}), {p}));"),
    pairs16(kVector, "load_i8x16x2", Dtype::i8, "(x: i8[32]): i32[32] = convert(x)",
            "{r0} = _mm512_cvtepi8_epi16(_mm256_loadu_si256("
            "reinterpret_cast<const __m256i*>({p})));",
            {.alu = 1, .shuffle = 1, .load = 1},
            "{r0} = _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(first_32({count}), {p}));"),

    by_fours(
        lanes16(kBroadcast, "broadcast_f32x16", Dtype::f32, Dtype::f32,
                "(x: f32[1]): f32[1] = convert(x)", "{r0} = _mm512_set1_ps(*({p}));", {.load = 1}),
        "{r0} = _mm512_maskz_broadcast_f32x4(0xffff, _mm_loadu_ps({p}));",
        "{r0} = _mm512_maskz_permute_ps(0xffff, {p}, {n} * 0x55);"),
    lanes16(kBroadcast, "broadcast_bf16x16", Dtype::bf16, Dtype::f32,
            "(x: bf16[1]): f32[1] = convert(x)",
            "{r0} = _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, _mm512_set1_epi16("
            "static_cast<short>(*({p}))), 16));",
            {.alu = 2, .load = 1}),
    lanes16(kBroadcast, "broadcast_f16x16", Dtype::f16, Dtype::f32,
            "(x: f16[1]): f32[1] = convert(x)",
            "{r0} = f16x16_to_f32(_mm256_set1_epi16(static_cast<short>(*({p}))));",
            {.alu = 3, .load = 1}),
    lanes16(kBroadcast, "broadcast_i32x16", Dtype::i32, Dtype::i32,
            "(x: i32[1]): i32[1] = convert(x)", "{r0} = _mm512_set1_epi32(*({p}));", {.load = 1}),
    lanes16(kBroadcast, "broadcast_i16x16", Dtype::i16, Dtype::i32,
            "(x: i16[1]): i32[1] = convert(x)", "{r0} = _mm512_set1_epi32(*({p}));",
            {.alu = 2, .load = 1}),
    lanes16(kBroadcast, "broadcast_u8x16", Dtype::u8, Dtype::i32, "(x: u8[1]): i32[1] = convert(x)",
            "{r0} = _mm512_set1_epi32(*({p}));", {.alu = 2, .load = 1}),
    lanes16(kBroadcast, "broadcast_i8x16", Dtype::i8, Dtype::i32, "(x: i8[1]): i32[1] = convert(x)",
            "{r0} = _mm512_set1_epi32(*({p}));", {.alu = 2, .load = 1}),

    pairs16(kBroadcast, "broadcast_i16x16x2", Dtype::i16, "(x: i16[2]): i32[2] = convert(x)",
            "{r0} = broadcast_i16_pair_x16({p});", {.load = 1}),
    pairs16(kBroadcast, "broadcast_u8x16x2", Dtype::u8, "(x: u8[2]): i32[2] = convert(x)",
            "{r0} = _mm512_cvtepu8_epi16(broadcast_8bit_pair_x16({p}));",
            {.alu = 2, .shuffle = 1, .load = 1}),
    pairs16(kBroadcast, "broadcast_i8x16x2", Dtype::i8, "(x: i8[2]): i32[2] = convert(x)",
            "{r0} = _mm512_cvtepi8_epi16(broadcast_8bit_pair_x16({p}));",
            {.alu = 2, .shuffle = 1, .load = 1}),

    streamed(lanes16(kStore, "store_f32x16", Dtype::f32, Dtype::f32,
                     "(x: f32[16]): f32[16] = convert(x)", "_mm512_storeu_ps({p}, {r0});",
                     {.store = 1}, "_mm512_mask_storeu_ps({p}, first_16({count}), {r0});"),
             "stream_512({p}, _mm512_castps_si512({r0}));"),
    kStoreBf16,
    streamed(lanes16(kStore, "store_f16x16", Dtype::f16, Dtype::f32,
                     "(x: f32[16]): f16[16] = convert(x)",
                     "_mm256_storeu_si256(reinterpret_cast<__m256i*>({p}), f32x16_to_f16({r0}));",
                     {.alu = 2, .store = 1},
                     "_mm256_mask_storeu_epi16({p}, first_16({count}), f32x16_to_f16({r0}));"),
             "stream_256({p}, f32x16_to_f16({r0}));"),
    streamed(lanes16(kStore, "store_i32x16", Dtype::i32, Dtype::i32,
                     "(x: i32[16]): i32[16] = convert(x)", "_mm512_storeu_si512({p}, {r0});",
                     {.store = 1}, "_mm512_mask_storeu_epi32({p}, first_16({count}), {r0});"),
             "stream_512({p}, {r0});"),
    streamed(lanes16(kStore, "store_i16x16", Dtype::i16, Dtype::i32,
                     "(x: i32[16]): i16[16] = convert(x)",
                     "_mm256_storeu_si256(reinterpret_cast<__m256i*>({p}), "
                     "_mm512_maskz_cvtsepi32_epi16(0xffff, {r0}));",
                     {.alu = 2, .store = 1},
                     "_mm256_mask_storeu_epi16({p}, first_16({count}), "
                     "_mm512_maskz_cvtsepi32_epi16(0xffff, {r0}));"),
             "stream_256({p}, _mm512_maskz_cvtsepi32_epi16(0xffff, {r0}));"),
    pairs16(kStore, "store_i16x16x2", Dtype::i16, "(x: i16[32]): i32[32] = convert(x)",
            "_mm512_storeu_si512({p}, {r0});", {.store = 1},
            "_mm512_mask_storeu_epi16({p}, first_32({count}), {r0});"),
};

// f32 to bf16 rounds to nearest even by an integer addition; a NaN is cut and made quiet, since the
// addition could carry it into infinity. (vcvtneps2bf16 would take denormals for 0.)
static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline __mmask16 first_16(std::ptrdiff_t n) noexcept {
  return static_cast<__mmask16>((1u << n) - 1u);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m512 f16x16_to_f32(__m256i v) noexcept {
  __m512 x = _mm512_maskz_cvtph_ps(0xffff, v);
#if defined(__clang__)
  __asm__("" : "+v"(x));  // as in f16x8_to_f32()
#endif
  return x;
}
MORELLO_UNUSED MORELLO_TARGET static inline void stream_512(void* p, __m512i v) noexcept {
  if ((reinterpret_cast<std::uintptr_t>(p) & 63u) == 0)
    return _mm512_stream_si512(static_cast<__m512i*>(p), v);
  stream_256(p, _mm512_maskz_extracti64x4_epi64(0xff, v, 0));
  stream_256(static_cast<__m256i*>(p) + 1, _mm512_maskz_extracti64x4_epi64(0xff, v, 1));
}
MORELLO_UNUSED MORELLO_TARGET static inline __mmask32 first_32(std::ptrdiff_t n) noexcept {
  return static_cast<__mmask32>((static_cast<std::uint64_t>(1) << n) - 1u);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m512i broadcast_i16_pair_x16(
    const std::int16_t* p) noexcept {
  std::int32_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return _mm512_set1_epi32(pair);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256i broadcast_8bit_pair_x16(const void* p) noexcept {
  std::int16_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return _mm256_set1_epi16(pair);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m512 bf16x16_to_f32(__m256i v) noexcept {
  return _mm512_castsi512_ps(
      _mm512_maskz_slli_epi32(0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, v), 16));
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256i f32x16_to_f16(__m512 v) noexcept {
  return _mm512_maskz_cvtps_ph(0xffff, v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
MORELLO_UNUSED MORELLO_TARGET static inline __m256i f32x16_to_bf16(__m512 v) noexcept {
  const __m512i bits = _mm512_castps_si512(v);
  const __m512i odd =
      _mm512_and_si512(_mm512_maskz_srli_epi32(0xffff, bits, 16), _mm512_set1_epi32(1));
  const __m512i carried = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  const __m512i all = _mm512_mask_or_epi32(carried, nan, bits, _mm512_set1_epi32(0x400000));
  const __m512i high_halves = _mm512_set_epi32(
      0, 0, 0, 0, 0, 0, 0, 0, 0x001f001d, 0x001b0019, 0x00170015, 0x00130011, 0x000f000d,
      0x000b0009, 0x00070005, 0x00030001);
  return _mm512_maskz_extracti64x4_epi64(
      0xf, _mm512_maskz_permutexvar_epi16(0xffffffff, high_halves, all), 0);
}
)";

constinit const Rows avx512_access = {.kernels = {}, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
