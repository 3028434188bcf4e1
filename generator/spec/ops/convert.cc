// convert: out[i...] = a[i...], in another type or another layout.
//
// Floats do not become integers: that would need a rounding mode, which the language cannot say
// yet.

#include "spec/build.h"

namespace morello::ops {

static bool supported(Dtype from, Dtype to) {
  if (is_float(from)) return is_float(to);
  return to == Dtype::i32 || to == Dtype::i16 || to == Dtype::f32;
}

static Result<Computation> build(const OpCall& call) {
  const Dtype from = call.args[0].dtype;
  if (!supported(from, call.result))
    return error(
        fmt::format("convert of {} to {} is not supported; allowed: f32, bf16, f16 to each "
                    "other; i32, i16, u8, i8 to i32, i16 or f32",
                    name(from), name(call.result)));
  return elementwise("convert", call, {BodyOp::kIn0});
}

extern const OpDef convert = {
    .name = "convert", .arity = 1, .usage = "convert(a[...])", .attributes = {}, .build = build};

}  // namespace morello::ops
