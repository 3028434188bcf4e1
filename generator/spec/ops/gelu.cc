// gelu: a / 2 * (1 + erf(a / sqrt(2))), a times the normal distribution function of a
// (Hendrycks and Gimpel, arXiv 1606.08415).

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  constexpr double kInverseRoot2 = 0.70710678118654752440;
  const int e = terms(Fn::kErf, terms(Fn::kMul, args[0], terms.number(kInverseRoot2)));
  const int half = terms(Fn::kMul, args[0], terms.number(0.5));
  return terms(Fn::kMul, half, terms(Fn::kAdd, terms.number(1), e));
}

extern const OpDef gelu = {.name = "gelu", .arity = 1, .usage = "gelu(a[...])", .term = term};

}  // namespace morello::ops
