// AVX-512 with products of 8-bit integers: Cascade Lake, Ice Lake, Zen 4 and later.
#include "target/isas/avx512.h"

namespace morello::isas {

static constexpr const Rows* kMore[] = {&kernels::avx512_vnni};
static const std::string kPrelude = avx512_preludes(kMore);

static bool runs_here() {
#if defined(__x86_64__)
  return avx512_runs_here() && __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

const Isa avx512_vnni = [] {
  Isa isa = avx512_with("avx512_vnni", kMore, kPrelude);
  isa.base = &avx512;
  isa.attribute = "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c";
  isa.cpu_features.emplace_back("avx512vnni");
  isa.runs_here = runs_here;
  return isa;
}();

}  // namespace morello::isas
