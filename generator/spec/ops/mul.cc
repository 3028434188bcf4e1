// mul: out[i...] = a[i...] * b[i...]; also written a * b.

#include "spec/build.h"

namespace morello::ops {

static Result<Computation> build(const OpCall& call) {
  return binary_elementwise("mul", call, {BodyOp::kIn0, BodyOp::kIn1, BodyOp::kMul});
}

extern const OpDef mul = {
    .name = "mul", .arity = 2, .usage = "mul(a[...], b[...])", .attributes = {}, .build = build};

}  // namespace morello::ops
