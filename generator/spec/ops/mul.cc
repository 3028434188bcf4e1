// mul: a * b; also written so.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kMul, args[0], args[1]);
}

extern const OpDef mul = {.name = "mul", .arity = 2, .usage = "mul(a[...], b[...])", .term = term};

}  // namespace morello::ops
