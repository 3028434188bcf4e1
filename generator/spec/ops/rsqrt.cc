// rsqrt: 1 / sqrt(a).

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kDiv, terms.number(1), terms(Fn::kSqrt, args[0]));
}

extern const OpDef rsqrt = {.name = "rsqrt", .arity = 1, .usage = "rsqrt(a[...])", .term = term};

}  // namespace morello::ops
