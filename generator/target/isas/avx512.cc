// x86-64-v4, but for what no row uses (CD): AVX-512 F, BW, DQ and VL, beside AVX2, FMA and F16C.
#include "target/isas/avx512.h"

namespace morello::isas {

static const std::string kPrelude = avx512_preludes({});

const Isa avx512 = avx512_with("avx512", {}, kPrelude);

}  // namespace morello::isas
