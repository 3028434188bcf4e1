// max: the larger of two; NaN if one of them is.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kMax, args[0], args[1]);
}

extern const OpDef max = {.name = "max", .arity = 2, .usage = "max(a[...], b[...])", .term = term};

}  // namespace morello::ops
