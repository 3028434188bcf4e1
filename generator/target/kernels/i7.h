// Products of u8 and i7 by vpmaddubsw, vpmaddwd and vpaddd, in vectors of any width.
#pragma once

#include "target/tables.h"

namespace morello::kernels {

// Sums of four products in each of so many lanes, which run along the reduction where `finish` adds
// them up.
constexpr Kernel i7_quads(int lanes, std::string_view name, std::string_view implements, Dtype a,
                          Dtype b, std::string_view code, std::string_view finish = {}) {
  return {.name = name,
          .implements = implements,
          .lanes = lanes,
          .group = 4,
          .lanes_reduce = !finish.empty(),
          .input = a,
          .input_b = b,
          .output = Dtype::i32,
          .code = code,
          .finish = finish,
          .uops = {.fma = 2, .alu = 1},
          .latency = 1,
          .temps = 2};
}

}  // namespace morello::kernels
