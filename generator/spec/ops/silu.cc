// silu: a * sigmoid(a), written a / (1 + exp(-a)).

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  const int e = terms(Fn::kExp, terms(Fn::kNeg, args[0]));
  return terms(Fn::kDiv, args[0], terms(Fn::kAdd, terms.number(1), e));
}

extern const OpDef silu = {.name = "silu", .arity = 1, .usage = "silu(a[...])", .term = term};

}  // namespace morello::ops
