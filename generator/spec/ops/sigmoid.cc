// sigmoid: 1 / (1 + exp(-a)).

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  const int e = terms(Fn::kExp, terms(Fn::kNeg, args[0]));
  return terms(Fn::kDiv, terms.number(1), terms(Fn::kAdd, terms.number(1), e));
}

extern const OpDef sigmoid = {
    .name = "sigmoid", .arity = 1, .usage = "sigmoid(a[...])", .term = term};

}  // namespace morello::ops
