// AVX2/FMA arithmetic on 8 floats per register. Work and latency: a core with two 256-bit FMA pipes
// and a latency of 4 (Skylake, Zen 2 and later; vendors' optimisation manuals).
#include "target/tables.h"

namespace morello::kernels {

// The instruction that adds to c where it is. Of the intrinsic compilers also make the forms that
// overwrite a or b, so that sums wander through the registers; GCC 12 copies some of them, Clang 14
// spills. (Granite Rapids, f32 by GCC and Clang: 32^3 0.68 to 0.62 us by GCC; 64^3 5.2 and 7.1 to
// 4.9 us; 256^3 336 to 320 us by GCC; AVX-512, 256^3: 200 and 427 to 201 us, of bf16 pairs 215 and
// 433 to 214 and 223.)
static constexpr std::string_view kFma =
    R"(__asm__("vfmadd231ps %2, %1, %0" : "+x"({c}) : "x"({a}), "x"({b}));)";

static constexpr Kernel kKernels[] = {
    {.name = "fma_f32x8",
     .implements = "(a: f32[1,1], b: f32[1,8]): f32[1,8] = matmul(a, b)",
     .lanes = 8,
     .maps = true,
     .code = kFma,
     .uops = {.fma = 1},
     .latency = 4},
    {.name = "dot_f32x8",
     .implements = "(a: f32[1,8], b: f32[8,1]): f32[1,1] = matmul(a, b)",
     .lanes = 8,
     .lanes_reduce = true,
     .maps = true,
     .code = kFma,
     .finish = "{s} = hsum_f32x8({c});",
     .uops = {.fma = 1},
     .latency = 4},
    {.name = "map_f32x8",
     .implements = "(a: f32[8]): f32[8] = convert(a)",
     .lanes = 8,
     .maps = true},
};

constinit const Rows avx2_f32 = {.kernels = kKernels, .accesses = {}, .prelude = {}};

}  // namespace morello::kernels
