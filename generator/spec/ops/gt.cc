// gt: 1 where a > b, else 0.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kLess, args[1], args[0]);
}

extern const OpDef gt = {.name = "gt", .arity = 2, .usage = "gt(a[...], b[...])", .term = term};

}  // namespace morello::ops
