// reduce_sum: the sum of a along one axis, which disappears.

#include "spec/op.h"

namespace morello::ops {

extern const OpDef reduce_sum = {.name = "reduce_sum",
                                 .arity = 1,
                                 .usage = "reduce_sum(a[...], axis=n)",
                                 .attributes = {"axis"},
                                 .combine = Combine::kSum};

}  // namespace morello::ops
