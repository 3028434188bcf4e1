// pad: the operand with `low` zeros before it and `high` behind it along one axis. It is stored so,
// by whatever makes the operand, or copied: what reads it needs no test for its edges.

#include "spec/op.h"

namespace morello::ops {

extern const OpDef pad = {.name = "pad",
                          .arity = 1,
                          .usage = "pad(a[...], axis=n, low=i, high=j)",
                          .attributes = {"axis", "low", "high"},
                          .pads = true};

}  // namespace morello::ops
