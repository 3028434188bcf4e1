// add: a + b; also written so.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kAdd, args[0], args[1]);
}

extern const OpDef add = {.name = "add", .arity = 2, .usage = "add(a[...], b[...])", .term = term};

}  // namespace morello::ops
