// Four registers folded into one: sums of lanes, and what else joins them.
#include "target/tables.h"

namespace morello::kernels {

static constexpr std::string_view kHalvesF32[] = {"{y} = _mm256_permute2f128_ps({a}, {a}, 1);"};
static constexpr std::string_view kHalvesI32[] = {"{y} = _mm256_permute2x128_si256({a}, {a}, 1);"};

static constexpr Fold kFolds[] = {
    {.name = "fold_f32x8",
     .type = Dtype::f32,
     .lanes = 8,
     .singles = "{x} = _mm256_unpacklo_ps({a}, {b});\n"
                "{y} = _mm256_unpackhi_ps({a}, {b});",
     .pairs = "{x} = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd({a}), "
              "_mm256_castps_pd({b})));\n"
              "{y} = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd({a}), "
              "_mm256_castps_pd({b})));",
     .halves = kHalvesF32,
     .load = "{r} = _mm256_broadcast_ps(reinterpret_cast<const __m128*>({p}));",
     .set = "{r} = _mm256_zextps128_ps256(_mm_setr_ps({a}, {b}, {c}, {d}));",
     .store = "_mm_storeu_ps({p}, _mm256_castps256_ps128({r}));",
     .shuffles = 7},
    {.name = "fold_i32x8",
     .type = Dtype::i32,
     .lanes = 8,
     .singles = "{x} = _mm256_unpacklo_epi32({a}, {b});\n"
                "{y} = _mm256_unpackhi_epi32({a}, {b});",
     .pairs = "{x} = _mm256_unpacklo_epi64({a}, {b});\n"
              "{y} = _mm256_unpackhi_epi64({a}, {b});",
     .halves = kHalvesI32,
     .load = "{r} = _mm256_broadcastsi128_si256("
             "_mm_loadu_si128(reinterpret_cast<const __m128i*>({p})));",
     .set = "{r} = _mm256_zextsi128_si256(_mm_setr_epi32({a}, {b}, {c}, {d}));",
     .store = "_mm_storeu_si128(reinterpret_cast<__m128i*>({p}), _mm256_castsi256_si128({r}));",
     .shuffles = 7},
};

constinit const Rows avx2_fold = {.kernels = {}, .accesses = {}, .folds = kFolds, .prelude = {}};

}  // namespace morello::kernels
