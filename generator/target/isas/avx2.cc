// x86-64-v3: AVX2, FMA and F16C.
#include <string>

#include "target/tables.h"

namespace morello::isas {

static const std::string kPrelude =
    std::string(kernels::avx2_f32.prelude) + std::string(kernels::avx2_int.prelude) +
    std::string(kernels::avx2_access.prelude) + std::string(kernels::avx2_transpose.prelude) +
    std::string(kernels::scalar.prelude);

static bool runs_here() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

const Isa avx2 = {
    .name = "avx2",
    .attribute = "avx2,fma,f16c",
    // Clang 14 does not know "f16c" here; every CPU with AVX2 and FMA has it.
    .cpu_features = {"avx2", "fma"},
    .include = "<immintrin.h>",
    .vector_bits = 256,
    .vector_registers = 16,
    .register_types = {{Dtype::f32, "__m256"}, {Dtype::i32, "__m256i"}, {Dtype::i16, "__m256i"}},
    .runs_here = runs_here,
    .prelude = kPrelude,
    .prefetch = "_mm_prefetch(reinterpret_cast<const char*>({p}), _MM_HINT_T0);",
    .keep = "__asm__(\"\" : \"+x\"({r}));",
    .kernels = {kernels::avx2_f32.kernels, kernels::avx2_int.kernels, kernels::scalar.kernels},
    .accesses = {kernels::avx2_access.accesses, kernels::scalar.accesses},
    .transposes = {kernels::avx2_transpose.transposes},
};

}  // namespace morello::isas
