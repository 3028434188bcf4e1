// ne: 0 where a equals b, else 1.

#include "spec/op.h"

namespace morello::ops {

static int term(Terms& terms, std::span<const int> args) {
  return terms(Fn::kSub, terms.number(1), terms(Fn::kEqual, args[0], args[1]));
}

extern const OpDef ne = {.name = "ne", .arity = 2, .usage = "ne(a[...], b[...])", .term = term};

}  // namespace morello::ops
