// add: out[i...] = a[i...] + b[i...]; also written a + b.

#include "spec/build.h"

namespace morello::ops {

static Result<Computation> build(const OpCall& call) {
  return binary_elementwise("add", call, {BodyOp::kIn0, BodyOp::kIn1, BodyOp::kAdd});
}

extern const OpDef add = {
    .name = "add", .arity = 2, .usage = "add(a[...], b[...])", .attributes = {}, .build = build};

}  // namespace morello::ops
