// reduce_min: the smallest of a along one axis, which disappears; NaN if one is.

#include "spec/op.h"

namespace morello::ops {

extern const OpDef reduce_min = {.name = "reduce_min",
                                 .arity = 1,
                                 .usage = "reduce_min(a[...], axis=n)",
                                 .attributes = {"axis"},
                                 .combine = Combine::kMin};

}  // namespace morello::ops
