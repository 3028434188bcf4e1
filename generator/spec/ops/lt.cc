// lt: 1 where a < b, else 0.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kLess, args[0], args[1]);
}

extern const OpDef lt = {.name = "lt", .arity = 2, .usage = "lt(a[...], b[...])", .term = term};

}  // namespace morello::ops
