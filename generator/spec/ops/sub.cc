// sub: a - b; also written so.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kSub, args[0], args[1]);
}

extern const OpDef sub = {.name = "sub", .arity = 2, .usage = "sub(a[...], b[...])", .term = term};

}  // namespace morello::ops
