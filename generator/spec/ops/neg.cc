// neg: -a; also written so.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) { return terms(Fn::kNeg, args[0]); }

extern const OpDef neg = {.name = "neg", .arity = 1, .usage = "neg(a[...])", .term = term};

}  // namespace morello::ops
