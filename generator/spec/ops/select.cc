// select: b where a is not 0, else c.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kSelect, args[0], args[1], args[2]);
}

extern const OpDef select = {
    .name = "select", .arity = 3, .usage = "select(a[...], b[...], c[...])", .term = term};

}  // namespace morello::ops
