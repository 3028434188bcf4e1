// AVX-512 with products of 8-bit integers and of bf16: Sapphire Rapids, Zen 4 and later.
#include "target/isas/avx512.h"

namespace morello::isas {

static constexpr const Rows* kMore[] = {&kernels::avx512_bf16, &kernels::avx512_vnni};
static const std::string kPrelude = avx512_preludes(kMore);

static bool runs_here() {
#if defined(__x86_64__)
  return avx512_runs_here() && __builtin_cpu_supports("avx512vnni") &&
         __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

const Isa avx512_bf16 = [] {
  Isa isa = avx512_with("avx512_bf16", kMore, kPrelude);
  isa.base = &avx512_vnni;
  isa.attribute = "avx512bf16,avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c";
  isa.cpu_features.insert(isa.cpu_features.end(), {"avx512vnni", "avx512bf16"});
  isa.runs_here = runs_here;
  return isa;
}();

}  // namespace morello::isas
