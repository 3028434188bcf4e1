// broadcast: a, the same along one more axis, which is as long as the operands beside it say.

#include "spec/op.h"

namespace morello::ops {

extern const OpDef broadcast = {.name = "broadcast",
                                .arity = 1,
                                .usage = "broadcast(a[...], axis=n)",
                                .attributes = {"axis"},
                                .inserts_axis = true};

}  // namespace morello::ops
