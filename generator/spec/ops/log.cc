// log: the natural logarithm; NaN of what is less than 0.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) { return terms(Fn::kLog, args[0]); }

extern const OpDef log = {.name = "log", .arity = 1, .usage = "log(a[...])", .term = term};

}  // namespace morello::ops
