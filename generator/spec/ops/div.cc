// div: a / b, of floats; also written so.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kDiv, args[0], args[1]);
}

extern const OpDef div = {.name = "div", .arity = 2, .usage = "div(a[...], b[...])", .term = term};

}  // namespace morello::ops
