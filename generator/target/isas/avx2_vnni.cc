// AVX2 with products of 8-bit integers: Alder Lake, Zen 5 and later.
#include "morello/avx_vnni.h"
#include "target/isas/avx2.h"

namespace morello {
extern const char kAvxVnniText[];

namespace isas {

static constexpr const Rows* kMore[] = {&kernels::avx2_vnni};
static const std::string kPrelude = preludes(kAvx2Rows) + preludes(kMore);

static bool runs_here() { return avx2_runs_here() && has_avx_vnni(); }

const Isa avx2_vnni = [] {
  Isa isa = avx2_with("avx2_vnni", kMore, kPrelude);
  isa.base = &avx2;
  isa.attribute = "avxvnni,avx2,fma,f16c";
  isa.cpu_condition = "::morello::has_avx_vnni()";
  isa.cpu_text = kAvxVnniText;
  isa.runs_here = runs_here;
  return isa;
}();

}  // namespace isas
}  // namespace morello
