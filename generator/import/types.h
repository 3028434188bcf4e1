// Types of tensors in both texts.
#pragma once

#include "import/module.h"

namespace morello::hlo {

// f32[8,512]{1,0}
bool read_hlo_type(Scanner& in, TensorType& out);
// tensor<8x512xf32>
bool read_stablehlo_type(Scanner& in, TensorType& out);

// The order of the axes in memory, from the one whose elements are adjacent outwards: `{1,0}`.
bool read_minor_to_major(Scanner& in, const Token& text, TensorType& out);

}  // namespace morello::hlo
