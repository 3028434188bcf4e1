// min: the smaller of two; NaN if one of them is.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kMin, args[0], args[1]);
}

extern const OpDef min = {.name = "min", .arity = 2, .usage = "min(a[...], b[...])", .term = term};

}  // namespace morello::ops
