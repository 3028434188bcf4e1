// gelu_tanh: gelu as most models have it, a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 a^3)))
// (Hendrycks and Gimpel, arXiv 1606.08415).

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  constexpr double kRoot2ByPi = 0.79788456080286535588;
  const int a = args[0], square = terms(Fn::kMul, a, a);
  const int cubic =
      terms(Fn::kAdd, terms.number(1), terms(Fn::kMul, square, terms.number(0.044715)));
  const int inner = terms(Fn::kMul, terms(Fn::kMul, a, terms.number(kRoot2ByPi)), cubic);
  const int half = terms(Fn::kMul, a, terms.number(0.5));
  return terms(Fn::kMul, half, terms(Fn::kAdd, terms.number(1), terms(Fn::kTanh, inner)));
}

extern const OpDef gelu_tanh = {
    .name = "gelu_tanh", .arity = 1, .usage = "gelu_tanh(a[...])", .term = term};

}  // namespace morello::ops
