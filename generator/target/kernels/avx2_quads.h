// Four consecutive bytes in every 32-bit lane of 256 bits: what products of bytes read.
#pragma once

#include "target/tables.h"

namespace morello::kernels {

// A row of quads, as they are in memory.
constexpr Access quads8(Access::Kind kind, std::string_view name, Dtype dtype,
                        std::string_view implements) {
  const bool vector = kind == Access::Kind::kVector;
  return {.name = name,
          .implements = implements,
          .kind = kind,
          .memory = dtype,
          .reg = dtype,
          .lanes = 8,
          .group = 4,
          .code = vector ? "{r0} = _mm256_loadu_si256(reinterpret_cast<const __m256i*>({p}));"
                         : "{r0} = broadcast_8bit_quad({p});",
          .uops = {.load = 1},
          .partial = vector ? "{r0} = first_bytes_32({p}, {n});" : "",
          .partial_uops = {.alu = 4, .load = 3}};
}

}  // namespace morello::kernels
