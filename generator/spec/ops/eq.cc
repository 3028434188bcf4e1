// eq: 1 where a equals b, else 0.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kEqual, args[0], args[1]);
}

extern const OpDef eq = {.name = "eq", .arity = 2, .usage = "eq(a[...], b[...])", .term = term};

}  // namespace morello::ops
