// spread: broadcast, for what a reduction along an axis has left: of a vector that is [1], one
// number for all elements, and stays so.

#include "spec/op.h"

namespace morello::ops {

extern const OpDef spread = {.name = "spread",
                             .arity = 1,
                             .usage = "spread(a[...], axis=n)",
                             .attributes = {"axis"},
                             .inserts_axis = true,
                             .keeps_number = true};

}  // namespace morello::ops
