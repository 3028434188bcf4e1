// x86-64-v3: AVX2, FMA and F16C.
#include "target/isas/avx2.h"

namespace morello::isas {

static const std::string kPrelude = preludes(kAvx2Rows);

const Isa avx2 = avx2_with("avx2", {}, kPrelude);

}  // namespace morello::isas
