// Four consecutive bytes in every 32-bit lane of 512 bits: what products of bytes read.
#pragma once

#include "target/tables.h"

namespace morello::kernels {

// A row of quads, as they are in memory.
constexpr Access quads16(Access::Kind kind, std::string_view name, Dtype dtype,
                         std::string_view implements) {
  const bool vector = kind == Access::Kind::kVector;
  return {
      .name = name,
      .implements = implements,
      .kind = kind,
      .memory = dtype,
      .reg = dtype,
      .lanes = 16,
      .group = 4,
      .code = vector ? "{r0} = _mm512_loadu_si512({p});" : "{r0} = broadcast_8bit_quad_x16({p});",
      .uops = {.load = 1},
      .partial = vector ? "{r0} = _mm512_maskz_loadu_epi8(first_64({count}), {p});" : "",
      .partial_uops = {.alu = 1, .load = 1}};
}

}  // namespace morello::kernels
