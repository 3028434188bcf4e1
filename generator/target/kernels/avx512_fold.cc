// As avx2_fold.cc. Forms with a mask of all lanes: GCC 12 warns of its own headers otherwise.
#include "target/tables.h"

namespace morello::kernels {

static constexpr std::string_view kHalvesF32[] = {
    "{y} = _mm512_maskz_shuffle_f32x4(0xffff, {a}, {a}, 0x4e);",
    "{y} = _mm512_maskz_shuffle_f32x4(0xffff, {a}, {a}, 0xb1);"};
static constexpr std::string_view kHalvesI32[] = {
    "{y} = _mm512_maskz_shuffle_i32x4(0xffff, {a}, {a}, 0x4e);",
    "{y} = _mm512_maskz_shuffle_i32x4(0xffff, {a}, {a}, 0xb1);"};

static constexpr Fold kFolds[] = {
    {.name = "fold_f32x16",
     .type = Dtype::f32,
     .lanes = 16,
     .singles = "{x} = _mm512_maskz_unpacklo_ps(0xffff, {a}, {b});\n"
                "{y} = _mm512_maskz_unpackhi_ps(0xffff, {a}, {b});",
     .pairs = "{x} = _mm512_castpd_ps(_mm512_maskz_unpacklo_pd(0xff, _mm512_castps_pd({a}), "
              "_mm512_castps_pd({b})));\n"
              "{y} = _mm512_castpd_ps(_mm512_maskz_unpackhi_pd(0xff, _mm512_castps_pd({a}), "
              "_mm512_castps_pd({b})));",
     .halves = kHalvesF32,
     .load = "{r} = _mm512_maskz_broadcast_f32x4(0xffff, _mm_loadu_ps({p}));",
     .set = "{r} = _mm512_zextps128_ps512(_mm_setr_ps({a}, {b}, {c}, {d}));",
     .store = "_mm_storeu_ps({p}, _mm512_maskz_extractf32x4_ps(0xf, {r}, 0));",
     .shuffles = 8},
    {.name = "fold_i32x16",
     .type = Dtype::i32,
     .lanes = 16,
     .singles = "{x} = _mm512_maskz_unpacklo_epi32(0xffff, {a}, {b});\n"
                "{y} = _mm512_maskz_unpackhi_epi32(0xffff, {a}, {b});",
     .pairs = "{x} = _mm512_maskz_unpacklo_epi64(0xff, {a}, {b});\n"
              "{y} = _mm512_maskz_unpackhi_epi64(0xff, {a}, {b});",
     .halves = kHalvesI32,
     .load = "{r} = _mm512_maskz_broadcast_i32x4(0xffff, "
             "_mm_loadu_si128(reinterpret_cast<const __m128i*>({p})));",
     .set = "{r} = _mm512_zextsi128_si512(_mm_setr_epi32({a}, {b}, {c}, {d}));",
     .store = "_mm_storeu_si128(reinterpret_cast<__m128i*>({p}), "
              "_mm512_maskz_extracti32x4_epi32(0xf, {r}, 0));",
     .shuffles = 8},
};

constinit const Rows avx512_fold = {.kernels = {}, .accesses = {}, .folds = kFolds, .prelude = {}};

}  // namespace morello::kernels
