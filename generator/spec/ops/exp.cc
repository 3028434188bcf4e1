// exp: e to the power of a.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) { return terms(Fn::kExp, args[0]); }

extern const OpDef exp = {.name = "exp", .arity = 1, .usage = "exp(a[...])", .term = term};

}  // namespace morello::ops
