// transpose: a with its last two axes in the other order. Nothing moves: it says how a is read.

#include "spec/op.h"

namespace morello::ops {

extern const OpDef transpose = {
    .name = "transpose", .arity = 1, .usage = "transpose(a[..., m, n])", .swaps_axes = true};

}  // namespace morello::ops
