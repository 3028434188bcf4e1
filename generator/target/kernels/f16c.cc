// One half-precision number at a time by F16C: what vectors leave over, and what copies gather and
// scatter. Ignores the modes that flush denormals, as the rows of scalar.cc do, and like them makes
// NaNs quiet. (G: f16[64,64] x f16[64,64] to f32, whose a goes to panels of f32: AVX2 16.7 us by
// those rows, 12.1 by these; AVX-512 12.7 and 8.1.)
#include "target/tables.h"

namespace morello::kernels {

static constexpr Access kAccesses[] = {
    {.name = "load_f16x1",
     .implements = "(x: f16[1]): f32[1] = convert(x)",
     .kind = Access::Kind::kBroadcast,
     .memory = Dtype::f16,
     .reg = Dtype::f32,
     .code = "{r0} = f16x1_to_f32(*({p}));",
     .uops = {.alu = 2, .load = 1}},
    {.name = "store_f16x1",
     .implements = "(x: f32[1]): f16[1] = convert(x)",
     .kind = Access::Kind::kStore,
     .memory = Dtype::f16,
     .reg = Dtype::f32,
     .code = "*({p}) = f32_to_f16x1({r0});",
     .uops = {.alu = 3, .store = 1}},
};

static constexpr std::string_view kPrelude = R"(
MORELLO_UNUSED MORELLO_TARGET static inline float f16x1_to_f32(std::uint16_t x) noexcept {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(x)));
}
MORELLO_UNUSED MORELLO_TARGET static inline std::uint16_t f32_to_f16x1(float x) noexcept {
  const __m128i half =
      _mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  return static_cast<std::uint16_t>(_mm_cvtsi128_si32(half));
}
)";

constinit const Rows f16c = {.kernels = {}, .accesses = kAccesses, .prelude = kPrelude};

}  // namespace morello::kernels
