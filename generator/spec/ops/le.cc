// le: 1 where a <= b, else 0.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kLessEqual, args[0], args[1]);
}

extern const OpDef le = {.name = "le", .arity = 2, .usage = "le(a[...], b[...])", .term = term};

}  // namespace morello::ops
