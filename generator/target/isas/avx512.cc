// x86-64-v4, but for what no row uses (CD): AVX-512 F, BW, DQ and VL, beside AVX2, FMA and F16C.
// Transpositions are those of AVX2: they move 16 to 32 bytes of a row at a time, which is what
// panels have.
#include <string>

#include "target/tables.h"

namespace morello::isas {

static const std::string kPrelude =
    std::string(kernels::avx512_f32.prelude) + std::string(kernels::avx512_int.prelude) +
    std::string(kernels::avx512_access.prelude) + std::string(kernels::avx2_transpose.prelude) +
    std::string(kernels::scalar.prelude);

// __builtin_cpu_supports() says yes only where the operating system saves the registers (XCR0), in
// libgcc as in compiler-rt.
static bool runs_here() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

const Isa avx512 = {
    .name = "avx512",
    .attribute = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c",
    .cpu_features = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"},
    .include = "<immintrin.h>",
    .vector_bits = 512,
    .vector_registers = 32,
    .register_types = {{Dtype::f32, "__m512"}, {Dtype::i32, "__m512i"}, {Dtype::i16, "__m512i"}},
    .runs_here = runs_here,
    .prelude = kPrelude,
    .prefetch = "_mm_prefetch(reinterpret_cast<const char*>({p}), _MM_HINT_T0);",
    .keep = "__asm__(\"\" : \"+v\"({r}));",
    .kernels = {kernels::avx512_f32.kernels, kernels::avx512_int.kernels, kernels::scalar.kernels},
    .accesses = {kernels::avx512_access.accesses, kernels::scalar.accesses},
    .transposes = {kernels::avx2_transpose.transposes},
};

}  // namespace morello::isas
