// softmax: exp(a) divided by its sum along one axis. The maximum is subtracted first, so that no
// exp overflows; the sum then is 1 at least. One division for each sum, and a product for each
// element.

#include "spec/op.h"

namespace morello::ops {

extern const OpDef softmax = {.name = "softmax",
                              .arity = 1,
                              .usage = "softmax(a[...], axis=n)",
                              .attributes = {"axis"},
                              .definition =
                                  "e * spread(1 / reduce_sum(e, axis=axis), axis=axis) where "
                                  "e = exp(a - spread(reduce_max(a, axis=axis), axis=axis))"};

}  // namespace morello::ops
