// relu: max(a, 0).

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kMax, args[0], terms.number(0));
}

extern const OpDef relu = {.name = "relu", .arity = 1, .usage = "relu(a[...])", .term = term};

}  // namespace morello::ops
