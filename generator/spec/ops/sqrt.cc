// sqrt: the square root.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) { return terms(Fn::kSqrt, args[0]); }

extern const OpDef sqrt = {.name = "sqrt", .arity = 1, .usage = "sqrt(a[...])", .term = term};

}  // namespace morello::ops
