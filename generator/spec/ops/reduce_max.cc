// reduce_max: the largest of a along one axis, which disappears; NaN if one is.

#include "spec/op.h"

namespace morello::ops {

extern const OpDef reduce_max = {.name = "reduce_max",
                                 .arity = 1,
                                 .usage = "reduce_max(a[...], axis=n)",
                                 .attributes = {"axis"},
                                 .combine = Combine::kMax};

}  // namespace morello::ops
