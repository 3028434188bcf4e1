// erf: the error function.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) { return terms(Fn::kErf, args[0]); }

extern const OpDef erf = {.name = "erf", .arity = 1, .usage = "erf(a[...])", .term = term};

}  // namespace morello::ops
