// tanh: the hyperbolic tangent.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) { return terms(Fn::kTanh, args[0]); }

extern const OpDef tanh = {.name = "tanh", .arity = 1, .usage = "tanh(a[...])", .term = term};

}  // namespace morello::ops
